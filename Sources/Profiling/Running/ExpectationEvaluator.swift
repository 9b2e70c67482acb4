import ProfileEvents
import RunResults
import SQLiteDriver
import ScenarioLanguage

/// Evaluates expectations against a recording.
struct ExpectationEvaluator {
  let scope: CountExpressionScope
  /// The path of the scenario file, as specified by the user.
  let path: String
  /// The engine of the run, which some expectations depend on.
  var engine: any StoreEngine = SQLiteEngine()

  /// Returns the result of an expectation of a metric.
  ///
  /// - Parameters:
  ///   - expectation: The expectation to evaluate.
  ///   - recording: The recorded work.
  ///   - findings: The findings in the recording, one of which might explain a surplus.
  /// - Throws: A `CountExpressionError` if the formula has no value.
  func result(
    of expectation: Expectation, in recording: Recording, firing findings: [Finding] = []
  ) throws(CountExpressionError) -> ExpectationResult {
    let bounds = try expectation.constraint.bounds(in: scope)
    let found = recording.value(of: expectation.scoped)
    let obstacle = engine.obstacle(to: expectation.scoped.metric)
    let isMet = obstacle == nil && bounds.contains(found)
    let (relation, expected) = try expectation.constraint.compared(in: scope)
    var result = ExpectationResult(
      metric: expectation.metric.text, formula: expectation.constraint.text, relation: relation,
      expected: expected, actual: .number(found), isMet: isMet, source: expectation.source,
      location: CallSite(file: path, line: expectation.line),
      differences: isMet || obstacle != nil
        ? []
        : EventDifferences(recording: recording, metric: expectation.scoped, found: found).lines
          + likely(expectation.scoped, found, beyond: bounds.upperBound, findings, recording))
    result.obstacle = obstacle
    return result
  }

  /// Returns the message of the finding that explains a surplus, or an empty array.
  private func likely(
    _ scoped: ScopedMetric, _ found: Int, beyond most: Int, _ findings: [Finding],
    _ recording: Recording
  ) -> [String] {
    guard found > most else { return [] }
    let message = LikelyCause.message(
      for: scoped, surplus: found - most, among: findings, in: recording)
    return message.map { [$0] } ?? []
  }

  /// Returns the result of a plan requirement.
  func result(
    of expectation: PlanExpectation, in statements: [StepPlans.Explained], entities: [String]
  ) -> ExpectationResult {
    let obstacle = engine.obstacleToPlans
    let (isMet, actual) =
      obstacle == nil
      ? expectation.requirement.evaluate(statements, entities: entities) : (false, "not evaluated")
    let text = expectation.requirement.description
    var result = ExpectationResult(
      metric: expectation.text, formula: text, relation: .plan, expected: .text(text),
      actual: .text(actual), isMet: isMet, source: expectation.source,
      location: CallSite(file: path, line: expectation.line),
      differences: isMet || obstacle != nil
        ? [] : statements.flatMap { [$0.sql] + $0.plan.lines })
    result.obstacle = obstacle
    return result
  }

  /// Returns the result of a block's findings, or `nil` if none are listed and none fired.
  ///
  /// A listed name allows the finding from any line. The actual value contains the name once for
  /// each line.
  func result(of block: ExpectBlock, firing findings: [Finding]) -> ExpectationResult? {
    let expected = (block.findings?.names ?? []).map(\.text)
    let found = findings.map(\.name)
    if block.findings == nil, found.isEmpty { return nil }
    let missing = expected.filter { !found.contains($0) }
    let surplus = findings.filter { !expected.contains($0.name) }
    return ExpectationResult(
      metric: "findings", formula: expected.isEmpty ? "none" : expected.joined(separator: ", "),
      relation: .equal, expected: .names(expected), actual: .names(found),
      isMet: missing.isEmpty && surplus.isEmpty, source: block.findings?.source ?? .ours,
      location: CallSite(file: path, line: block.findings?.line ?? block.line),
      differences: missing.map { "\($0) didn't fire" } + surplus.map(\.difference))
  }

  /// Returns the result of a step's `fails`, or `nil` if the step has none.
  func result(ofFailing outcome: StepOutcome) -> ExpectationResult? {
    guard let code = outcome.step.fails else { return nil }
    return ExpectationResult(
      metric: ExpectationResult.fails, formula: String(code), relation: .equal,
      expected: .number(code),
      actual: .number(outcome.failureCode ?? 0), isMet: outcome.endedAsExpected, source: .derived,
      location: outcome.step.location,
      differences: outcome.endedAsExpected ? [] : ["\(outcome.step.text): \(outcome.summary)"])
  }
}

extension Finding {
  /// The description of a finding that isn't expected.
  fileprivate var difference: String {
    let location = callSite.map { " from \($0)" } ?? ""
    return "\(name) fired: \(counted)\(location); fix: \(fix.text)"
  }
}
