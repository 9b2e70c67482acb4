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
  ])
  func readsEqualityRangesAndOrder(sql: String, equal: [String], ranges: [String], order: [String])
  {
    let needs = TableNeeds.all(of: sql).first
    #expect(needs?.equal == equal)
    #expect(needs?.ranges == ranges)
    #expect(needs?.order.map { $0.column + ($0.isDescending ? "-" : "") } == order)
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
