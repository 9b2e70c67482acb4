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
      sql: "SELECT t0.Z_PK FROM ZCITY t0 WHERE  t0.ZNAME LIKE ?",
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

  /// An index can't serve a function of a column, so the message doesn't suggest one.
  @Test(arguments: [
    ("NSCoreDataStringSearch( t0.ZNAME, ?, 417, 0)", true),
    ("( NSCoreDataLike( t1.ZNAME, ?, 1) AND NSCoreDataStringSearch( t0.ZNOTE, ?, 417, 0))", true),
    ("( NSCoreDataLike( t0.ZNAME, ?, 1) AND  t0.ZAGE > ?)", false), (" t0.ZAGE > ?", false),
  ])
  func functionCallsAreNotIndexableComparisons(condition: String, hasOnlyFunctions: Bool) {
    let sql =
      "SELECT 0, t0.Z_PK FROM ZCITY t0 JOIN ZPERSON t1 ON t0.ZMAYOR = t1.Z_PK WHERE \(condition) "
      + "ORDER BY t0.ZNAME"
    let sentence = PlanAssessment(sql: sql, lines: ["SCAN t0"], count: 1).text
    #expect(sentence.contains("so no index can help") == hasOnlyFunctions, "\(sentence)")
    #expect(sentence.contains("ndex on the compared columns would help") != hasOnlyFunctions)
  }
}
