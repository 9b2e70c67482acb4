package import Foundation
import ManagedModel
package import RunResults
import ScenarioLanguage
import WorkbenchText

/// The result of checking an exercise, as text and as JSON.
package enum ExerciseReport {
  /// Returns the lines of the text: the outcome, each line of the budget, and below those that
  /// aren't met the events that account for them, with the lines of the reader's file.
  package static func lines(_ check: ExerciseCheck) -> [String] {
    let met = NumberText.counted(
      check.budget.count(where: \.isMet), of: check.budget.count, "line")
    var lines = [
      "\(check.passes ? "✓" : "✗") \(check.lesson), \(check.variant): \(met) of the budget met"
    ]
    for line in check.budget {
      // One of the two can have more lines: findings that aren't listed, and steps that fail.
      let start =
        check.start.first {
          ($0.metric, $0.formula, $0.location) == (line.metric, line.formula, line.location)
        }?.actualText ?? ""
      lines.append(
        "  \(line.isMet ? "✓" : "✗") \(line.metric): \(line.actualText), budget "
          + "\(line.expectedText)"
          + (start.isEmpty || start == line.actualText ? "" : " (\(start) in the lesson)"))
      if !line.isMet { lines += line.differences.map { "      \($0)" } }
    }
    if !check.differences.isEmpty {
      lines.append("  ✗ the work isn't the same:")
      lines += check.differences.map { "      \($0)" }
    }
    return lines.map(PrintableText.line)
  }

  /// Returns the result as JSON that ends with a line feed.
  ///
  /// - Throws: An `EncodingError`, which no result can cause.
  package static func data(_ check: ExerciseCheck) throws -> Data {
    try JSONOutput.flat(
      Document(
        lesson: check.lesson, variant: check.variant, passes: check.passes,
        budget: check.budget.map { line in
          Line(
            metric: line.metric, budget: line.expectedText, actual: line.actualText,
            isMet: line.isMet, from: line.isMet ? [] : line.differences)
        },
        differences: check.differences))
  }

  private struct Document: Encodable {
    var lesson: String
    var variant: String
    var passes: Bool
    var budget: [Line]
    var differences: [String]
  }

  private struct Line: Encodable {
    var metric: String
    var budget: String
    var actual: String
    var isMet: Bool
    var from: [String]
  }
}
