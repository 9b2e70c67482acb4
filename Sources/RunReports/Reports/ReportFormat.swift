package import Foundation
import ManagedModel
package import RunResults
import WorkbenchText

/// The formats in which a run's result can be written.
package enum ReportFormat: String, CaseIterable, Sendable {
  /// A self-contained page.
  case html
  /// The complete result, from which every other format can be generated.
  case json
  /// Markdown, for a comment on a pull request.
  case md
  /// JUnit XML, with a test case for each expectation.
  case junit
  /// The text that a terminal shows.
  case text
  /// Chrome trace events, for Perfetto.
  case trace
  /// JSON Lines, with a line for the run, each variant, statement, finding, and event.
  case jsonl
  /// Spans in the JSON encoding of OTLP, for a collector of OpenTelemetry.
  case otlp

  /// The names of all formats, separated by commas.
  package static let words = allCases.map(\.rawValue).joined(separator: ",")

  /// The extension of a file in this format.
  package var fileExtension: String {
    switch self {
    case .html, .json, .md, .jsonl: rawValue
    case .junit: "junit.xml"
    case .text: "txt"
    case .trace: "trace.json"
    case .otlp: "otlp.json"
    }
  }

  /// Returns a result in this format.
  ///
  /// - Parameters:
  ///   - result: The result.
  ///   - reload: What reloads a page when it's written again; `nil` if nothing does.
  ///   - labels: What identifies the run in JSON Lines.
  /// - Throws: An error of the template or the encoder, which no result can cause.
  package func data(
    _ result: RunResult, reloading reload: PageReload? = nil, labels: [ReportLabel] = []
  ) throws -> Data {
    switch self {
    case .html:
      ReportFormat.printable(
        try reload.map { try HTMLReport.page(result, reloading: $0) } ?? HTMLReport.page(result))
    case .json: try JSONReport.data(result)
    case .md: ReportFormat.printable(MarkdownReport.text(result))
    case .junit: ReportFormat.printable(JUnitReport.text(result))
    case .text: ReportFormat.printable(TextReport.text(result))
    case .trace: TraceReport.data(result)
    case .jsonl: JSONLinesReport.data(result, labels: labels)
    case .otlp: OpenTelemetryReport.data(result)
    }
  }

  /// Escapes control sequences and bidirectional marks; JSON has its own escapes.
  private static func printable(_ text: String) -> Data {
    Data(PrintableText.escaped(text).utf8)
  }

  /// Returns the file of a result: `NAME.html`, `NAME.json`, and so on.
  package func url(named name: String, in directory: URL) -> URL {
    directory.appendingPathComponent("\(name).\(fileExtension)")
  }

  /// Writes a result as `NAME.html`, `NAME.json`, and so on, and returns the file.
  ///
  /// - Parameters:
  ///   - result: The result to write.
  ///   - name: The name of the scenario file without its extension.
  ///   - directory: The folder to write to; it's created if it doesn't exist.
  ///   - force: Whether to replace a file that `cdprof` didn't write.
  ///   - reloads: Whether an open page reloads when it's written again; writes its script, too.
  ///   - labels: What identifies the run in JSON Lines.
  /// - Throws: An `InvalidInputError` if such a file exists and `force` is false; an `NSError` of
  ///   the file system that names the file; an error of the template.
  package func write(
    _ result: RunResult, named name: String, in directory: URL, force: Bool = false,
    reloads: Bool = false, labels: [ReportLabel] = []
  ) throws -> URL {
    let reload = self == .html && reloads ? PageReload(of: name) : nil
    let data = try data(result, reloading: reload, labels: labels)
    try OutputFile.makeFolder(directory)
    let url = url(named: name, in: directory)
    try OutputFile.write(data, to: url, force: force)
    try reload?.write(in: directory, force: force)
    return url
  }
}
