import SQLiteDriver
import Testing

@testable import StatementAnalysis

@Suite("Plan assessments")
struct PlanNoteTests {
  @Test(arguments: [
    ("", ["`--SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"], [String]()),
    ("SELECT a FROM t0", ["`--SCAN t0"], ["scan"]),
    ("SELECT a FROM t0", ["`--SCAN t0 USING COVERING INDEX i"], ["scan"]),
    (
      "SELECT a FROM t0", ["|--SCAN t0", "`--USE TEMP B-TREE FOR ORDER BY"],
      ["scan", "temp b-tree"]
    ),
    (
      "", ["|--SCAN t0", "`--SEARCH t1 USING AUTOMATIC COVERING INDEX (a=?)"],
      ["scan", "automatic index"]
    ),
    (
      "", ["|--SEARCH t0 USING INDEX i (a=?)", "`--CORRELATED SCALAR SUBQUERY 1", "   `--SCAN t1"],
      ["correlated subquery", "scan"]
    ),
    (
      "",
      [
        "`--MULTI-INDEX OR", "   |--INDEX 1", "   |  `--SEARCH t0 USING INDEX i (a=?)",
        "   `--INDEX 2", "      `--SEARCH t0 USING INDEX j (b=?)",
      ], ["multi-index or"]
    ),
    (
      "SELECT 0 FROM ZMESSAGE t0 WHERE ( t0.ZNONCE = ? AND  t0.Z_ENT = ?)",
      ["`--SEARCH t0 USING INDEX ZMESSAGE_Z_ENT_INDEX (Z_ENT=?)"], ["entity index"]
    ),
    (
      "SELECT 0, t0.Z_PK FROM ZREGION t0 WHERE  t0.Z_ENT = ? ORDER BY t0.ZNAME",
      ["`--SEARCH t0 USING INDEX ZREGION_Z_ENT_INDEX (Z_ENT=?)"], []
    ),
    ("", ["`--SCAN _Z_intarray0 VIRTUAL TABLE INDEX 0:"], []),
  ])
  func notesAreNamed(sql: String, lines: [String], names: [String]) {
    #expect(PlanAssessment(sql: sql, lines: lines, count: 1).notes.map(\.name) == names)
  }

  @Test func coveringIndexScanIsStillAFullScan() {
    let assessment = PlanAssessment(
      sql: "SELECT t0.Z_PK FROM ZCITY t0 WHERE  t0.ZNAME GLOB ?",
      lines: ["`--SCAN t0 USING COVERING INDEX i"], count: 1)
    #expect(assessment.rating == .filteringScan)
    #expect(
      assessment.text
        == "Full index scan to find some of the rows. An index on the compared columns would help. "
        + "t0: a full index scan, even though it uses COVERING INDEX i.")
    #expect(assessment.phrase == "the plan reads a whole index to find some of the rows")
  }

  @Test func scanOfATableAndAnIndexIsAFullTableScan() {
    let assessment = PlanAssessment(
      sql: "SELECT t0.Z_PK FROM ZCITY t0, ZLAND t1 WHERE  t0.ZNAME = t1.ZNAME",
      lines: ["|--SCAN t0 USING COVERING INDEX i", "`--SCAN t1"], count: 1)
    #expect(assessment.rating == .filteringScan)
    #expect(assessment.text.hasPrefix("Full table scan to find some of the rows."))
  }

  @Test func entityIndexDoesNotCountForOtherConditions() {
    let assessment = PlanAssessment(
      sql: "SELECT 0 FROM ZMESSAGE t0 WHERE ( t0.Z_ENT = ? AND  t0.ZNONCE = ?)",
      lines: ["`--SEARCH t0 USING INDEX ZMESSAGE_Z_ENT_INDEX (Z_ENT=?)"], count: 1)
    #expect(assessment.rating == .entityIndex)
    #expect(assessment.text.contains("checks the condition on each"))
  }

  /// A batch request selects primary keys, which isn't a condition.
  @Test func batchRequestOfAnEntityHasNoOtherConditions() {
    let plan = [
      "|--SEARCH ZBOOK USING INTEGER PRIMARY KEY (rowid=?)", "`--LIST SUBQUERY 1",
      "   `--SEARCH t0 USING COVERING INDEX ZBOOK_Z_ENT_INDEX (Z_ENT=?)",
    ]
    let subquery = "SELECT t0.Z_PK FROM ZBOOK t0 WHERE "
    let all = PlanAssessment(
      sql: "UPDATE ZBOOK SET ZNAME = ? WHERE Z_PK IN (\(subquery) t0.Z_ENT = ?)", lines: plan,
      count: 1)
    #expect(all.text == "Updates the rows found by searching ZBOOK_Z_ENT_INDEX.")
    let some = PlanAssessment(
      sql: "UPDATE ZBOOK SET ZNAME = ? WHERE Z_PK IN (\(subquery)( t0.Z_ENT = ? AND  t0.ZAGE = ?))",
      lines: plan, count: 1)
    #expect(some.rating == .entityIndex)
  }

  /// An index can't serve `<>`, `NOT`, or a calculation either, also not in a subentity.
  @Test(arguments: [
    (" t0.ZNAME <> ?", false), ("( t0.ZAGE + ?) > ?", false), (" t0.ZAGE NOT IN (?, ?)", false),
    (" t0.ZAGE >  t0.ZSIZE", false),
    ("CASE WHEN  t0.ZAGE = ? THEN ? ELSE ? END = ?", false), (" t0.ZKING =  t1.Z_PK", true),
    ("(CASE WHEN  t0.ZAGE = ? THEN ? ELSE ? END = ? AND  t0.ZSIZE = ?)", true),
    ("(NOT ( t0.ZAGE > ?) AND  t0.Z_ENT = ?)", false), ("( t0.ZNAME <> ? AND  t0.ZAGE > ?)", true),
    ("( t0.ZAGE) > ?", true), (" t0.ZAGE IS NOT NULL", true), ("? = t0.ZAGE", true),
    ("(SELECT COUNT(*) FROM ZLAND t1 WHERE t1.ZKING = t0.Z_PK) > ?", true),
    ("(SELECT COUNT(*) FROM ZLAND t1 WHERE t1.ZKING <> t0.ZAGE) > ?", false),
    ("NOT EXISTS (SELECT 0 FROM ZLAND t1 WHERE t1.ZKING = t0.Z_PK)", true),
    (" t0.ZAGE IN (SELECT t1.ZAGE FROM ZLAND t1)", true),
    ("+ t0.ZAGE > ?", false), ("? = + t0.ZAGE", false), ("? + t0.ZAGE > ?", false),
    // `LIKE` ignores case, unlike the order of a fetch index.
    (" t0.ZNAME LIKE ?", false), (" t0.ZNAME GLOB ?", true),
    // Indexes of two tables can't be combined.
    ("( t0.ZAGE = ? OR  t1.ZNAME = ?)", false),
    ("(( t0.ZAGE = ? OR  t1.ZNAME = ?) AND  t0.ZSIZE = ?)", true),
    ("(( t0.ZAGE = ? AND  t1.ZNAME = ?) OR  t1.ZNAME = ?)", true),
    (" t0.Z_PK IS NULL", false), ("( t0.Z_PK = ? OR  t0.ZAGE > ?)", true),
  ])
  func unsearchableComparisonsAreNotIndexable(condition: String, isIndexable: Bool) {
    let sql = "SELECT 0, t0.Z_PK FROM ZCITY t0 WHERE \(condition)"
    let scan = PlanAssessment(sql: sql, lines: ["SCAN t0"], count: 1).text
    #expect(scan.contains("ndex on the compared columns would help") == isIndexable, "\(scan)")
    #expect(scan.contains("Its comparisons can't use an index.") != isIndexable, "\(scan)")
    let entity = PlanAssessment(
      sql: "SELECT 0 FROM ZCITY t0 WHERE (NSCoreDataLength( t0.ZNAME) > ? AND  t0.Z_ENT = ?)",
      lines: ["`--SEARCH t0 USING INDEX ZCITY_Z_ENT_INDEX (Z_ENT=?)"], count: 1)
    #expect(entity.rating == .entityIndex)
    #expect(
      entity.text.hasSuffix("The condition calls a function, so no other index can find the rows."))
  }

  @Test(
    "An index isn't advised if the store has it, or if no column is compared",
    arguments: [
      (" t0.ZCONTINENT IS NULL", "SQLite doesn't search byContinent for the compared columns."),
      (" t0.ZCONTINENT IS NOT NULL", "An index on the compared columns would help."),
      (" t0.ZKING IS NOT NULL", "SQLite doesn't search byKing for the compared columns."),
      (" t0.ZKING = ?", "An index on the compared columns would help."),
      ("( t0.ZCONTINENT = ? AND  t0.ZAGE = ?)", "An index on the compared columns would help."),
      ("( t0.ZCONTINENT = ? OR  t0.ZAGE = ?)", "An index on the compared columns would help."),
      ("( t0.ZCONTINENT = ? OR  t0.ZAGE <> ?)", "Its comparisons can't use an index."),
      ("0 = 1", "The condition compares no column, so no index can help."),
    ])
  func onlyMissingIndexesAreAdvised(condition: String, advice: String) {
    let present = [("byContinent", "ZCONTINENT", false), ("byKing", "ZKING", true)].map {
      FileIndex(
        name: $0, table: "ZREGION", parts: [(column: $1, isDescending: false)], isUnique: false,
        isPartial: $2)
    }
    let text = PlanAssessment(
      sql: "SELECT 0, t0.Z_PK FROM ZREGION t0 WHERE \(condition)", lines: ["SCAN t0"], count: 1,
      present: present
    ).text
    #expect(text == "Full table scan to find some of the rows. \(advice)")
  }

  /// The subquery already searches an index, and no index can find the rows of the outer query.
  @Test func searchedSubqueriesNeedNoIndex() {
    let text = PlanAssessment(
      sql: "SELECT t0.Z_PK FROM ZREGION t0 WHERE ((SELECT COUNT(t1.Z_PK) FROM ZMOOD t1 "
        + "WHERE (t0.Z_PK = t1.ZCOUNTRY) ) > ? AND  t0.Z_ENT = ?)",
      lines: [
        "|--SEARCH t0 USING INDEX ZREGION_Z_ENT_INDEX (Z_ENT=?)", "`--CORRELATED SCALAR SUBQUERY 1",
        "   `--SEARCH t1 USING COVERING INDEX ZMOOD_ZCOUNTRY_INDEX (ZCOUNTRY=?)",
      ], count: 1
    ).text
    #expect(text.contains("Its comparisons can't use another index."), "\(text)")
  }

  @Test func readerOfPlansKnowsTheIndexesOfTheStore() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      """
      CREATE TABLE ZCITY(Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR, ZNOTE VARCHAR);
      CREATE INDEX byName ON ZCITY(ZNAME)
      """)
    let reader = PlanReader(connection)
    let texts = ["ZNAME", "ZNOTE"].map { column in
      let sql = "SELECT t0.ZNOTE FROM ZCITY t0 WHERE  t0.\(column) GLOB ?"
      return PlanAssessment(
        sql: sql, lines: reader.lines(of: sql), count: 1, present: reader.present
      ).text
    }
    #expect(texts[0].contains("SQLite doesn't search byName"), "\(texts[0])")
    #expect(texts[1].contains("An index on the compared columns would help."), "\(texts[1])")
  }

  /// A fetch index compares strings by their bytes.
  @Test(arguments: [
    ("t0.ZNAME", true), ("t0.ZNAME DESC, t0.Z_PK", true), ("t0.Z_PK DESC", true),
    ("t0.ZNAME COLLATE NSCollateLocaleSensitive", false), ("NSCoreDataLength( t0.ZNAME)", false),
  ])
  func onlyOrdersOfIndexesAreAdvised(order: String, isAdvised: Bool) {
    let text = PlanAssessment(
      sql: "SELECT 0, t0.Z_PK FROM ZCITY t0 ORDER BY \(order)",
      lines: ["SCAN t0", "USE TEMP B-TREE FOR ORDER BY"], count: 1
    ).text
    #expect(text.contains("An index on the sort keys would") == isAdvised, "\(text)")
  }

  @Test func sortKeysOfJoinedTablesAndOtherTempBTreesAreNotAdvised() {
    let joined = PlanAssessment(
      sql: "SELECT 0, t0.Z_PK FROM ZCITY t0 LEFT OUTER JOIN ZPERSON t1 ON t0.ZMAYOR = t1.Z_PK "
        + "ORDER BY t1.ZNAME",
      lines: [
        "|--SCAN t0", "|--SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
        "`--USE TEMP B-TREE FOR ORDER BY",
      ], count: 1)
    #expect(joined.text.contains("sorts them. No fetch index has this order."))
    for purpose in ["DISTINCT", "GROUP BY"] {
      let text = PlanAssessment(
        sql: "SELECT DISTINCT t0.ZNAME FROM ZCITY t0",
        lines: ["|--SCAN t0", "`--USE TEMP B-TREE FOR \(purpose)"], count: 1
      ).text
      #expect(!text.contains("sort") && text.hasSuffix("\(purpose) uses a temp B-tree."), "\(text)")
    }
  }

  /// An index can't serve a function of a column, so the message doesn't suggest one.
  @Test(arguments: [
    ("NSCoreDataStringSearch( t0.ZNAME, ?, 417, 0)", true),
    ("( NSCoreDataLike( t1.ZNAME, ?, 1) AND NSCoreDataStringSearch( t0.ZNOTE, ?, 417, 0))", true),
    ("( NSCoreDataLike( t0.ZNAME, ?, 1) AND  t0.ZAGE > ?)", false), (" t0.ZAGE > ?", false),
    ("( NSCoreDataStringSearch( t0.ZNAME, ?, 417, 1) AND  t0.Z_ENT = ?)", true),
    ("NSCoreDataStringSearch(NSCoreDataUppercase( t0.ZNAME), ?, 8, 0)", true),
    ("(NSCoreDataLength( t0.ZNAME) > ? AND  t0.Z_ENT = ?)", true), ("abs( t0.ZAGE) = ?", true),
    (" t0.ZAGE = abs( t0.ZSIZE)", true),
    ("( NSCoreDataLike( t0.ZNAME, ?, 1) OR  t0.ZAGE > ?)", true),
    ("(NOT ( NSCoreDataLike( t0.ZNAME, ?, 1)) AND  t0.ZAGE BETWEEN ? AND ?)", false),
    ("( t0.ZAGE > ? OR ( t0.ZNAME IN (?, ?) AND  t0.Z_ENT = ?))", false), (" t0.Z_ENT = ?", false),
  ])
  func functionCallsAreNotIndexableComparisons(condition: String, hasOnlyFunctions: Bool) {
    let sql =
      "SELECT 0, t0.Z_PK FROM ZCITY t0 JOIN ZPERSON t1 ON t0.ZMAYOR = t1.Z_PK WHERE \(condition) "
      + "ORDER BY t0.ZNAME"
    let sentence = PlanAssessment(sql: sql, lines: ["SCAN t0"], count: 1).text
    #expect(sentence.contains("so no index can find the rows") == hasOnlyFunctions, "\(sentence)")
    #expect(sentence.contains("ndex on the compared columns would help") != hasOnlyFunctions)
  }
}
