package import Foundation
package import RunResults
import WorkbenchText

/// Reads results that were written with `--report json`.
package enum ResultFile {
  /// Reads a result from data.
  ///
  /// - Parameters:
  ///   - data: The content of the file.
  ///   - path: The path of the file, for error messages.
  /// - Throws: `ScenarioDiagnostics` with the line and column of an error.
  package static func read(_ data: Data, path: String) throws -> RunResult {
    let source = try JSONSource(data, path: path, kind: .result)
    let head = try source.decode(Head.self)
    guard head.version == JSONDocument.version else {
      throw source.problem(
        "result version \(head.version) isn't supported; this cdprof reads version "
          + "\(JSONDocument.version)",
        at: [.key("version")],
        nextStep: "run the scenario again, or use the version of cdprof that wrote the file")
    }
    return try source.decode(JSONDocument.self).result
  }

  /// Reads a result from a file, a pipe, or standard input.
  ///
  /// - Throws: An `InvalidInputError` if the file can't be read; `ScenarioDiagnostics` if it isn't
  ///   a result.
  package static func read(at path: String) throws -> RunResult {
    try read(InputFile.read(path, limit: InputLimits.resultSize), path: path)
  }

  private struct Head: Decodable {
    var version: Int
  }
}
