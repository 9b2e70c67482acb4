import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults
@testable import WorkbenchText

@Suite("Comparing results")
struct RunComparisonTests {
  private let before = FaultStormScenario(moods: 200, countries: 60).result()

  /// A value of `--fail-on`, and the number of failures if the prefetch is lost and if it's added.
  ///
  /// Adding it is an improvement, except that more faults are hits.
  @Test(
    arguments: [
      (nil, 4, 0), ("more", 3, 0), ("misses", 1, 0), ("hits", 0, 1), ("findings", 1, 0),
      ("change", 4, 4), ("none", 0, 0), ("selects, findings", 2, 0),
    ] as [(String?, Int, Int)])
  func changedCountsFailTheComparison(words: String?, failures: Int, reversed: Int) throws {
    let after = FaultStormScenario(moods: 200, countries: 60).result(missing: true)
    let comparison = RunComparison(before, after)
    let criteria = try words.map { try ComparisonFailureCriteria($0) } ?? .standard
    let actual = criteria.failures(of: comparison)
    #expect(actual.count == failures, "\(actual)")
    #expect(actual.allSatisfy { $0.hasPrefix("prefetched: ") })
    #expect(criteria.failures(of: RunComparison(before, before)) == [])
    #expect(criteria.failures(of: RunComparison(after, before)).count == reversed)
  }

  /// A log can have as many sections, and comparing each with each takes minutes.
  @Test func thousandsOfVariantsAreMatchedByName() {
    var before = before
    before.variants = (0..<20_000).map { VariantResult(name: "the variant with the number \($0)") }
    var after = before
    after.variants[0].name = "new"
    let begin = threadTime()
    let comparison = RunComparison(before, after)
    #expect(threadTime() - begin < 30)
    #expect(comparison.variants.count == 19_999)
    #expect(comparison.missing == ["the variant with the number 0"] && comparison.added == ["new"])
  }

  /// A result contains the counts of migrations only if a store was migrated.
  @Test("A migration in only one of the results is compared with none")
  func migrationInOnlyOneResultIsCompared() {
    var after = before
    let counts: [Metric: Int] = [.migrations: 1, .migratedrows: 200, .copiedtables: 0]
    after.variants[0].metrics.merge(counts) { $1 }
    let name = before.variants[0].name
    let failures = ComparisonFailureCriteria.standard.failures(of: RunComparison(before, after))
    #expect(failures == ["\(name): migrations 0 → 1", "\(name): migratedrows 0 → 200"])
    let reversed = RunComparison(after, before)
    #expect(reversed.variants[0].differences.map(\.difference) == ["- 1", "- 200"])
    #expect(ComparisonFailureCriteria.standard.failures(of: reversed) == [])
    var baseline = Baseline()
    baseline.apply(Baseline.Change(before))
    let increases = BaselineComparison(after, with: baseline).increases
    #expect(increases.map(\.numbers) == ["baseline 0, actual 1", "baseline 0, actual 200"])
  }

  @Test func missingVariantsFailTheComparison() throws {
    var after = before
    after.variants.removeLast()
    after.variants[0].name = "storm"
    let comparison = RunComparison(before, after)
    #expect(comparison.missing == ["fault storm", "batched"])
    #expect(comparison.added == ["storm"])
    #expect(
      ComparisonFailureCriteria.standard.failures(of: comparison) == [
        "fault storm: no longer exists", "batched: no longer exists",
      ])
  }

  /// A result has findings only of its first scale.
  @Test("The same scale is compared, whether it's the first one of a result or a further one")
  func furtherScalesAreCompared() {
    var larger = FaultStormScenario(moods: 2_000).result()
    larger.scale = 10
    let joined = RunResult(joining: [before, larger])
    #expect(larger.variants.contains { !$0.findings.isEmpty })
    for (one, other) in [(joined, larger), (larger, joined)] {
      let comparison = RunComparison(one, other)
      #expect(comparison.variants.count == larger.variants.count)
      #expect(comparison.variants.allSatisfy { $0.newFindings + $0.goneFindings == [] })
      #expect(comparison.notes == [])
      let failures = ComparisonFailureCriteria.standard.failures(of: comparison)
      #expect(failures.allSatisfy { $0.hasSuffix("no longer exists") }, "\(failures)")
    }
  }

  @Test(arguments: ["slects", "", "time", "more,", "more,none", "selects,none"])
  func invalidFailOnWordsAreErrors(words: String) {
    let error = #expect(throws: ComparisonFailureCriteria.InvalidWord.self) {
      try ComparisonFailureCriteria(words)
    }
    #expect(
      error?.word
        == words.split(separator: ",", omittingEmptySubsequences: false).last.map(String.init))
  }

  /// Times in milliseconds before and after, and the expected assessment.
  @Test(
    arguments: [
      (
        [10, 11, 12], [20, 21, 22],
        "11 ms (10 ms to 12 ms, 3 runs) → 21 ms (20 ms to 22 ms, 3 runs), 1.9 times slower"
      ),
      (
        [20, 21, 22], [10, 11, 12],
        "21 ms (20 ms to 22 ms, 3 runs) → 11 ms (10 ms to 12 ms, 3 runs), 1.9 times faster"
      ),
      (
        [10, 11, 30], [12, 31, 32],
        "11 ms (10 ms to 30 ms, 3 runs) → 31 ms (12 ms to 32 ms, 3 runs), "
          + "inconclusive: the runs overlap"
      ),
      (
        [10], [99],
        "10 ms → 99 ms, inconclusive: fewer than 3 runs each; run with --repeat 5"
      ),
      (
        [], [],
        "3 ms → 3 ms, inconclusive: fewer than 3 runs each; run with --repeat 5"
      ),
    ] as [([UInt64], [UInt64], String)])
  func timesAreShownWithTheirRange(before: [UInt64], after: [UInt64], text: String) {
    func result(_ times: [UInt64]) -> RunResult {
      var result = self.before
      result.variants[0].take(repeats: times.map { $0 * 1_000_000 })
      return result
    }
    let comparison = RunComparison(result(before), result(after))
    let time = comparison.variants[0].time
    #expect(time.text == text)
    #expect(ComparisonFailureCriteria.standard.failures(of: comparison) == [])
  }

  @Test(
    "Times of scenarios that ran at the same time as others aren't compared",
    arguments: [nil, 1, 2] as [Int?])
  func timesOfConcurrentRunsAreInconclusive(jobs: Int?) {
    var (alone, concurrent) = (before, before)
    alone.variants[0].take(repeats: [10_000_000, 11_000_000, 12_000_000])
    concurrent.variants[0].take(repeats: [20_000_000, 21_000_000, 22_000_000])
    concurrent.environment.jobs = jobs
    let isCompared = jobs != 2
    let reason = "inconclusive: other scenarios ran concurrently; run with --repeat 5 --jobs 1"
    for (one, other, words) in [(alone, concurrent, "slower"), (concurrent, alone, "faster")] {
      let comparison = RunComparison(one, other)
      let text = comparison.variants[0].time.text
      #expect(text.hasSuffix(isCompared ? "1.9 times \(words)" : reason), "\(text)")
      #expect(comparison.notes == [])
    }
  }

  @Test func enginesAndNewEntitiesAreReported() {
    var after = before
    after.engine = EngineDescription(name: "PostgreSQL", version: "17")
    after.data.append(EntityCount(name: "Region", count: 3))
    let comparison = RunComparison(before, after)
    #expect(comparison.notes.first == "engine: SQLite and \(after.engine?.text ?? "")")
    #expect(comparison.notes.last == "Region: 0 rows and 3")
    #expect(comparison.variants[0].time.text.hasSuffix("inconclusive: different engines"))
    #expect(RunComparison(after, after).notes == [])
  }

  @Test func otherDifferencesAreReported() throws {
    var after = before
    after.seed = 8
    after.data[2].count = 7
    after.environment.machine = "another"
    let comparison = RunComparison(before, after)
    #expect(
      comparison.notes == [
        "seed 7 and 8", "Mood: 200 rows and 7", "machine: Linux x86-64, 2 cores and another",
      ])
    #expect(comparison.variants[0].time.text.hasSuffix("inconclusive: different machines"))
    let text = ComparisonText.lines(comparison)
    #expect(text.contains("plain: the same counts"))
    let json = try ComparisonJSON.data(comparison, failures: ["a"])
    let object = try JSONSerialization.jsonObject(with: json) as? [String: Any]
    #expect(object?["holds"] as? Bool == false)
    #expect((object?["variants"] as? [[String: Any]])?.count == 6)
  }
}
