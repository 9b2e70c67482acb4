import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Baselines")
struct BaselineTests {
  private static func result(missing: Bool = false) -> RunResult {
    FaultStormScenario(moods: 200).result(missing: missing)
  }

  private static func baseline(of results: RunResult...) -> Baseline {
    results.reduce(into: Baseline()) { $0.apply(Baseline.Change($1)) }
  }

  private static func lines(_ baseline: Baseline) -> [String] {
    String(decoding: BaselineFile.data(baseline), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  @Test func fileIsReadAsItWasWritten() throws {
    var larger = Self.result()
    larger.scale = 10
    larger.environment.build = "release"
    larger.variants[0].take(repeats: [3, 1, 2])
    let baseline = Self.baseline(of: RunResult(joining: [Self.result(), larger]), larger)
    #expect(try BaselineFile.read(BaselineFile.data(baseline), path: "b.json") == baseline)
  }

  @Test func runsThatEndAtTheSameTimeKeepTheirCounts() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("b.json")
    let results = (0..<16).map { number -> RunResult in
      var result = Self.result()
      result.scenario = "\(number)"
      return result
    }
    DispatchQueue.concurrentPerform(iterations: results.count) { number in
      try? BaselineFile.update(url) { $0.apply(Baseline.Change(results[number])) }
    }
    let baseline = try BaselineFile.read(at: url.path)
    #expect(Set(baseline.runs.keys.map(\.scenario)) == Set(results.map(\.scenario)))
  }

  /// A count that changes is one changed line, and an update without a change is none.
  @Test func fileChangesOnlyWhereACountDoes() {
    let before = Self.result()
    var after = before
    after.variants[0].metrics[.selects] = 7
    after.variants[0].nanoseconds += 1
    let old = Self.lines(Self.baseline(of: before))
    let new = Self.lines(Self.baseline(of: after))
    let changed = zip(old, new).filter { $0 != $1 }.map(\.1)
    #expect(old.count == new.count)
    #expect(
      changed.map { $0.trimmingCharacters(in: [","]) } == [
        "{\"scenario\":\"Fault storm\",\"scale\":1,\"variant\":\"\(after.variants[0].name)\","
          + "\"metric\":\"selects\",\"count\":7}"
      ])
  }

  @Test func onlyIncreasedCostsFail() {
    let good = Self.result()
    let bad = Self.result(missing: true)
    let worse = BaselineComparison(bad, with: Self.baseline(of: good))
    #expect(
      worse.increases.map { "\($0.variant) \($0.count.metric)" }.allSatisfy {
        $0.hasPrefix("prefetched ")
      })
    #expect(worse.increases.map(\.count.metric.metric) == [.selects, .rows, .misses])
    #expect(worse.lines("b.json")[0].hasPrefix("b.json: "))
    let better = BaselineComparison(good, with: Self.baseline(of: bad))
    #expect(better.increases.isEmpty && better.lines("b.json").contains("  prefetched"))
    let same = BaselineComparison(good, with: Self.baseline(of: good))
    #expect(same.increases.isEmpty && same.lines("b.json").count == 1, "\(same.lines("b.json"))")
  }

  /// New scenarios, scales, and variants, and those that no longer exist, don't fail.
  @Test func unknownScenariosAndVariantsAreNew() {
    let result = Self.result(missing: true)
    let new = BaselineComparison(result, with: Baseline())
    #expect(new.increases.isEmpty && new.lines("b.json") == ["b.json: the scenario is new"])
    var renamed = Self.result()
    renamed.variants[0].name = "renamed"
    let baseline = Self.baseline(of: renamed)
    let comparison = BaselineComparison(Self.result(), with: baseline)
    let name = Self.result().variants[0].name
    #expect(comparison.increases.isEmpty)
    #expect(
      comparison.lines("b.json").suffix(2) == ["  \(name): new", "  renamed: no longer exists"])
    let partial = BaselineComparison(Self.result(), with: baseline, isPartial: true)
    #expect(partial.lines("b.json").last == "  \(name): new")
    var larger = Self.result()
    larger.scale = 10
    let scaled = BaselineComparison(
      RunResult(joining: [Self.result(), larger]), with: Self.baseline(of: Self.result()))
    #expect(scaled.lines("b.json").contains("  \(name) at scale 10: new"))
  }

  /// A file contains only the name of a scope, `rows(main)` or `rows(Page)`.
  @Test func countsOfContextsAndStepsAreCompared() throws {
    let scopes = [MetricScope.context("main"), .step("Page"), .entity("mood")]
    var result = Self.result()
    for scope in scopes { result.variants[0].scopedMetrics[ScopedMetric(.rows, scope)] = 5 }
    let baseline = try BaselineFile.read(
      BaselineFile.data(Self.baseline(of: result)), path: "b.json")
    #expect(BaselineComparison(result, with: baseline).lines("b.json").count == 1)
    for scope in scopes { result.variants[0].scopedMetrics[ScopedMetric(.rows, scope)] = 9 }
    let increases = BaselineComparison(result, with: baseline).increases
    #expect(Set(increases.map(\.count.metric)) == Set(scopes.map { ScopedMetric(.rows, $0) }))
  }

  /// Other rows explain other counts, and the same scale is compared with the same scale.
  @Test func scalesAreComparedSeparately() {
    var larger = FaultStormScenario(moods: 2_000).result()
    larger.scale = 10
    let joined = RunResult(joining: [Self.result(), larger])
    let baseline = Self.baseline(of: joined)
    #expect(BaselineComparison(larger, with: baseline).lines("b.json").count == 1)
    larger.variants[0].metrics[.selects]? += 1
    let changed = BaselineComparison(
      RunResult(joining: [Self.result(), larger]), with: baseline)
    #expect(changed.increases.map(\.label) == ["\(larger.variants[0].name) at scale 10"])
    #expect(changed.increases.map(\.variant) == [larger.variants[0].name])
    let rows = BaselineComparison(
      FaultStormScenario(moods: 300).result(), with: Self.baseline(of: Self.result()))
    #expect(rows.lines("b.json").contains("  differs: Mood: 200 rows and 300"))
  }

  /// The same work costs other counts in PostgreSQL; a file without engines is SQLite's.
  @Test func enginesAreComparedSeparately() throws {
    var server = Self.result(missing: true)
    server.engine = EngineDescription(name: "PostgreSQL", version: "17.2")
    let plain = Self.baseline(of: Self.result())
    #expect(!Self.lines(plain).contains { $0.contains("engine") })
    let new = BaselineComparison(server, with: plain)
    #expect(new.increases.isEmpty)
    #expect(new.lines("b.json") == ["b.json: the scenario is new on PostgreSQL"])
    let both = Self.baseline(of: Self.result(), server)
    #expect(try BaselineFile.read(BaselineFile.data(both), path: "b.json") == both)
    #expect(BaselineComparison(Self.result(), with: both).lines("b.json").count == 1)
    server.engine?.version = "18.0"
    server.variants[0].metrics[.selects]? += 1
    let increases = BaselineComparison(server, with: both).increases
    #expect(increases.map(\.count.metric) == [ScopedMetric(.selects)])
    let only = Self.baseline(of: server)
    #expect(
      BaselineComparison(Self.result(), with: only).lines("b.json")
        == ["b.json: the scenario is new on SQLite"])
  }

  @Test func partialUpdatesKeepOtherVariantsAndScenarios() {
    var other = Self.result()
    other.scenario = "Other"
    var baseline = Self.baseline(of: Self.result(), other)
    var one = Self.result()
    one.variants = [one.variants[1]]
    one.variants[0].metrics[.selects] = 9
    var updated = baseline
    updated.apply(Baseline.Change(one, isPartial: true))
    #expect(zip(Self.lines(baseline), Self.lines(updated)).count { $0 != $1 } == 1)
    baseline.apply(Baseline.Change(one))
    #expect(Self.lines(baseline).count < Self.lines(updated).count)
    #expect(Self.lines(baseline).contains { $0.contains("\"scenario\":\"Other\"") })
  }

  /// A file that's missing, or whose scenario has another name, has no counts any more; neither has
  /// a scenario of an earlier version's baseline that isn't in its folder.
  @Test func scenariosThatNoLongerExistAreRemoved() throws {
    var baseline = Baseline()
    for (name, file) in [("A", "a.yml"), ("B", "b.yml"), ("C", "c.yml"), ("Old", nil)] {
      var result = Self.result()
      result.scenario = name
      baseline.apply(Baseline.Change(result, at: file))
    }
    #expect(try BaselineFile.read(BaselineFile.data(baseline), path: "b.json") == baseline)
    func missing(_ names: [String: String], isWhole: Bool = false) -> [String] {
      baseline.missingScenarios(besides: names, isWhole: isWhole) { $0 != "c.yml" }
    }
    #expect(missing(["a.yml": "A"]) == ["C"], "b.yml exists, but wasn't read")
    #expect(missing(["a.yml": "A", "b.yml": "New"]) == ["B", "C"])
    #expect(missing(["a.yml": "A", "moved.yml": "C"]).isEmpty)
    #expect(missing(["a.yml": "A"], isWhole: true) == ["C", "Old"])
    var moved = Self.result()
    moved.scenario = "C"
    baseline.apply(Baseline.Change(moved, at: "a.yml"))
    #expect(missing([:]).isEmpty)
    baseline.removeScenarios(["A", "Old"])
    #expect(baseline.runs.keys.map(\.scenario).sorted() == ["B", "C"])
  }

  /// Times are noted if both were repeated in release builds on the same machine, and never fail.
  @Test(
    arguments: [
      ("release", "here", 3, true), ("debug", "here", 3, false), ("release", "there", 3, false),
      ("release", "here", 2, false),
    ])
  func timesAreComparedOnTheSameMachine(build: String, machine: String, runs: Int, isNoted: Bool) {
    var before = Self.result()
    (before.environment.build, before.environment.machine) = (build, machine)
    before.variants[0].take(repeats: Array(repeating: 10_000_000, count: runs))
    var after = Self.result()
    (after.environment.build, after.environment.machine) = ("release", "here")
    after.variants[0].take(repeats: [30_000_000, 30_000_000, 30_000_000])
    let comparison = BaselineComparison(after, with: Self.baseline(of: before))
    let time = comparison.lines("b.json").filter { $0.hasSuffix("3.0 times slower") }
    #expect(time.count == (isNoted ? 1 : 0), "\(comparison.lines("b.json"))")
    #expect(comparison.increases.isEmpty)
    var updated = Self.baseline(of: before)
    updated.apply(Baseline.Change(after))
    let machines = Self.lines(updated).filter { $0.contains("\"machine\":") }
    #expect(machines.count == (machine == "there" ? 2 : 1), "another machine's time is kept")
  }

  @Test("Times of scenarios that ran at the same time as others are neither compared nor stored")
  func timesOfConcurrentRunsAreNotAccepted() {
    var alone = Self.result()
    alone.environment.build = "release"
    alone.variants[0].take(repeats: [10_000_000, 10_000_000, 10_000_000])
    var concurrent = alone
    concurrent.environment.jobs = 2
    concurrent.variants[0].take(repeats: [30_000_000, 30_000_000, 30_000_000])
    let baseline = Self.baseline(of: alone)
    let lines = BaselineComparison(concurrent, with: baseline).lines("b.json")
    let reason = "inconclusive: other scenarios ran concurrently; run with --repeat 5 --jobs 1"
    #expect(lines.count { $0.hasSuffix(reason) } == 1, "\(lines)")
    var updated = baseline
    updated.apply(Baseline.Change(concurrent))
    #expect(updated == baseline, "the time that was measured alone is kept")
    #expect(Self.lines(Self.baseline(of: concurrent)).allSatisfy { !$0.contains("\"median\":") })
    #expect(Self.lines(baseline).contains { $0.contains("\"median\":") })
  }

  @Test(
    arguments: [
      ("\"baseline\":1", "\"baseline\":2", "version 2 of a baseline isn't supported", "2,"),
      ("\"baseline\":1", "\"version\":1", "isn't a baseline", "{"),
      ("\"metric\":\"selects\"", "\"metric\":\"slects\"", "unknown metric `slects`", "\"slects"),
      ("\"metric\":\"selects\"", "\"metric\":\"time\"", "unknown metric `time`", "\"time"),
      ("\"metric\":\"selects\"", "\"metric\":\"rows\"", "listed twice", "{"),
      ("\"count\":200}", "\"count\":2e30}", "exceeds the limit", "2e30"),
      ("\"count\":200}", "\"count\":\"a\"}", "expected an integer", "\"a\""),
      ("\"counts\":[", "\"counts\":[\n<<<<<<< HEAD", "invalid JSON", "<<<<<<<"),
      ("\"runs\":[\n", "\"runs\":[],\"x\":[\n", "isn't in `runs`", "{"),
    ])
  func invalidFilesHaveAPosition(old: String, new: String, message: String, start: String) throws {
    var text = String(
      decoding: BaselineFile.data(Self.baseline(of: Self.result())), as: UTF8.self)
    let range = try #require(text.firstRange(of: old), "\(old) is not in the file")
    text.replaceSubrange(range, with: new)
    let error = try #require(throws: ScenarioDiagnostics.self) {
      _ = try BaselineFile.read(Data(text.utf8), path: "b.json")
    }
    let problem = error.diagnostics[0]
    #expect(problem.problem.message.contains(message), "\(error)")
    #expect(problem.nextStep.contains("--update-baseline"))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[problem.line - 1].dropFirst(problem.column - 1).hasPrefix(start), "\(error)")
  }
}
