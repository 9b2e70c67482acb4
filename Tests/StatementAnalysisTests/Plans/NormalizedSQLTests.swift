import Testing

@testable import StatementAnalysis

@Suite("Normalized SQL")
struct NormalizedSQLTests {
  @Test(
    "Statements that differ only in the length of a list, or in white space, have the same text",
    arguments: [
      (
        "SELECT 0 FROM ZMOOD t0 WHERE  t0.Z_PK IN (?)",
        "SELECT 0 FROM ZMOOD t0 WHERE t0.Z_PK IN (?)"
      ),
      (
        "SELECT 0 FROM ZMOOD t0 WHERE t0.Z_PK IN  (?,?, ?)  LIMIT 2",
        "SELECT 0 FROM ZMOOD t0 WHERE t0.Z_PK IN (?) LIMIT 2"
      ),
      ("x IN(1, -2.5, 'a, (b)', NULL, ?3) AND y in (?,?)", "x IN (?) AND y in (?)"),
      ("(t0.A NOT IN (?,?) AND\n\tt0.B = ?)\u{0}", "(t0.A NOT IN (?) AND t0.B = ?)"),
    ])
  func listsAreNormalized(sql: String, normalized: String) {
    #expect(NormalizedSQL.text(sql) == normalized)
    #expect(NormalizedSQL.text(normalized) == normalized)
  }

  @Test(
    "Other text stays",
    arguments: [
      "", "<private>", "INSERT INTO ZMOOD(Z_PK, ZDATE) VALUES(?, ?)",
      "SELECT 'IN  (?,  ?)' FROM \"A  B\"",
      "SELECT t0.Z_PK FROM ZMOOD t0 WHERE t0.Z_PK IN (SELECT * FROM _Z_intarray0)",
      "x IN (t0.A, ?)", "x IN (?, ?", "x IN ()", "x IN (?, 'open", "x IN",
    ])
  func otherTextStays(sql: String) {
    #expect(NormalizedSQL.text(sql) == sql)
  }

  @Test(
    "Statements that differ only in literals have the same pattern",
    arguments: [
      ("FROM ZMOOD t0 LIMIT 20 OFFSET 40", "FROM ZMOOD t0 LIMIT ? OFFSET ?"),
      ("t0.ZNAME = 'a' AND t0.ZAGE > 1.5", "t0.ZNAME = ? AND t0.ZAGE > ?"),
      ("t0.Z_PK IN (1, 2) AND t0.ZDATE IS NULL", "t0.Z_PK IN (?) AND t0.ZDATE IS NULL"),
      ("t1.ZA = ? FROM Z_1TAGS t1", "t1.ZA = ? FROM Z_1TAGS t1"),
    ])
  func patternsOmitLiterals(sql: String, pattern: String) {
    #expect(NormalizedSQL.pattern(sql) == pattern)
  }
}
