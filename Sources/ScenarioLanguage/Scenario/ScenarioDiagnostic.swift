import OpenCoreData
package import WorkbenchText

/// One thing that is wrong with a scenario file: where, what, and what to do.
package struct ScenarioDiagnostic: Error, Sendable, CustomStringConvertible {
  /// The file as it was given.
  package let file: String
  /// `variants[2].expect.misses(Country)`; positions are counted from 0.
  package let keyPath: String
  /// What is wrong, with its line and column.
  package let problem: LanguageProblem
  /// The line of the file; nil when the file has none at that place.
  package let sourceLine: String?

  package init(file: String, keyPath: String, problem: LanguageProblem, sourceLine: String?) {
    self.file = file
    self.keyPath = keyPath
    self.problem = problem
    self.sourceLine = sourceLine
  }

  /// Counted from 1.
  package var line: Int { problem.place.line }
  /// Counted from 1, in characters.
  package var column: Int { problem.place.column }
  /// What to do about it, a sentence.
  package var nextStep: String { problem.nextStep }

  /// `FILE:LINE:COLUMN: message`, the line with carets, the key path and the next step.
  package var description: String {
    var lines = ["\(PrintableText.line(file)):\(line):\(column): \(problem.question)"]
    if let sourceLine {
      lines.append(CaretExcerpt(line: sourceLine, place: problem.place).text)
    }
    lines.append(
      PrintableText.line(keyPath.isEmpty ? nextStep : "\(keyPath): \(nextStep)"))
    return lines.joined(separator: "\n")
  }
}
