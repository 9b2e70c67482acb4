import ProfileEvents
import Testing

@testable import RunResults
@testable import ScenarioLanguage

@Suite("Results of repeated runs")
struct RepeatedResultTests {
  private static let misses = ScopedMetric(.misses, .entity("Country"))

  /// Returns an iteration with 10 misses, some of them of countries.
  private func iteration(
    countries: Int, findings: Int = 0, _ expectations: [ExpectationResult] = []
  ) -> VariantResult {
    var result = VariantResult(name: "plain")
    result.metrics = [.misses: 10]
    result.scopedMetrics = [Self.misses: countries, ScopedMetric(.time, .step("moods")): countries]
    result.nanoseconds = 1_000
    result.expectations = expectations
    if findings > 0 {
      result.expectations.append(
        ExpectationResult(
          metric: "findings", formula: "none", relation: .equal, expected: .names([]),
          actual: .names(["fault-storm(Mood)"]), isMet: false, source: .ours,
          location: CallSite(file: "a.yml", line: 9)))
    }
    return result
  }

  /// Returns the results of an expectation of 2 SELECTs, which a step has twice.
  private func expectations(_ selects: [Int]) -> [ExpectationResult] {
    selects.map { found in
      ExpectationResult(
        metric: "selects", formula: "2", relation: .equal, expected: .number(2),
        actual: .number(found), isMet: found == 2, source: .ours,
        location: CallSite(file: "a.yml", line: 5))
    }
  }

  private func repeated(_ results: [VariantResult]) -> [ExpectationResult] {
    VariantResult(repeated: results, in: "a.yml", line: 3).expectations
  }

  @Test func scopedMetricsMustNotVary() {
    #expect(repeated([iteration(countries: 4), iteration(countries: 4)]).isEmpty)
    let found = repeated([iteration(countries: 4), iteration(countries: 6)])
    #expect(found.map(\.metric) == ["misses(Country)"])
    #expect(found.map(\.formula) == ["the same in each of 2 runs"])
    #expect(found.map(\.actual) == [.text("4, 6")])
    #expect(found.map(\.location.line) == [3])
    #expect(found.allSatisfy { $0.isUnmet })
  }

  @Test func expectationsMustBeMetInEachRun() {
    let good = iteration(countries: 4, expectations([2, 2]))
    #expect(repeated([good, good]).map(\.isMet) == [true, true])
    let found = repeated([
      good, good, iteration(countries: 4, expectations([2, 3])),
      iteration(countries: 4, expectations([2, 5])),
    ])
    #expect(found.map(\.isMet) == [true, false])
    #expect(found.map(\.actual) == [.number(2), .number(3)])
    #expect(found[1].differences == ["not met in run 3 of 4"])
  }

  /// A result of the first run that isn't met stays.
  @Test func firstUnmetResultIsReported() {
    let found = repeated([
      iteration(countries: 4, expectations([7, 2])), iteration(countries: 4, expectations([8, 2])),
    ])
    #expect(found == expectations([7, 2]))
  }

  @Test func findingOfALaterRunIsReported() {
    let found = repeated([
      iteration(countries: 4, expectations([2])),
      iteration(countries: 4, findings: 1, expectations([2])),
      iteration(countries: 4, findings: 1, expectations([2])),
    ])
    #expect(found.map(\.metric) == ["selects", "findings"])
    #expect(found.map(\.isMet) == [true, false])
    #expect(found[1].differences == ["not met in run 2 of 3"])
  }
}
