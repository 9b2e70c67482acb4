import ProfileEvents
import WorkbenchText

/// What a log that's still being written contains so far, for a terminal.
package enum LogLiveText {
  /// Returns a table that fits a terminal: the totals, fault storms and fetches in a loop, and the
  /// statements that took longest.
  ///
  /// - Parameters:
  ///   - report: The report of the lines so far.
  ///   - rows: The number of lines that fit.
  ///   - columns: The number of characters that fit in a line.
  package static func table(_ report: LogReport, rows: Int, columns: Int) -> [String] {
    var lines = [
      "\(NumberText.counted(report.lines, "line")), \(NumberText.grouped(report.coreDataLines)) "
        + "from Core Data; Ctrl-C ends with the summary   \(report.file)",
      LogText.costs(report.costs, logsHits: report.logsHits),
    ]
    let left = max(0, rows - lines.count)
    let storms = report.storms.prefix(left / 3).map { "  ! \(text(of: $0))" }
    lines += storms
    let statements = report.statements.sorted {
      ($0.own, $0.calls, $1.number) > ($1.own, $1.calls, $0.number)
    }
    let shown = statements.prefix(max(0, left - storms.count - 1)).map { statement in
      [
        "#\(statement.number)", NumberText.grouped(statement.calls),
        statement.times.count > 0 ? LogText.time(statement.times.total) : "",
        statement.kind == .select ? NumberText.grouped(statement.rows) : "",
        SQLAbbreviation.short(statement.sql),
      ]
    }
    if !shown.isEmpty {
      lines += LogText.aligned([["#", "calls", "total", "rows", "statement"]] + shown)
    }
    return lines.prefix(rows).map { line in
      line.count <= columns ? line : "\(line.prefix(max(0, columns - 1)))…"
    }
  }

  /// Returns the totals in one line.
  package static func line(_ report: LogReport) -> String {
    let costs = LogText.costs(report.costs, logsHits: true).drop { $0 == " " }
    let storms = NumberText.counted(report.storms.count, "finding")
    return "\(NumberText.counted(report.lines, "line")): \(costs); \(storms)"
  }

  /// Returns a fault storm or a fetch in a loop in one line: `fault-storm(Country)   60 x #2`.
  package static func text(of storm: LogStorm) -> String {
    "\(storm.name)   \(NumberText.grouped(storm.count)) x #\(storm.statement)"
  }
}
