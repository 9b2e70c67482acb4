package import ScenarioLanguage
import WorkbenchText

/// The results of evaluating a log's sections against a budget.
package struct LogEvaluation: Sendable {
  /// The results by index of the section in the report.
  ///
  /// Sections that aren't in the budget are omitted.
  package var results: [Int: [ExpectationResult]] = [:]
  /// The sections of the budget that aren't in the log, with their line numbers.
  package var missing: [(name: String, line: Int)] = []
  /// Descriptions of a scenario's expectations that can't be evaluated in a log.
  package var notEvaluated: [String] = []

  /// The number of sections that are too many to be counted separately, in words, or `nil` if none
  /// are; they can be sections of the budget.
  package var leftOut: String?

  /// Whether every section is in the log, no section is left out, and every expectation is met.
  package var passes: Bool {
    missing.isEmpty && leftOut == nil && results.values.allSatisfy { $0.allSatisfy(\.isMet) }
  }
}

/// The text of a budget's results.
package enum LogEvaluationText {
  /// Returns the summary, followed by the expectations that aren't met and their statements.
  package static func lines(_ evaluation: LogEvaluation, of report: LogReport) -> [String] {
    let results = evaluation.results.values.flatMap { $0 }
    let met = results.count(where: \.isMet)
    let sections = evaluation.results.values.count { $0.allSatisfy(\.isMet) }
    var lines = [
      "\(evaluation.passes ? "✓" : "✗") "
        + NumberText.counted(
          sections, of: evaluation.results.count + evaluation.missing.count, "section")
        + ", " + NumberText.counted(met, of: results.count, "expectation")
    ]
    for (name, line) in evaluation.missing {
      lines.append("✗ \(name)   the log doesn't contain `cdprof: begin \(name)`   line \(line)")
    }
    if let leftOut = evaluation.leftOut { lines.append("✗ \(leftOut)   not evaluated") }
    for position in evaluation.results.keys.sorted() {
      let section = report.sections[position]
      for result in evaluation.results[position] ?? [] where !result.isMet {
        let formula = result.calculation.map { " (\($0))" } ?? ""
        lines.append(
          "✗ \(section.name) · \(result.metric)   expected \(result.expectedText)\(formula)"
            + ", actual \(result.actual)   \(result.location)")
        lines += result.differences.map { "    \($0)" }
      }
    }
    if !evaluation.notEvaluated.isEmpty {
      lines.append("not evaluated, because the log doesn't contain it:")
      lines += evaluation.notEvaluated.map { "    \($0)" }
    }
    return lines
  }
}
