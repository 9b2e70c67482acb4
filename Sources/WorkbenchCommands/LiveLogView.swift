import Foundation
import LogAnalysis

/// Shows a log while it's being written: a table on a terminal, otherwise one line per interval.
final class LiveLogView {
  private let console: Console
  /// The number of lines of the table on the terminal, which the next one replaces.
  private var height = 0
  /// The names of the findings that were printed.
  private var printed: Set<String> = []

  init(_ console: Console) {
    self.console = console
  }

  /// Follows a log until Ctrl-C or the end of a pipe, and returns the report of the whole log.
  ///
  /// A second Ctrl-C ends the program.
  ///
  /// - Parameters:
  ///   - path: The path of a file, or `-` for standard input.
  ///   - seconds: The time between two updates.
  ///   - isShown: Whether to show anything before the end.
  /// - Throws: `InvalidInputError` if the log can't be read.
  func follow(_ path: String, every seconds: Double, isShown: Bool) throws -> LogReport {
    let stop = StopRequest()
    Signals.perform { signal in
      guard signal == SIGINT, !stop.request() else { Signals.endProgram(signal) }
    }
    defer { Signals.perform { Signals.endProgram($0) } }
    let log = try LiveLog(path: path)
    defer { height = console.replace(height, with: []) }
    return try log.read(every: seconds, isStopped: { stop.isRequested }) { [self] report in
      if isShown { show(report) }
    }
  }

  private func show(_ report: LogReport) {
    if let screen = Pager.screen {
      let table = LogLiveText.table(report, rows: screen.rows - 1, columns: screen.columns)
      height = console.replace(height, with: table)
      return
    }
    let storms = report.storms.filter { printed.insert($0.name).inserted }
    console.write([LogLiveText.line(report)] + storms.map { "  ! \(LogLiveText.text(of: $0))" })
  }
}
