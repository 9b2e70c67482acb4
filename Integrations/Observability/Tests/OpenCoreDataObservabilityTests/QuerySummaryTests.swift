import Testing

@testable import OpenCoreDataObservability

@Suite("Summaries of statements")
struct QuerySummaryTests {
  @Test(arguments: [
    ("SELECT t0.ZNAME FROM ZMOOD t0 WHERE t0.ZTEXT = ?", "SELECT ZMOOD"),
    (
      "SELECT t0.Z_PK FROM ZMOOD t0 LEFT OUTER JOIN ZCOUNTRY t1 ON t0.ZCOUNTRY = t1.Z_PK",
      "SELECT ZMOOD ZCOUNTRY"
    ),
    (
      "SELECT 0 FROM ZMOOD t0 WHERE t0.Z_PK IN (SELECT t1.Z_PK FROM ZCOUNTRY t1 WHERE 1)",
      "SELECT ZMOOD SELECT ZCOUNTRY"
    ),
    (
      "SELECT 0 FROM ZMOOD t0 WHERE t0.Z_PK IN (SELECT * FROM _Z_intarray0) AND 1 IN (SELECT 1)",
      "SELECT ZMOOD SELECT"
    ),
    ("SELECT COUNT(*) FROM (SELECT 1 FROM ZMOOD)", "SELECT SELECT ZMOOD"),
    ("INSERT INTO ZMOOD(Z_PK, Z_ENT) VALUES(?, ?)", "INSERT ZMOOD"),
    ("INSERT OR REPLACE INTO Z_1TAGS VALUES(?)", "INSERT Z_1TAGS"),
    ("UPDATE OR FAIL ZMOOD SET ZTEXT = ? WHERE Z_PK = ?", "UPDATE ZMOOD"),
    ("DELETE FROM ZMOOD WHERE Z_PK = ? AND Z_OPT = ?", "DELETE ZMOOD"),
    ("SELECT \"a FROM b\", 'FROM c ''d' FROM \"Z \"\"MOOD\"", "SELECT Z \"MOOD"),
    ("SELECT t0.name FROM \"public\".\"Mood\" t0 WHERE t0.z_pk = ANY($1)", "SELECT public.Mood"),
    (
      "INSERT INTO \"a.\"\"b\".\"Mood\" (z_pk) SELECT * FROM unnest($1) RETURNING z_pk",
      "INSERT a.\"b.Mood"
    ),
    (
      "UPDATE s.\"Mood\" d SET n = v.n FROM unnest($1, $2) AS v(k, n) WHERE d.n IS DISTINCT FROM v.n",
      "UPDATE s.Mood"
    ),
    ("DELETE FROM \"s\".\"Mood\" t USING unnest($1) AS v(pk) WHERE t.z_pk = v.pk", "DELETE s.Mood"),
    ("SELECT x FROM json_each(?) JOIN ZMOOD t0 ON 1", "SELECT ZMOOD"),
    ("SELECT 1 FROM \"a\".'b'", "SELECT a"),
    ("SELECT 'unfinished FROM x", "SELECT"), ("", ""), ("PRAGMA x", "PRAGMA"),
  ])
  func summary(sql: String, summary: String) {
    #expect(QuerySummary.text(sql) == summary)
  }

  @Test func aSummaryHasAtMost255Characters() {
    let joins = (0..<100).map { " JOIN ZTABLE\($0) ON 1" }.joined()
    let summary = QuerySummary.text("SELECT 1 FROM ZMOOD\(joins)")
    #expect(summary.hasPrefix("SELECT ZMOOD ZTABLE0 ") && summary.count <= 255)
    #expect(summary.count > 240)
  }
}
