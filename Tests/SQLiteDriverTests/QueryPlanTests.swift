import SQLiteDriver
import Testing

struct QueryPlanTests {
  private static let schema = """
    CREATE TABLE ZMOOD(Z_PK INTEGER PRIMARY KEY, ZCOUNTRY INTEGER, ZDATE TIMESTAMP, ZNOTE VARCHAR);
    CREATE INDEX ZMOOD_ZCOUNTRY ON ZMOOD(ZCOUNTRY);
    CREATE INDEX ZMOOD_ZDATE ON ZMOOD(ZDATE, ZNOTE);
    CREATE TABLE ZCOUNTRY(Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR);
    """

  private func plan(_ sql: String) throws -> QueryPlan {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(QueryPlanTests.schema)
    return try connection.explainQueryPlan(sql)
  }

  /// A partial index is used for values that satisfy its WHERE clause.
  @Test(arguments: [([77], "ZCOUNTRY77"), ([78], nil), ([], nil), ([77, 1, 2], "ZCOUNTRY77")])
  func boundValuesDetermineUseOfPartialIndex(values: [Int64], index: String?) throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      "CREATE TABLE ZMOOD(Z_PK INTEGER PRIMARY KEY, ZCOUNTRY INTEGER, ZNOTE VARCHAR);"
        + "CREATE INDEX ZCOUNTRY77 ON ZMOOD(ZNOTE) WHERE ZCOUNTRY = 77")
    let plan = try connection.explainQueryPlan(
      "SELECT * FROM ZMOOD t0 WHERE t0.ZCOUNTRY = ?", binds: values.map(SQLiteValue.integer))
    #expect(plan.indexes == (index.map { [$0] } ?? []))
  }

  @Test(arguments: [
    ("INDEX Z_Mood_whereabouts ON ZMOOD(ZNOTE)", nil),
    ("INDEX Z_Mood_where ON ZMOOD(ZNOTE)", nil),
    ("INDEX [a where b] ON ZMOOD(ZNOTE)", nil),
    (
      "INDEX warm ON ZMOOD(ZNOTE) WHERE\n  ZDATE > 1  AND ZNOTE = 'a  b'",
      "ZDATE > 1 AND ZNOTE = 'a  b'"
    ),
    ("INDEX warm ON ZMOOD(ZNOTE) where(ZNOTE <> 'where ( ')", "(ZNOTE <> 'where ( ')"),
  ])
  func conditionOfAnIndexFollowsTheKeyword(_ index: String, condition: String?) throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      "CREATE TABLE ZMOOD(Z_PK INTEGER PRIMARY KEY, ZDATE TIMESTAMP, ZNOTE VARCHAR);"
        + "CREATE \(index)")
    let rows = try connection.values("SELECT name FROM sqlite_master WHERE type = 'index'")
    guard case .text(let name)? = rows.first?.first else {
      Issue.record("there's no index")
      return
    }
    #expect(connection.conditionOfIndex(name) == condition)
  }

  @Test func planIsPrintedAsInTheSQLiteShell() throws {
    let plan = try plan(
      """
      SELECT * FROM ZMOOD t0 WHERE t0.ZCOUNTRY IN (SELECT * FROM _Z_intarray3) OR t0.ZDATE = ?
      UNION SELECT * FROM ZMOOD t1 WHERE t1.ZNOTE = ? ORDER BY 1
      """)
    #expect(
      plan.lines == [
        "`--MERGE (UNION)",
        "   |--LEFT",
        "   |  |--MULTI-INDEX OR",
        "   |  |  |--INDEX 1",
        "   |  |  |  |--LIST SUBQUERY 1",
        "   |  |  |  |  `--SCAN _Z_intarray3 VIRTUAL TABLE INDEX 0:",
        "   |  |  |  `--SEARCH t0 USING INDEX ZMOOD_ZCOUNTRY (ZCOUNTRY=?)",
        "   |  |  `--INDEX 2",
        "   |  |     `--SEARCH t0 USING INDEX ZMOOD_ZDATE (ZDATE=?)",
        "   |  `--USE TEMP B-TREE FOR ORDER BY",
        "   `--RIGHT",
        "      `--SCAN t1",
      ])
    #expect(QueryPlan(lines: ["QUERY PLAN"] + plan.lines).lines == plan.lines)
  }

  @Test(arguments: [
    ("SELECT * FROM ZMOOD t0", ["t0"], [], [], false),
    ("SELECT ZNOTE FROM ZMOOD ORDER BY ZDATE", ["ZMOOD"], ["ZMOOD_ZDATE"], [], false),
    ("SELECT * FROM ZMOOD ORDER BY ZNOTE", ["ZMOOD"], [], ["ORDER BY"], false),
    ("SELECT * FROM ZMOOD t0 WHERE t0.Z_PK = ? LIMIT 1", [], [], [], true),
    ("SELECT * FROM ZMOOD WHERE Z_PK IN (SELECT * FROM _Z_intarray0)", [], [], [], true),
    ("SELECT * FROM ZMOOD WHERE ZCOUNTRY = ?", [], ["ZMOOD_ZCOUNTRY"], [], false),
    ("SELECT max(ZDATE) FROM ZMOOD GROUP BY ZNOTE, ZCOUNTRY", ["ZMOOD"], [], ["GROUP BY"], false),
    (
      "SELECT t0.* FROM ZMOOD t0 JOIN ZCOUNTRY t1 ON t1.Z_PK = t0.ZCOUNTRY WHERE t0.ZDATE > ?", [],
      ["ZMOOD_ZDATE"], [], true
    ),
    (
      "SELECT * FROM (SELECT ZCOUNTRY FROM ZMOOD WHERE ZDATE = ? LIMIT 3) s", [], ["ZMOOD_ZDATE"],
      [], false
    ),
    ("SELECT 1", [], [], [], false), ("VALUES (1), (2)", [], [], [], false),
    ("EXPLAIN QUERY PLAN DELETE FROM ZMOOD WHERE Z_PK = ?", [], [], [], true),
  ])
  func planReportsScansIndexesAndSorts(
    _ sql: String, scans: [String], indexes: [String], sorts: [String], byKey: Bool
  ) throws {
    let plan = try plan(sql)
    #expect(plan.fullScans.compactMap(\.table) == scans)
    #expect(plan.isFullScan == !scans.isEmpty)
    #expect(plan.indexes == indexes)
    #expect(plan.tempBTrees == sorts)
    #expect(plan.tempBTrees.isEmpty == sorts.isEmpty)
    #expect(plan.searchesPrimaryKey == byKey)
    #expect(!plan.usesAutomaticIndex)
  }

  @Test func automaticIndexIsReported() throws {
    let plan = try plan(
      "SELECT * FROM ZCOUNTRY a JOIN ZCOUNTRY b ON a.ZNAME = b.ZNAME")
    let search = try #require(plan.nodes.first { $0.operation == .search })
    #expect(plan.usesAutomaticIndex)
    #expect(search.isCovering && search.index == nil && search.constraint == "ZNAME=?")
    #expect(plan.fullScans.count == 1)
  }

  @Test func plansOfOlderLibrariesAreRead() {
    let plan = QueryPlan(lines: [
      "0|0|0|SEARCH TABLE ZSTOP AS t0 USING INDEX ZSTOP_X (ZA>? AND ZA<?) (~6944 rows)",
      "0|1|1|SCAN TABLE ZROUTE AS t1", "0|0|0|USE TEMP B-TREE FOR ORDER BY", "something else",
    ])
    #expect(plan.roots.count == 3)
    #expect(plan.roots.map(\.table) == ["t0", "t1", nil])
    #expect(plan.indexes == ["ZSTOP_X"])
    #expect(plan.roots.first?.constraint == "ZA>? AND ZA<?")
    #expect(plan.fullScans.map(\.table) == ["t1"])
    #expect(!plan.tempBTrees.isEmpty)
  }

  @Test func invalidStatementHasNoPlan() throws {
    let error = #expect(throws: SQLiteError.self) { try plan("SELECT NOFUNC(1) FROM ZMOOD") }
    #expect(error?.message == "no such function: NOFUNC")
  }
}
