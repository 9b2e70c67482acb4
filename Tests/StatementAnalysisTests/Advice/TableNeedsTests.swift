import SQLiteDriver
import Testing

@testable import StatementAnalysis

@Suite("Column uses of statements")
struct TableNeedsTests {
  @Test(arguments: [
    ("SELECT 0, t0.Z_PK FROM ZA t0 WHERE  t0.ZX = ?", ["ZX"], [String](), [String]()),
    ("SELECT 0 FROM ZA t0 WHERE ( t0.ZX = ? AND  t0.ZY > ?)", ["ZX"], ["ZY"], []),
    ("SELECT 0 FROM ZA t0 WHERE ( t0.ZX IS NOT NULL AND  t0.ZX = ?)", ["ZX"], [], []),
    ("SELECT 0 FROM ZA t0 WHERE  t0.ZX BETWEEN ? AND ?", [], ["ZX"], []),
    ("SELECT 0 FROM ZA t0 WHERE  t0.ZX IN (?,?) ORDER BY t0.ZD DESC, t0.Z_PK", ["ZX"], [], ["ZD-"]),
    ("SELECT 0 FROM ZA t0 ORDER BY t0.ZD DESC, t0.ZE LIMIT 5", [], [], ["ZD-", "ZE"]),
    ("SELECT 0 FROM ZA t0 ORDER BY t0.ZN COLLATE NSCollateLocaleSensitive", [], [], []),
    ("SELECT 0 FROM ZA t0 WHERE NSCoreDataStringSearch( t0.ZN, ?, 417, 1)", [], [], []),
    ("SELECT 0 FROM ZA t0 WHERE  t0.Z_PK = ? AND t0.Z_ENT = ?", [], [], []),
    ("SELECT COUNT(*) FROM ZA WHERE ZX = ?", ["ZX"], [], []),
    ("SELECT 0 FROM ZA t0 WHERE + t0.ZX > ? AND ? - t0.ZY = ?", [], [], []),
    ("SELECT 0 FROM ZA t0 WHERE (? =  t0.ZX AND ? <  t0.ZY)", ["ZX"], ["ZY"], []),
    ("SELECT 0 FROM ZA t0 WHERE ? =  t0.ZX + ?", [], [], []),
    // The columns that are set or returned find no row.
    ("UPDATE ZA SET ZX = ?, ZW = (ZV = ?) WHERE ZY > ? RETURNING Z_ENT, Z_PK", [], ["ZY"], []),
    ("UPDATE ZA SET ZX = ?", [], [], []), ("DELETE FROM ZA WHERE ZX = ?", ["ZX"], [], []),
    ("UPDATE ZA SET ZX = NULL WHERE ZX IN (SELECT * FROM _Z_intarray0)", ["ZX"], [], []),
  ])
  func readsEqualityRangesAndOrder(sql: String, equal: [String], ranges: [String], order: [String])
  {
    let needs = TableNeeds.all(of: sql).first
    #expect(needs?.equal == equal)
    #expect(needs?.ranges == ranges)
    #expect(needs?.order.map { $0.column + ($0.isDescending ? "-" : "") } == order)
  }

  @Test(arguments: [
    (" t0.ZX IS NOT NULL", ["ZX"], [String]()), (" t0.ZX IS NULL", [], ["ZX"]),
    (" t0.ZX IS NOT ?", [], []), ("( t0.ZX IS NOT NULL AND  t0.ZY = ?)", ["ZX"], ["ZY"]),
    (" t0.Z_PK IS NOT NULL", [], []),
  ])
  func readsColumnsThatAreNotNull(condition: String, notNull: [String], equal: [String]) {
    let needs = TableNeeds.all(of: "SELECT 0, t0.Z_PK FROM ZA t0 WHERE \(condition)").first
    #expect(needs?.notNull == notNull)
    #expect(needs?.equal == equal)
    #expect(needs?.isSearch == !(notNull + equal).isEmpty)
  }

  @Test(
    "The sides of an OR have needs of their own, also in a subquery",
    arguments: [
      ("( t0.ZX = ? OR  t0.ZY > ?)", [["ZX", "ZY"]]),
      ("t0.ZX = ? OR t0.ZY = ? OR t0.Z_PK = ?", [["ZX", "ZY"]]),
      ("(( t0.ZX = ? AND  t0.ZY = ?) OR  t0.ZW = ?)", [["ZX+ZY", "ZW"]]),
      (
        "(( t0.ZX = ? OR  t0.ZY = ?) AND ( t0.ZV = ? OR  t0.ZW = ?))",
        [["ZX", "ZY"], ["ZV", "ZW"]]
      ),
      (
        "(SELECT COUNT(t1.Z_PK) FROM ZB t1 WHERE ( t1.ZX = ? OR  t1.ZY = ?)) > ?", [["ZX", "ZY"]]
      ),
      ("( t0.ZX = ? AND  t0.ZY = ?)", []), ("( t0.ZX = ? OR  t0.ZY <> ?)", []),
    ] as [(String, [[String]])])
  func sidesOfAlternativesHaveNeeds(condition: String, columns: [[String]]) {
    let sides = TableNeeds.sides(
      ofAlternativesIn: "SELECT 0, t0.Z_PK FROM ZA t0 WHERE \(condition) ORDER BY t0.ZX")
    #expect(
      sides.map { $0.map { ($0.equal + $0.ranges).joined(separator: "+") } } == columns)
  }

  @Test func conditionsOfBatchRequestsAreInASubquery() {
    let needs = TableNeeds.all(
      of: "UPDATE ZA SET ZX = ?, Z_OPT = (Z_OPT + 1) WHERE Z_PK IN (SELECT t0.Z_PK FROM ZA t0 "
        + "WHERE  t0.ZY = ? ORDER BY t0.ZD LIMIT 5) RETURNING Z_ENT, Z_PK")
    #expect(needs.map(\.equal) == [[], ["ZY"]])
    #expect(needs.map { $0.order.map(\.column) } == [[], ["ZD"]])
    #expect(needs.map(\.columns) == [[], ["Z_PK", "ZY", "ZD"]])
    let sides = TableNeeds.sides(
      ofAlternativesIn: "UPDATE ZA SET ZX = (ZV = ? OR ZW = ?) WHERE (ZY = ? OR ZD = ?)")
    #expect(sides.map { $0.map(\.equal) } == [[["ZY"], ["ZD"]]])
  }

  /// A save finds a row by its primary key, which needs no index.
  @Test(arguments: [
    ("UPDATE ZA SET ZX = ? WHERE Z_PK IN (SELECT t0.Z_PK FROM ZA t0 WHERE  t0.ZY = ?)", true),
    ("DELETE FROM ZA WHERE Z_PK IN (SELECT t0.Z_PK FROM ZA t0 WHERE  t0.ZY < ?)", true),
    ("DELETE FROM ZA WHERE Z_PK = (SELECT t0.Z_PK FROM ZA t0 WHERE  t0.ZY = ?)", true),
    ("UPDATE ZA SET ZX = NULL WHERE ZX IN (SELECT * FROM _Z_intarray0)", true),
    ("WITH a AS (SELECT 1 AS n) DELETE FROM ZA WHERE ZX = 1", true),
    ("UPDATE ZA SET ZX = ?, Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?", false),
    ("DELETE FROM ZA WHERE Z_PK = ? AND Z_OPT = ?", false),
    ("UPDATE ZA SET ZX = ? WHERE Z_PK IN (SELECT t0.Z_PK FROM ZA t0)", false),
    ("DELETE FROM ZA WHERE Z_PK IN (SELECT * FROM _Z_intarray0)", false),
    ("UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?", false),
    ("UPDATE ZA SET ZX = ?", false), ("INSERT INTO ZA(Z_PK, ZX) VALUES(?, ?)", false),
    ("SELECT 0 FROM ZA t0 WHERE  t0.ZX = ?", false),
  ])
  func searchesForRowsToChangeHaveConditions(sql: String, searches: Bool) {
    #expect(AdvisedStatement(sql: sql, count: 1).searchesRowsToChange == searches)
  }

  /// The entries of an index are in the order of the primary key, in the direction of the scan.
  @Test(arguments: [
    ("t0.ZD, t0.ZE", ["ZD", "ZE"]), ("t0.ZD DESC, t0.ZE DESC", ["ZD", "ZE"]),
    ("t0.ZD DESC, t0.Z_PK", ["ZD-"]), ("t0.ZD DESC, t0.Z_PK DESC", ["ZD"]),
    ("t0.ZD, t0.Z_PK DESC", ["ZD-"]), ("t0.ZD, t0.ZE DESC, t0.Z_PK DESC", ["ZD-", "ZE"]),
  ])
  func indexHasTheDirectionThatTheLastKeyRequires(order: String, columns: [String]) throws {
    let needs = try #require(
      TableNeeds.all(of: "SELECT t0.Z_PK FROM ZA t0 ORDER BY \(order) LIMIT 5").first)
    let candidates = IndexCandidate.all(for: needs, sparse: []).map { candidate in
      candidate.parts.map { $0.column + ($0.isDescending ? "-" : "") }
    }
    #expect(candidates == [columns])
  }

  @Test func conditionsOfAJoinBelongToTheirTables() {
    let needs = TableNeeds.all(
      of: "SELECT 0 FROM ZA t0 JOIN ZB t1 ON t0.Z_PK = t1.ZOWNER WHERE  t1.ZX = ?")
    #expect(needs.map(\.table) == ["ZA", "ZB"])
    #expect(needs.map(\.equal) == [[], ["ZOWNER", "ZX"]])
  }

  @Test(arguments: [
    ("18", SQLiteValue.integer(18)), ("1.5", .real(1.5)), ("\"s\"", .text("s")),
    ("\"18\"", .text("18")), ("(null)", .null), ("<0aff>", .blob([10, 255])), ("\"\"", .text("")),
    ("<>", .blob([])),
  ])
  func boundValuesRoundTripThroughText(text: String, value: SQLiteValue) {
    #expect(BindText.value(text) == value)
    #expect(BindText.value(value.description) == value)
  }

  /// A log can contain the types of its values.
  @Test(arguments: [
    ("(int64)18", SQLiteValue.integer(18)), ("(int64)-1", .integer(-1)),
    ("(double)1.5", .real(1.5)), ("(timestamp)487951203.5", .real(487_951_203.5)),
    ("\"(int64)18\"", .text("(int64)18")), ("(a b)18", .text("(a b)18")), ("()", .text("()")),
    ("(blob)", .text("(blob)")),
  ])
  func boundValueCanFollowItsType(text: String, value: SQLiteValue) {
    #expect(BindText.value(text) == value)
  }
}
