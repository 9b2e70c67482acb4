import Foundation
import LogAnalysis
import ProfileEvents
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

extension LogReportFormat {
  /// Returns a log as JSON Lines: the log, its sections, its statements, and its findings.
  ///
  /// Bound values are included only if the input requests them.
  static func lines(_ input: LogReportInput) -> Data {
    let report = input.report
    let origin = ReportLine(log: report.file, labels: input.labels)
    var lines = [head(report, origin)]
    lines += report.sections.enumerated().map { index, section in
      var line = origin.line(.section)
      line.add("section", section.name)
      line.add("firstLine", section.firstLine)
      line.add("lastLine", section.lastLine)
      line.add("passes", input.evaluation?.results[index]?.allSatisfy(\.isMet))
      line.add("nanoseconds", microseconds: section.costs.microseconds)
      line.add("counts", counts(section.costs, in: report))
      return line
    }
    lines += report.statements.map {
      self.line($0, origin, showsBinds: input.showsBinds)
    }
    lines += report.storms.map { storm in
      var line = origin.line(.finding)
      line.add("finding", storm.name)
      line.add("rule", storm.kind.rawValue)
      line.add("subject", storm.subject)
      line.add("count", storm.count)
      line.add("longest", storm.longest)
      line.add("nanoseconds", microseconds: storm.microseconds)
      return line
    }
    return Data(lines.map { $0.text + "\n" }.joined().utf8)
  }

  private static func head(_ report: LogReport, _ origin: ReportLine) -> ReportLine {
    var line = origin.line(.log)
    // `OutputMark` recognizes the file by this key of the first line.
    line.add("cdprof", ToolVersion.current)
    line.add("lines", report.lines)
    line.add("firstTime", report.firstTime.isEmpty ? nil : report.firstTime)
    line.add("lastTime", report.lastTime.isEmpty ? nil : report.lastTime)
    line.add("nanoseconds", microseconds: report.microseconds)
    line.add("counts", counts(report.costs, in: report))
    return line
  }

  private static func line(
    _ statement: LogStatement, _ origin: ReportLine, showsBinds: Bool
  ) -> ReportLine {
    let times = statement.times
    let hasTimes = times.count > 0
    var line = origin.line(.statementTotals)
    line.add("number", statement.number)
    line.add("statement", statement.kind.rawValue)
    line.add("table", statement.table)
    line.add("entity", statement.entity)
    line.add("executions", statement.calls)
    line.add("timed", times.count)
    line.add("rows", statement.rows)
    line.add("nanoseconds", microseconds: statement.own)
    line.add("medianNanoseconds", microseconds: hasTimes ? times.percentile(50) : nil)
    line.add("maxNanoseconds", microseconds: hasTimes ? times.largest : nil)
    line.add("faults", statement.objectFaults + statement.relationshipFaults)
    line.add("prefetches", statement.prefetches)
    line.add("truncated", statement.isTruncated ? true : nil)
    line.add("sql", statement.sql)
    line.add("normalized", NormalizedSQL.text(statement.sql))
    if showsBinds, !statement.binds.isEmpty { line.add("binds", statement.binds) }
    return line
  }

  private static func counts(_ costs: LogCosts, in report: LogReport) -> [Metric: Int] {
    let available = Metric.allCases.filter { $0.isAvailableInLogs(withHits: report.logsHits) }
    return Dictionary(uniqueKeysWithValues: available.map { ($0, costs.value(of: $0)) })
  }
}
