import ManagedModel
package import WorkbenchText

/// A problem in a scenario file, with its location and the next step.
package struct ScenarioDiagnostic: Error, Sendable, CustomStringConvertible {
  /// The path of the file as it was given.
  package let file: String
  /// The key path, such as `variants[2].expect.misses(Country)`.
  ///
  /// Indexes start at 0.
  package let keyPath: String
  /// The problem, with its line and column.
  package let problem: LanguageProblem
  /// The text of the line, or `nil` if the file doesn't have that line.
  package let sourceLine: String?

  package init(file: String, keyPath: String, problem: LanguageProblem, sourceLine: String?) {
    self.file = file
    self.keyPath = keyPath
    self.problem = problem
    self.sourceLine = sourceLine
  }

  /// The line number, starting at 1.
  package var line: Int { problem.range.line }
  /// The column in characters, starting at 1.
  package var column: Int { problem.range.column }
  /// What to do about the problem.
  package var nextStep: String { problem.nextStep }

  /// The message in the form `FILE:LINE:COLUMN: error: message`, followed by the line with carets,
  /// the key path, and the next step.
  package var description: String {
    var lines = ["\(PrintableText.line(file)):\(line):\(column): error: \(problem.text)"]
    if let sourceLine {
      lines.append(CaretExcerpt(line: sourceLine, range: problem.range).text)
    }
    lines.append(
      PrintableText.line(keyPath.isEmpty ? nextStep : "\(keyPath): \(nextStep)"))
    return lines.joined(separator: "\n")
  }
}

/// All problems in a scenario file.
package struct ScenarioDiagnostics: Error, Sendable, CustomStringConvertible {
  /// The problems, at least one, in source order.
  package let diagnostics: [ScenarioDiagnostic]
  /// The paths of the files that the scenario includes, including those that can't be read.
  package let includedFiles: Set<String>

  package init(_ diagnostics: [ScenarioDiagnostic], includedFiles: Set<String> = []) {
    self.diagnostics = diagnostics
    self.includedFiles = includedFiles
  }

  /// The messages, followed by their number if there are several.
  package var description: String {
    var parts = diagnostics.map(\.description)
    if diagnostics.count > 1 {
      parts.append("\(diagnostics.count) errors; nothing was run or written.")
    }
    return parts.joined(separator: "\n\n")
  }
}
