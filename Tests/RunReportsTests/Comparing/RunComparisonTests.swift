import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import WorkbenchText

@Suite("Comparing results")
struct RunComparisonTests {
  private let before = FaultStormScenario(moods: 200, countries: 60).result()

  /// A value of `--fail-on`, and the number of failures if the prefetch is lost.
  @Test(
    arguments: [
      (nil, 4), ("more", 3), ("misses", 1), ("hits", 0), ("findings", 1), ("change", 4),
      ("none", 0),
      ("selects, findings", 2),
    ] as [(String?, Int)])
  func changedCountsFailTheComparison(words: String?, failures: Int) throws {
    let after = FaultStormScenario(moods: 200, countries: 60).result(missing: true)
    let comparison = RunComparison(before, after)
    let gate = try words.map { try ComparisonGate($0) } ?? .standard
    let actual = gate.failures(of: comparison)
    #expect(actual.count == failures, "\(actual)")
    #expect(actual.allSatisfy { $0.hasPrefix("prefetched: ") })
    #expect(gate.failures(of: RunComparison(before, before)) == [])
    // The reverse comparison is an improvement, except that more faults are hits.
    if words != "change" {
      #expect(gate.failures(of: RunComparison(after, before)).count == (words == "hits" ? 1 : 0))
    }
  }

  @Test func missingVariantsFailTheComparison() throws {
    var after = before
    after.variants.removeLast()
    after.variants[0].name = "storm"
    let comparison = RunComparison(before, after)
    #expect(comparison.missing == ["fault storm", "batched"])
    #expect(comparison.added == ["storm"])
    #expect(ComparisonGate.standard.failures(of: comparison).count == 2)
  }

  @Test(arguments: ["slects", "", "time", "more,"])
  func unknownFailOnWordsAreErrors(words: String) {
    #expect(throws: ComparisonGate.UnknownWord.self) { try ComparisonGate(words) }
  }

  /// Times in milliseconds before and after, and the expected assessment.
  @Test(
    arguments: [
      ([10, 11, 12], [20, 21, 22], "10 ms", "1.9 times slower"),
      ([20, 21, 22], [10, 11, 12], "", "1.9 times faster"),
      ([10, 11, 30], [12, 31, 32], "", "inconclusive: the runs overlap"),
      ([10], [99], "", "inconclusive: fewer than 3 runs"),
      ([], [], "", "inconclusive: fewer"),
    ] as [([UInt64], [UInt64], String, String)])
  func timesAreShownWithTheirRange(
    before: [UInt64], after: [UInt64], start: String, assessment: String
  ) {
    func result(_ times: [UInt64]) -> RunResult {
      var result = self.before
      result.variants[0].take(repeats: times.map { $0 * 1_000_000 })
      return result
    }
    let comparison = RunComparison(result(before), result(after))
    let time = comparison.variants[0].time
    #expect(time.text.contains(", \(assessment)"), "\(time.text)")
    if !start.isEmpty { #expect(time.text.hasPrefix("11 ms (10 ms to 12 ms, 3 runs) → 21 ms")) }
    #expect(ComparisonGate.standard.failures(of: comparison) == [])
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
