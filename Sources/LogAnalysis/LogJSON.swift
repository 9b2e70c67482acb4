package import Foundation
package import StatementAnalysis
import WorkbenchText

/// A log as JSON: one object with sorted keys; times in seconds, as in the log.
package enum LogJSON {
  /// The text, with an end of line.
  ///
  /// - Parameters:
  ///   - advice: indexes that were tried for the statements.
  ///   - showsBinds: whether bound values are in it; kept back if left out.
  package static func data(
    _ report: LogReport, judged: LogJudgement? = nil, advice: IndexAdvice? = nil,
    showsBinds: Bool = false
  ) throws -> Data {
    try JSONOutput.lines(LogDocument(report, judged, advice, showsBinds: showsBinds))
  }
}
