import ProfileEvents
import Testing

@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Count expressions")
struct CountConstraintTests {
  static let scope = CountExpressionScope(
    rows: ["Mood": 5000, "Country": 60, "Continent": 6], scale: 3)

  private func word(_ text: String) -> Word {
    Word(text, at: SourceRange(line: 3, column: 11, length: text.count))
  }

  @Test(arguments: [
    ("61", 61), ("1 + Mood + Country", 5061), ("2 + ceil(Mood / 20)", 252),
    ("ceil(Mood / 7)", 715), ("Mood/20*Country", 15000), ("10 - 2 - 3", 5), ("-(2 - 5)", 3),
    ("5000 * scale", 15000), ("(1 + 2) * 3", 9), ("ceil(0 - 7 / 2)", -3), ("5_000", 5000),
    ("Mood / 3 + Mood * 2 / 3", 5000),
  ])
  func evaluatesExpressions(text: String, value: Int) throws {
    #expect(try CountExpression(word(text)).value(in: Self.scope) == value)
  }

  @Test(arguments: [
    ("Mood / 3", "5000/3 isn't an integer"), ("1 / (Mood - 5000)", "division by 0"),
    ("9223372036854775807 + 1", "too large"), ("4611686018427387904 * Mood", "too large"),
    ("Person", "the row count of `Person` isn't known"),
  ])
  func reportsWhyAnExpressionHasNoValue(text: String, reason: String) throws {
    let expression = try CountExpression(word(text))
    let error = #expect(throws: CountExpressionError.self) { try expression.value(in: Self.scope) }
    #expect(error?.message.contains(reason) == true)
  }

  @Test(arguments: [
    ("1 +", 14, "expected a number or a name, found the end"),
    ("1 + + 2", 15, "expected a number or a name, found `+`"),
    ("Mood Country", 16, "expected an operator, found `C`"),
    ("(1 + 2", 17, "expected `)`, found the end"),
    ("floor(2)", 11, "unknown function `floor`"),
    ("", 11, "expected a number or a name, found the end"),
    ("99999999999999999999", 11, "`99999999999999999999` is too large"),
    ("1 § 2", 13, "expected an operator, found `§`"),
    ("2²", 12, "expected an operator, found `²`"),
  ])
  func reportsPositionOfSyntaxErrors(text: String, column: Int, message: String) throws {
    let problem = try #require(throws: LanguageProblem.self) { try CountExpression(word(text)) }
    #expect(problem.range.column == column)
    #expect(problem.message == message)
  }

  @Test
  func rejectsDeepNesting() {
    let text = String(repeating: "(", count: 100_000)
    #expect(throws: LanguageProblem.self) { try CountExpression(word(text)) }
    #expect(throws: LanguageProblem.self) {
      try CountExpression(word(String(repeating: "-", count: 100_000)))
    }
  }

  @Test(arguments: [
    ("1 + Country", 61...61, 61, "61"), ("at most 100", Int.min...100, 100, "at most 100"),
    ("at least Country", 60...Int.max, 60, "at least 60"), ("2..Country / 2", 2...30, 30, "2..30"),
  ])
  func evaluatesBoundsAndText(text: String, bounds: ClosedRange<Int>, value: Int, printed: String)
    throws
  {
    let constraint = try CountConstraint(word(text))
    #expect(constraint.text == text)
    #expect(try constraint.bounds(in: Self.scope) == bounds)
    #expect(try constraint.value(in: Self.scope) == value)
    #expect(try constraint.expectation(in: Self.scope) == printed)
  }

  @Test
  func reportsErrorsInTheUpperBoundOfARange() throws {
    let problem = try #require(throws: LanguageProblem.self) { try CountConstraint(word("1..*")) }
    #expect(problem.range.column == 14)
    let range = try CountConstraint(word("5..2"))
    #expect(throws: CountExpressionError.self) { try range.bounds(in: Self.scope) }
  }

  @Test(
    arguments: [
      ("selects", "selects", nil), ("misses(Country)", "misses", "Country"),
      ("faults(Country.moods)", "faults", "Country.moods"),
    ] as [(String, String, String?)])
  func parsesMetricAndScope(text: String, metric: String, scope: String?) throws {
    let reference = try MetricReference(word(text))
    #expect(reference.metric.rawValue == metric)
    #expect(reference.scope?.text == scope)
    #expect(reference.text == text)
    #expect(scope == nil || reference.scope?.range.column == 11 + metric.count + 1)
  }

  @Test(
    arguments: [
      ("slects", "unknown metric `slects`", "selects"),
      ("misses(Country", "a scope requires parentheses, as in `misses(Country)`", nil),
      ("misses()", "a scope requires parentheses, as in `misses(Country)`", nil),
      ("time", "`time` varies between runs, so it can't be expected", nil),
    ] as [(String, String, String?)])
  func rejectsUnknownMetrics(text: String, message: String, suggestion: String?) throws {
    let problem = try #require(throws: LanguageProblem.self) { try MetricReference(word(text)) }
    #expect(problem.message == message)
    #expect(problem.suggestion == suggestion)
  }
}
