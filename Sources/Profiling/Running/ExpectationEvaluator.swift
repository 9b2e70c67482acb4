import ProfileEvents
import SQLiteDriver
import ScenarioLanguage

/// Compares what was expected with what was recorded.
struct ExpectationEvaluator {
  let scope: CountExpressionScope
  /// The scenario file as it was given.
  let path: String

  /// The result of an expectation of a metric.
  ///
  /// - Parameter findings: What fired in the recording; one of them may explain a surplus.
  /// - Throws: `CountExpressionError` if the formula has no value.
  func result(
    of expectation: Expectation, in recording: Recording, firing findings: [Finding] = []
  ) throws(CountExpressionError) -> ExpectationResult {
    let bounds = try expectation.law.bounds(in: scope)
    let found = recording.value(of: expectation.scoped)
    let holds = bounds.contains(found)
    let (relation, expected) = try expectation.law.compared(in: scope)
    return ExpectationResult(
      metric: expectation.metric.text, law: expectation.law.text, relation: relation,
      expected: expected, found: .number(found), holds: holds, source: expectation.source,
      location: CallSite(file: path, line: expectation.line),
      differences: holds
        ? []
        : EventDifferences(recording: recording, metric: expectation.scoped, found: found).lines
          + likely(expectation.scoped, found, beyond: bounds.upperBound, findings))
  }

  /// The sentence of the finding that explains a surplus, when one does.
  private func likely(
    _ scoped: ScopedMetric, _ found: Int, beyond most: Int, _ findings: [Finding]
  ) -> [String] {
    guard found > most else { return [] }
    let sentence = LikelyCause.sentence(
      for: scoped.metric, surplus: found - most, among: findings)
    return sentence.map { [$0] } ?? []
  }

  /// The result of a demand on plans.
  func result(
    of expectation: PlanExpectation, in statements: [StepPlans.Explained], entities: [String]
  ) -> ExpectationResult {
    let (holds, found) = expectation.demand.judge(statements, entities: entities)
    let text = expectation.demand.description
    return ExpectationResult(
      metric: expectation.text, law: text, relation: .plan, expected: .text(text),
      found: .text(found), holds: holds, source: expectation.source,
      location: CallSite(file: path, line: expectation.line),
      differences: holds ? [] : statements.flatMap { [$0.sql] + $0.plan.lines })
  }

  /// The result of a block's findings; nil when none were listed and none fired.
  ///
  /// A name that is listed allows the finding from any line; what was found has it once for each.
  func result(of block: ExpectBlock, firing findings: [Finding]) -> ExpectationResult? {
    let expected = (block.findings?.names ?? []).map(\.text)
    let found = findings.map(\.name)
    if block.findings == nil, found.isEmpty { return nil }
    let missing = expected.filter { !found.contains($0) }
    let surplus = findings.filter { !expected.contains($0.name) }
    return ExpectationResult(
      metric: "findings", law: expected.isEmpty ? "none" : expected.joined(separator: ", "),
      relation: .equal, expected: .names(expected), found: .names(found),
      holds: missing.isEmpty && surplus.isEmpty, source: block.findings?.source ?? .ours,
      location: CallSite(file: path, line: block.findings?.line ?? block.line),
      differences: missing.map { "\($0) did not fire" } + surplus.map(\.difference))
  }

  /// The result of a step's `fails`; nil when the step has none.
  func result(ofFailing outcome: StepOutcome) -> ExpectationResult? {
    guard let code = outcome.step.fails else { return nil }
    return ExpectationResult(
      metric: ExpectationResult.fails, law: String(code), relation: .equal, expected: .number(code),
      found: .number(outcome.failureCode ?? 0), holds: outcome.holds, source: .derived,
      location: outcome.step.location,
      differences: outcome.holds ? [] : ["\(outcome.step.text): \(outcome.summary)"])
  }
}

extension Finding {
  /// Its description if it should not have fired.
  fileprivate var difference: String {
    let place = callSite.map { " from \($0)" } ?? ""
    return "\(name) fired: \(counted)\(place); fix: \(cure.text)"
  }
}
