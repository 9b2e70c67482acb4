package import Foundation
import OpenCoreData
package import Profiling
import WorkbenchText

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
    case .html: ReportFormat.printable(try HTMLReport.page(result))
    case .json: try JSONReport.data(result)
    case .md: ReportFormat.printable(MarkdownReport.text(result))
    case .junit: ReportFormat.printable(JUnitReport.text(result))
    case .text: ReportFormat.printable(TextReport.text(result))
    case .trace: TraceReport.data(result)
    case .jsonl: JSONLinesReport.data(result)
    }
  }

  /// What would act on a terminal, or reorder a page's text, is escaped; JSON has its own escapes.
  private static func printable(_ text: String) -> Data {
    Data(PrintableText.escaped(text).utf8)
  }

  /// Where a result is written: `NAME.html`, `NAME.json`, and so on.
  package func url(named name: String, in directory: URL) -> URL {
    directory.appendingPathComponent("\(name).\(fileExtension)")
  }

  /// Writes a result as `NAME.html`, `NAME.json` and so on, and gives the file.
  ///
  /// - Parameters:
  ///   - name: the scenario file's name without its extension.
  ///   - directory: made when it does not exist.
  ///   - force: whether a file that `cdprof` didn't write may be replaced.
  /// - Throws: `InvalidInputError` for such a file; the file system's `NSError`, which names the file; the
  ///   template's error.
  package func write(
    _ result: RunResult, named name: String, in directory: URL, force: Bool = false
  ) throws -> URL {
    let data = try data(result)
    try OutputFile.makeFolder(directory)
    let url = url(named: name, in: directory)
    try OutputFile.write(data, to: url, force: force)
    return url
  }
}
