package import Foundation

/// The forms a run's result can be written in.
package enum ReportFormat: String, CaseIterable, Sendable {
  case html
  case json

  /// Writes a result as `NAME.html` or `NAME.json` and gives the file.
  ///
  /// - Parameters:
  ///   - name: the scenario file's name without its extension.
  ///   - directory: made when it does not exist.
  /// - Throws: the file system's `NSError`, which names the file, or the template's error.
  package func write(
    _ result: RunResult, named name: String, in directory: URL
  ) throws -> URL {
    let data =
      switch self {
      case .html: Data(try HTMLReport.page(result).utf8)
      case .json: try JSONReport.data(result)
      }
    try OutputFile.makeFolder(directory)
    let url = directory.appendingPathComponent("\(name).\(rawValue)")
    try OutputFile.write(data, to: url)
    return url
  }
}
