package import Foundation
package import ScenarioLanguage
import WorkbenchText

/// Reads a scenario file and validates it before anything runs.
package enum ScenarioReader {
  /// Reads the scenario in a file.
  ///
  /// Reads the file and its model. No store is opened, except to read the model, the configuration,
  /// and the indexes of a copied store.
  ///
  /// - Parameters:
  ///   - url: The location of the file.
  ///   - path: The path as it was given, for messages and call sites. The default is the file's
  ///     path. Relative paths in a pipe start from the current folder, as in standard input.
  ///   - textFile: The path of a file with the text to read instead of the file's. Relative paths
  ///     in the text start from the folder of `url`.
  /// - Throws: `ScenarioDiagnostics` with all problems, or `InvalidInputError` if the file can't be
  ///   read.
  package static func read(
    _ url: URL, path: String? = nil, textFrom textFile: String? = nil
  ) throws -> Scenario {
    let path = path ?? url.relativePath
    let input = textFile ?? (path == InputFile.standardInput ? path : url.relativePath)
    let data = try InputFile.read(input, limit: InputLimits.scenarioSize)
    return try read(data: data, location(of: url), path)
  }

  /// Returns the URL from whose folder relative paths start: that of a file itself, or one in the
  /// current folder for a pipe, such as `<(…)`, whose folder contains no models.
  static func location(of url: URL) -> URL {
    let mode = FileKind.mode(of: url.path, followingLinks: true)
    let isPipe = mode.map { $0 & S_IFMT == S_IFIFO } ?? false
    return isPipe ? URL(fileURLWithPath: url.lastPathComponent) : url
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
