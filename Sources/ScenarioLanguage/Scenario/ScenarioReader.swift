package import Foundation
import OpenCoreData
package import WorkbenchText

/// Reads a scenario file and validates it before anything runs.
package enum ScenarioReader {
  /// The keys of a scenario.
  package static let keys = [
    "name", "chapter", "covers", "source", "apple", "story", "headline", "metric", "predict",
    "exercise", "model", "data", "steps", "variants", "expect", "silence",
  ]

  /// Reads the scenario in a file.
  ///
  /// Reads the file and its model. No store is opened, except to read the model from a copied
  /// store.
  ///
  /// - Parameters:
  ///   - url: The location of the file.
  ///   - path: The path as it was given, for messages and call sites. The default is the file's
  ///     path.
  ///   - textFile: The path of a file with the text to read instead of the file's. Relative paths
  ///     in the text start from the folder of `url`.
  /// - Throws: `ScenarioDiagnostics` with all problems, or `InvalidInputError` if the file can't be
  ///   read.
  package static func read(
    _ url: URL, path: String? = nil, textFrom textFile: String? = nil
  ) throws -> Scenario {
    let path = path ?? url.relativePath
    let input = textFile ?? (path == InputFile.standardInput ? path : url.path)
    return try read(data: InputFile.read(input, limit: InputLimits.scenarioSize), url, path)
  }

  /// Returns the UTF-8 text of a file.
  ///
  /// - Throws: `ScenarioDiagnostics` for another encoding.
  static func text(of data: Data, path: String) throws(ScenarioDiagnostics) -> String {
    guard let text = String(bytes: data, encoding: .utf8) else {
      throw ScenarioDiagnostics([
        ScenarioDiagnostic(
          file: path, keyPath: "",
          problem: LanguageProblem(
            "the file isn't UTF-8 text", at: SourceRange(line: 1, column: 1),
            nextStep: "save it as UTF-8"), sourceLine: nil)
      ])
    }
    return text
  }

  private static func read(data: Data, _ url: URL, _ path: String) throws -> Scenario {
    try read(text: text(of: data, path: path), url: url, path: path)
  }

  /// Parses a scenario from text, as if it were the contents of a file.
  ///
  /// - Throws: `ScenarioDiagnostics` with all problems.
  package static func read(
    text: String, url: URL, path: String
  ) throws(ScenarioDiagnostics) -> Scenario {
    let document = YAMLDocument(text: text, file: path)
    let scenario = document.root(of: text).flatMap { root in
      ScenarioAssembly(document: document, url: url).scenario(of: root)
    }
    guard var scenario, document.diagnostics.isEmpty else {
      throw ScenarioDiagnostics(document.diagnostics, includedFiles: document.includedFiles)
    }
    scenario.text = text
    return scenario
  }
}

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
  /// The paths of the files that the scenario includes, also of those that can't be read.
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
