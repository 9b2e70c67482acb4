import Testing

@testable import StatementAnalysis

@Suite("SQL outlines")
struct SQLOutlineTests {
  @Test(arguments: [
    ("SELECT 0 FROM ZMOOD t0 WHERE  t0.Z_PK = ?", ["ZMOOD t0"]),
    ("SELECT COUNT(*) FROM ZITEM", ["ZITEM ZITEM"]),
    (
      "SELECT 0 FROM ZA t0 JOIN ZB t1 ON t0.ZX = t1.Z_PK LEFT OUTER JOIN ZC AS t2 ON 1",
      ["ZA t0", "ZB t1", "ZC t2"]
    ),
    (
      "SELECT 0 FROM ZA t0 WHERE (SELECT COUNT(t1.Z_PK) FROM ZB t1 WHERE (t0.Z_PK = t1.ZX) ) > ?",
      ["ZA t0", "ZB t1"]
    ),
    ("UPDATE ZA SET ZB = ? WHERE Z_PK = ?", ["ZA ZA"]),
    ("DELETE FROM ZA; UPDATE ZB SET ZC = 1", ["ZA ZA", "ZB ZB"]),
    ("INSERT INTO ZA(Z_PK, ZB) VALUES(?, ?)", ["ZA ZA"]),
    ("SELECT 0 FROM ZA t0, ZB t1 WHERE t0.ZX = t1.Z_PK", ["ZA t0", "ZB t1"]),
  ])
  func findsTablesAndAliases(sql: String, tables: [String]) {
    #expect(SQLOutline(sql).tables.map { "\($0.table) \($0.alias)" } == tables)
  }

  @Test(arguments: [
    (" select 0 FROM ZMOOD t0", true), ("UPDATE ZA SET ZB = ?", false), ("COMMIT", false),
    ("WITH a AS (SELECT 1 AS n) SELECT t0.Z_PK FROM ZMOOD t0, a WHERE t0.ZB = a.n", true),
    ("with recursive a(n) AS (VALUES(1) UNION SELECT n + 1 FROM a) SELECT n FROM a", true),
    ("WITH a AS (SELECT 1 AS n) DELETE FROM ZMOOD WHERE Z_PK IN (SELECT n FROM a)", false),
    ("WITH a AS (SELECT replace(ZB, 'x', ''), ')' FROM ZA) SELECT * FROM a", true),
    ("WITH a AS (SELECT 1) REPLACE INTO ZA SELECT * FROM a", false),
    ("WITH a AS (INSERT INTO ZA VALUES(1) RETURNING Z_PK) SELECT * FROM a", false),
    ("WITH a AS (SELECT 1", false), ("", false),
  ])
  func statementsThatReadAreSelects(sql: String, reads: Bool) {
    #expect(AdvisedStatement(sql: sql, count: 1).reads == reads)
  }

  @Test(arguments: [
    ("t0.ZA<=?1 AND t0.\"Z B\"!= 'x, (''y'')'", ["t0.ZA", "<=", "?1", "AND", "t0.Z B", "!=", "'"]),
    ("\"main\".\"ZA\" = :name", ["main.ZA", "=", ":name"]),
    ("\"Z\"\"A\" IN (1,2.5)", ["Z\"A", "IN", "(", "1", ",", "2.5", ")"]),
    ("a || b * -1;", ["a", "||", "b", "*", "-", "1", ";"]),
    ("ZÉLAN = x'AB'", ["ZÉLAN", "=", "x", "'"]),
    ("t0.ZA = 'never closed", ["t0.ZA", "="]), ("\"never closed", ["never closed"]), ("", []),
  ])
  func findsWords(sql: String, words: [String]) {
    #expect(SQLOutline(sql).words == words)
  }

  @Test(
    arguments: [
      ("SELECT 0 FROM ZA t0 WHERE\n t0.ZB = ? ORDER BY t0.ZC LIMIT 5", ["t0.ZB", "=", "?"], true),
      (
        "SELECT 0 FROM ZA t0 WHERE t0.ZB = ' ORDER BY ' GROUP BY t0.ZC", ["t0.ZB", "=", "'"], false
      ),
      ("SELECT 0 FROM ZA t0 LIMIT 5", nil, true),
      (
        "SELECT t0.ZB, (SELECT COUNT(t1.Z_PK) FROM ZC t1 WHERE (t0.Z_PK = t1.ZA) ) FROM ZA t0", nil,
        false
      ),
      (
        "SELECT (SELECT MAX(t1.ZB) FROM ZC t1 WHERE (t0.Z_PK = t1.ZA) ) FROM ZA t0 WHERE t0.ZD = ?",
        ["t0.ZD", "=", "?"], false
      ),
      ("UPDATE ZA SET ZB = (SELECT COUNT(*) FROM ZC WHERE ZC.ZA = ZA.Z_PK)", nil, false),
      (
        "SELECT COUNT(*) FROM (SELECT DISTINCT t0.ZB FROM ZA t0 WHERE t0.ZC = ?)",
        ["t0.ZC", "=", "?"], false
      ),
      (
        "SELECT 0 FROM ZA WHERE ZB IN (SELECT ZC FROM ZD ORDER BY ZE) ORDER BY ZG",
        ["ZB", "IN", "(", "SELECT", "ZC", "FROM", "ZD", "ORDER", "BY", "ZE", ")"], false
      ),
    ] as [(String, [String]?, Bool)])
  func findsConditionAndLimit(sql: String, condition: [String]?, isLimited: Bool) {
    let outline = SQLOutline(sql)
    #expect(outline.condition.map(Array.init) == condition)
    #expect(outline.isLimited == isLimited)
  }
}
