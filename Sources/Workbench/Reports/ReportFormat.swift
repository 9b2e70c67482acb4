package import Foundation

/// The forms a run's result can be written in.
package enum ReportFormat: String, CaseIterable, Sendable {
  /// One page that needs nothing else.
  case html
  /// Everything that was found out, for machines; every other form can be made of it.
  case json
  /// Markdown, for a comment on a change.
  case md
  /// JUnit's XML, one test case an expectation.
  case junit
  /// What a terminal shows.
  case text
  /// Chrome's trace events, for Perfetto.
  case trace
  /// Every event as a line of JSON.
  case jsonl

  /// All of their words, with commas.
  package static let words = allCases.map(\.rawValue).joined(separator: ",")

  /// What a file's name ends in.
  package var fileExtension: String {
    switch self {
    case .html, .json, .md, .jsonl: rawValue
    case .junit: "junit.xml"
    case .text: "txt"
    case .trace: "trace.json"
    }
  }

  /// The result in this form.
  ///
  /// - Throws: the template's or the encoder's error, which no result can cause.
  package func data(_ result: RunResult) throws -> Data {
    switch self {
    case .html: Data(try HTMLReport.page(result).utf8)
    case .json: try JSONReport.data(result)
    case .md: Data(MarkdownReport.text(result).utf8)
    case .junit: Data(JUnitReport.text(result).utf8)
    case .text: Data(TextReport.text(result).utf8)
    case .trace: TraceReport.data(result)
    case .jsonl: JSONLinesReport.data(result)
    }
  }

  /// Writes a result as `NAME.html`, `NAME.json` and so on, and gives the file.
  ///
  /// - Parameters:
  ///   - name: the scenario file's name without its extension.
  ///   - directory: made when it does not exist.
  /// - Throws: the file system's `NSError`, which names the file, or the template's error.
  package func write(
    _ result: RunResult, named name: String, in directory: URL
  ) throws -> URL {
    let data = try data(result)
    try OutputFile.makeFolder(directory)
    let url = directory.appendingPathComponent("\(name).\(fileExtension)")
    try OutputFile.write(data, to: url)
    return url
  }
}
