package import Foundation
import WorkbenchText

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
  /// - Throws: `ScenarioDiagnostics` with everything that is wrong; `InputRefusal` when the file cannot
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
            "the file is not UTF-8 text", at: SourcePlace(line: 1, column: 1),
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
