import ProfileEvents
import Testing

@testable import ScenarioLanguage

@Suite("Results of expectations")
struct ExpectationResultTests {
  @Test(
    "A formula that only repeats the expected value isn't shown with it",
    arguments: [
      ("61", .equal, .number(61), nil), ("5000", .equal, .number(5_000), nil),
      ("at most 5000", .atMost, .number(5_000), nil), ("1..3", .between, .text("1..3"), nil),
      ("1 + Country", .equal, .number(61), "1 + Country"),
      ("at least Mood", .atLeast, .number(5_000), "at least Mood"),
      ("a(B), c(D)", .equal, .names(["a(B)", "c(D)"]), nil),
    ] as [(String, ExpectationResult.Relation, ExpectationValue, String?)])
  func formulasAreShownIfTheyDiffer(
    formula: String, relation: ExpectationResult.Relation, expected: ExpectationValue,
    calculation: String?
  ) {
    let result = ExpectationResult(
      metric: "rows", formula: formula, relation: relation, expected: expected,
      actual: .number(0), isMet: false, source: .ours,
      location: CallSite(file: "a.yml", line: 1))
    #expect(result.calculation == calculation)
  }

  @Test(
    "A metric with its scope is parsed as it's written",
    arguments: [
      ScopedMetric(.selects), ScopedMetric(.misses, .entity("Country")),
      ScopedMetric(.faults, .relationship(entity: "Country", name: "moods")),
      ScopedMetric(.rows, .step("moods")),
    ])
  func scopedMetricsRoundTrip(metric: ScopedMetric) {
    #expect(ScopedMetric(word: metric.description) == metric)
  }

  @Test(arguments: ["", "selcts", "selects(", "selects()", "selects (Mood)"])
  func otherWordsAreNotMetrics(word: String) {
    #expect(ScopedMetric(word: word) == nil)
  }
}
