import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import ScenarioLanguage

@Suite("Comparing logs")
struct LogComparisonTests {
  private static let list = "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZDATE FROM ZMOOD t0"
  private static let tags = "SELECT 0, t0.Z_PK FROM ZTAG t0"

  /// A log of a fetch and object faults that miss the row cache.
  private static func log(_ faults: Int, time: String = "0.0002s", extra: String = "") -> String {
    "cdprof: begin list\n" + SampleLogs.fetch(list, rows: 100, time: time)
      + (0..<faults).map { SampleLogs.fault("Country", $0) }.joined()
      + "cdprof: begin detail\n" + extra + "cdprof: end\n"
  }

  private func comparison(_ before: String, _ after: String) -> RunComparison {
    RunComparison(SampleLogs.report(before), SampleLogs.report(after))
  }

  @Test(
    arguments: [
      // SELECTs, rows, misses, and misses of the entity, for the whole log and for its section.
      ("more", 8), (nil, 10), ("misses", 4), ("findings", 2), ("none", 0), ("deletes", 0),
    ] as [(String?, Int)])
  func changedCountsFailTheComparison(words: String?, failures: Int) throws {
    let comparison = comparison(Self.log(3), Self.log(12))
    let criteria = try words.map { try ComparisonFailureCriteria($0) } ?? .standard
    let actual = criteria.failures(of: comparison)
    #expect(actual.count == failures, "\(actual)")
    #expect(criteria.failures(of: self.comparison(Self.log(3), Self.log(3))) == [])
    #expect(comparison.variants.map(\.name) == ["the whole log", "list", "detail"])
    #expect(comparison.variants[1].newFindings == ["fault-storm(Country)"])
    #expect(comparison.variants[2].differences.isEmpty)
  }

  @Test func missingSectionsFailTheComparison() throws {
    let comparison = comparison(Self.log(1), Self.log(1).replacing("begin detail", with: "end"))
    #expect(comparison.missing == ["detail"])
    #expect(
      ComparisonFailureCriteria.standard.failures(of: comparison) == ["detail: no longer exists"])
  }

  /// A statement is the same even if its lines are wrapped differently.
  @Test func statementsAreMatchedByTheirText() throws {
    let before = Self.log(2, extra: SampleLogs.fetch(Self.tags, rows: 5))
    let wrapped = Self.list.replacing(" FROM", with: "\n  FROM")
    let after = Self.log(5).replacing(Self.list, with: wrapped)
      .replacing("cdprof: end\n", with: SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZNEW t0", rows: 1))
    let comparison = comparison(before, after)
    let counts = comparison.statements.map { [$0.calls.before, $0.calls.after] }
    #expect(counts == [[1, 1], [2, 5], [1, 0], [0, 1]])
    let text = ComparisonText.lines(comparison)
    #expect(text.contains("statements: 4, 1 unchanged"))
    #expect(text.contains { $0.hasPrefix("  2 → 5 calls, 2 → 5 rows   SELECT 0, t0.Z_PK") })
    #expect(text.contains("  removed, 1 call, 5 → 0 rows   \(Self.tags)"))
    #expect(text.contains { $0.hasPrefix("  new, 1 call") })
    // Executions that move to another statement are a change, but not an increase.
    let failures = try ComparisonFailureCriteria("change").failures(of: comparison)
    #expect(failures.contains { $0.hasPrefix("2 → 5 calls of SELECT 0, t0.Z_PK, t0.Z_OPT FROM") })
    let json = try JSONSerialization.jsonObject(
      with: ComparisonJSON.data(comparison, failures: failures))
    let statements = (json as? [String: Any])?["statements"] as? [[String: Any]]
    #expect(statements?.map { $0["callsAfter"] as? Int } == [1, 5, 0, 1])
  }

  @Test func timesNeverFailTheComparison() throws {
    func log(_ times: [String]) -> String {
      times.map { SampleLogs.fetch(Self.list, rows: 1, time: $0) }.joined()
    }
    let quick = log(["0.0001s", "0.0002s", "0.0003s"])
    let slow = log(["0.0010s", "0.0020s", "0.0030s"])
    let between = log(["0.0003s", "0.0004s", "0.0005s"])
    let one = comparison(quick, slow)
    #expect(
      one.statements[0].time?.text
        == "0.2 ms (0.1 ms to 0.3 ms, 3 calls) → 2 ms (1 ms to 3 ms, 3 calls), "
        + "10.0 times slower")
    #expect(
      comparison(quick, between).statements[0].time?.text.hasSuffix(
        "inconclusive: the calls overlap") == true)
    #expect(
      comparison(log(["0.0001s"]), slow).statements[0].time?.text.hasSuffix(
        "inconclusive: fewer than 3 calls each") == true)
    #expect(one.variants[0].time.text.hasSuffix("inconclusive: a log contains only one run"))
    #expect(try ComparisonFailureCriteria("change").failures(of: one) == [])
    #expect(ComparisonText.lines(one).contains { $0.contains("10.0 times slower") })
  }

  /// A log rounds a short time to 0, which has no ratio.
  @Test func aTimeOfZeroHasNoFactor() {
    func log(_ time: String) -> String {
      (0..<3).map { _ in SampleLogs.fetch(Self.list, rows: 1, time: time) }.joined()
    }
    let faster = comparison(log("0.0010s"), log("0.0000s")).statements[0].time
    #expect(faster?.text.hasSuffix(", faster") == true)
    #expect(faster?.outcome == .faster(.infinity))
    let slower = comparison(log("0.0000s"), log("0.0010s")).statements[0].time
    #expect(slower?.text.hasSuffix(", slower") == true)
    #expect(slower?.outcome == .slower(.infinity))
  }

  /// Row-cache hits are compared only if both logs contain them.
  @Test func onlyCommonMetricsAreCompared() {
    let own = "cdprof: annotation: this log has row-cache hits and save times\n" + Self.log(1)
    let comparison = comparison(own, Self.log(1))
    #expect(!comparison.variants[0].counts.contains { $0.metric.metric == .hits })
    #expect(
      comparison.notes.first?.contains("contains those fulfilled from the row cache") == true)
    let both = self.comparison(own, own)
    #expect(both.variants[0].counts.contains { $0.metric.metric == .hits })
    #expect(both.notes.isEmpty)
  }

  /// Two files, and the number of statements if they can be compared or the error message.
  @Test(
    arguments: [
      ("CoreData: sql: COMMIT\n", "CoreData: sql: BEGIN\n", 2, nil),
      (
        "{\"eventMessage\":\"CoreData: sql: COMMIT\",\"threadID\":1}\n",
        "CoreData: sql: COMMIT\n", 1, nil
      ),
      ("{\"version\": 1}", "CoreData: sql: COMMIT\n", 0, "is a log"),
      ("CoreData: sql: COMMIT\n", "  \n{\"version\": 1}", 0, "is a log"),
      (
        "hello\n", "CoreData: sql: COMMIT\n", 0,
        "isn't a result or a log: it has 1 line, none from Core Data"
      ),
      ("CoreData: sql: COMMIT\n", "", 0, "isn't a result or a log"),
      ("{\"version\": 1}", "{\"version\": 1}", 0, "is missing"),
    ] as [(String, String, Int, String?)])
  func onlyFilesOfTheSameKindAreCompared(
    one: String, other: String, statements: Int, problem: String?
  ) throws {
    let folder = try TemporaryFolder()
    try Data(one.utf8).write(to: folder.file("one"))
    try Data(other.utf8).write(to: folder.file("other"))
    let paths = (folder.file("one").path, folder.file("other").path)
    guard let problem else {
      let comparison = try ComparedInput.comparison(paths.0, paths.1)
      #expect(comparison.variants.count == 1)
      #expect(comparison.statements.count == statements)
      return
    }
    let error = #expect(throws: (any Error).self) {
      try ComparedInput.comparison(paths.0, paths.1)
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains(problem))
  }
}
