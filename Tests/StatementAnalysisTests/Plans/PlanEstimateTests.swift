import SQLiteDriver
import Testing

@testable import StatementAnalysis

@Suite("Estimates from sqlite_stat1")
struct PlanEstimateTests {
  /// 1,000 moods in 50 countries, with `ANALYZE` unless `analyzed` is `false`.
  private func connection(analyzed: Bool = true) throws -> Connection {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      """
      CREATE TABLE ZCOUNTRY(Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR);
      CREATE TABLE ZMOOD(Z_PK INTEGER PRIMARY KEY, ZCOUNTRY INTEGER, ZDATE TIMESTAMP,
        ZKIND INTEGER, ZRANK INTEGER);
      CREATE INDEX ZMOOD_ZCOUNTRY_INDEX ON ZMOOD(ZCOUNTRY);
      CREATE INDEX byDate ON ZMOOD(ZDATE);
      CREATE INDEX byMonth ON ZMOOD(ZDATE % 12);
      CREATE INDEX byKindAndRank ON ZMOOD(ZKIND, ZRANK);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO ZMOOD SELECT i, i % 50 + 1, i, i % 4, i / 4 FROM n;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
      INSERT INTO ZCOUNTRY SELECT i, 'c' || i FROM n
      """)
    if analyzed { try connection.execute("ANALYZE") }
    return connection
  }

  private func rows(_ sql: String, on connection: Connection) throws -> Int? {
    let plan = try connection.explainQueryPlan(sql)
    return PlanEstimate(plan, sql: sql, statistics: TableStatistics(connection))?.rows
  }

  @Test(arguments: [
    ("SELECT * FROM ZMOOD t0", 1_000), ("SELECT * FROM ZMOOD t0 WHERE t0.Z_PK = ?", 1),
    ("SELECT * FROM ZMOOD t0 WHERE t0.ZCOUNTRY = ?", 20),
    ("SELECT * FROM ZMOOD t0 WHERE t0.ZDATE > ?", 250),
    ("SELECT * FROM ZMOOD t0 ORDER BY t0.ZDATE", 1_000),
    // `<expr>=?` isn't a range.
    ("SELECT * FROM ZMOOD t0 WHERE t0.ZDATE % 12 = ?", 84),
    // A skip-scan of four kinds, one row each.
    ("SELECT * FROM ZMOOD t0 WHERE t0.ZRANK = ?", 4),
    ("SELECT * FROM ZMOOD t0 JOIN ZCOUNTRY t1 ON t0.ZCOUNTRY = t1.Z_PK WHERE t0.ZDATE = ?", 2),
    ("SELECT * FROM ZMOOD t0 WHERE t0.ZCOUNTRY IN (SELECT * FROM _Z_intarray0)", 20),
    // Each of 50 countries searches 20 moods by one index and one by the primary key.
    (
      """
      SELECT * FROM ZCOUNTRY t0 CROSS JOIN ZMOOD t1 \
      WHERE t1.ZCOUNTRY = t0.Z_PK OR t1.Z_PK = t0.Z_PK
      """, 1_100
    ),
    (
      """
      SELECT * FROM ZCOUNTRY t0 WHERE \
      (SELECT COUNT(t1.Z_PK) FROM ZMOOD t1 WHERE (t0.Z_PK = t1.ZCOUNTRY) ) > ?
      """, 1_050
    ),
    // A scan of 50 countries builds an automatic index, which is searched once for each of them.
    ("SELECT * FROM ZCOUNTRY t0 JOIN ZCOUNTRY t1 ON t0.ZNAME = t1.ZNAME", 150),
    (
      """
      SELECT * FROM ZCOUNTRY t0 WHERE \
      (SELECT COUNT(t1.Z_PK) FROM ZCOUNTRY t1 WHERE (t0.ZNAME = t1.ZNAME) ) > ?
      """, 150
    ),
  ])
  func visitsAreProductsOfNestedLoops(sql: String, expected: Int) throws {
    #expect(try rows(sql, on: connection()) == expected)
  }

  @Test func noEstimateWithoutStatistics() throws {
    #expect(try rows("SELECT * FROM ZMOOD t0", on: connection(analyzed: false)) == nil)
    #expect(try rows("SELECT 1", on: connection()) == nil)
  }

  /// The statistics are a table of the file, which can contain anything.
  @Test(
    arguments: [
      ("-9223372036854775808", "-9223372036854775808", nil),
      ("9223372036854775807", "9223372036854775807", 1_000_000_000_000_000),
      ("9223372036854775807", "0", 1_000_000_000_000_000),
    ] as [(String, String, Int?)])
  func impossibleStatisticsAreLimited(moods: String, countries: String, expected: Int?) throws {
    let connection = try connection()
    try connection.execute(
      """
      DROP INDEX ZMOOD_ZCOUNTRY_INDEX; DROP INDEX byDate; DROP INDEX byMonth;
      DROP INDEX byKindAndRank; DELETE FROM sqlite_stat1;
      INSERT INTO sqlite_stat1 VALUES('ZMOOD', NULL, '\(moods)'),
        ('ZCOUNTRY', NULL, '\(countries)')
      """)
    let tables = (0..<20).map { "ZMOOD t\($0)" }.joined(separator: " CROSS JOIN ")
    let sql = "SELECT * FROM \(tables) CROSS JOIN ZCOUNTRY t20"
    #expect(try rows(sql, on: connection) == expected)
  }

  @Test func textNamesTheSourceOfTheEstimate() throws {
    let connection = try connection()
    let sql = "SELECT * FROM ZMOOD t0"
    let estimate = PlanEstimate(
      try connection.explainQueryPlan(sql), sql: sql, statistics: TableStatistics(connection))
    #expect(
      estimate?.description == "~1,000 rows visited per run (estimated from sqlite_stat1)")
  }
}
