package import Foundation
import OpenCoreData
package import WorkbenchText

/// Reads a scenario file and checks every word of it before anything runs.
package enum ScenarioReader {
  /// The keys of a scenario.
  package static let keys = [
    "name", "chapter", "covers", "source", "story", "model", "data", "steps", "variants", "expect",
    "silence",
  ]

  /// The scenario of a file.
  ///
  /// Reads the file and its model; opens no store except to take the model out of a copied one.
  /// - Parameter path: the file as it was given, for messages and call sites; by default its path.
  /// - Throws: `ScenarioDiagnostics` with everything that is wrong; `InvalidInputError` when the file cannot
  ///   be read.
  package static func read(_ url: URL, path: String? = nil) throws -> Scenario {
    let path = path ?? url.relativePath
    let input = path == InputFile.standardInput ? path : url.path
    return try read(data: InputFile.read(input, limit: YAMLDocument.maximumSize), url, path)
  }

  /// The text of a file in UTF-8.
  ///
  /// - Throws: `ScenarioDiagnostics` for another encoding.
  static func text(of data: Data, path: String) throws(ScenarioDiagnostics) -> String {
    guard let text = String(bytes: data, encoding: .utf8) else {
      throw ScenarioDiagnostics([
        ScenarioDiagnostic(
          file: path, keyPath: "",
          problem: LanguageProblem(
            "the file is not UTF-8 text", at: SourceRange(line: 1, column: 1),
            nextStep: "save it as UTF-8"), sourceLine: nil)
      ])
    }
    return text
  }

  private static func read(data: Data, _ url: URL, _ path: String) throws -> Scenario {
    try read(text: text(of: data, path: path), url: url, path: path)
  }

  /// The scenario of a text that stands, or could stand, at a file's place.
  ///
  /// - Throws: `ScenarioDiagnostics` with everything that is wrong.
  package static func read(
    text: String, url: URL, path: String
  ) throws(ScenarioDiagnostics) -> Scenario {
    let document = YAMLDocument(text: text, file: path)
    let scenario = document.root(of: text).flatMap { root in
      ScenarioAssembly(document: document, url: url).scenario(of: root)
    }
    guard var scenario, document.diagnostics.isEmpty else {
      throw ScenarioDiagnostics(document.diagnostics)
    }
    scenario.text = text
    return scenario
  }
}

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

  /// `FILE:LINE:COLUMN: error: message`, the line with carets, the key path and the next step.
  package var description: String {
    var lines = ["\(PrintableText.line(file)):\(line):\(column): error: \(problem.question)"]
    if let sourceLine {
      lines.append(CaretExcerpt(line: sourceLine, place: problem.place).text)
    }
    lines.append(
      PrintableText.line(keyPath.isEmpty ? nextStep : "\(keyPath): \(nextStep)"))
    return lines.joined(separator: "\n")
  }
}

/// Everything that is wrong with a scenario file.
package struct ScenarioDiagnostics: Error, Sendable, CustomStringConvertible {
  /// At least one, in the order of the file.
  package let diagnostics: [ScenarioDiagnostic]

  package init(_ diagnostics: [ScenarioDiagnostic]) {
    self.diagnostics = diagnostics
  }

  /// One after the other, and how many there are when there are several.
  package var description: String {
    var parts = diagnostics.map(\.description)
    if diagnostics.count > 1 {
      parts.append("\(diagnostics.count) errors; nothing was run or written.")
    }
    return parts.joined(separator: "\n\n")
  }
}
