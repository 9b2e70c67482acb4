import Foundation
import ProfileEvents
import RunResults
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// A result as JSON Lines, for `jq`, databases, and scripts: the run, its variants with their
/// statements and findings, and each event.
///
/// Variants are in the order of the file, their steps and events in the order of their start. The
/// report doesn't contain bound values or the paths of stores.
enum JSONLinesReport {
  /// Returns a result's lines as UTF-8, with a line feed after each line.
  ///
  /// - Parameters:
  ///   - result: The result.
  ///   - labels: What identifies the run, in each line.
  static func data(_ result: RunResult, labels: [ReportLabel] = []) -> Data {
    let origin = ReportLine(
      scenario: result.scenario, machine: result.environment.machine, labels: labels)
    let event = ReportLine(scenario: result.scenario, machine: nil, labels: labels)
    var data = Data()
    func add(_ line: ReportLine) { data += Data((line.text + "\n").utf8) }
    add(run(result, origin))
    for variant in result.variants {
      add(totals(variant, origin))
      for statement in variant.statements { add(line(statement, variant.name, origin)) }
      for finding in variant.findings { add(line(finding, variant.name, origin)) }
      for line in events(variant, event) { add(line) }
    }
    return data
  }

  private static func run(_ result: RunResult, _ origin: ReportLine) -> ReportLine {
    var line = origin.line(.run)
    // `OutputMark` recognizes the file by this key of the first line.
    line.add("cdprof", result.environment.cdprof)
    line.add("sqlite", result.environment.sqlite)
    line.add("swift", result.environment.swift)
    line.add("build", result.environment.build)
    line.add("jobs", result.environment.jobs)
    line.add("engine", result.engine?.text)
    line.add("file", result.file)
    line.add("seed", result.seed)
    line.add("scale", result.scale)
    line.add("passes", result.passes)
    return line
  }

  private static func totals(_ variant: VariantResult, _ origin: ReportLine) -> ReportLine {
    var line = origin.line(.variant, in: variant.name)
    line.add("passes", variant.passes)
    line.add("nanoseconds", variant.nanoseconds)
    line.add("repeats", max(1, variant.repeats.count))
    line.add("counts", variant.metrics.filter { $0.key.isExact })
    return line
  }

  private static func line(
    _ statement: StatementShape, _ variant: String, _ origin: ReportLine
  ) -> ReportLine {
    var line = origin.line(.statementTotals, in: variant)
    line.add("number", statement.number)
    line.add("statement", statement.kind.rawValue)
    line.add("entity", statement.entity)
    line.add("executions", statement.count)
    line.add("timed", statement.count)
    line.add("rows", statement.rows)
    line.add("nanoseconds", statement.nanoseconds)
    line.add("sql", statement.sql)
    line.add("normalized", NormalizedSQL.text(statement.sql))
    line.add("location", statement.firstCallSite)
    return line
  }

  private static func line(
    _ finding: Finding, _ variant: String, _ origin: ReportLine
  ) -> ReportLine {
    var line = origin.line(.finding, in: variant)
    line.add("finding", finding.name)
    line.add("rule", finding.rule.rawValue)
    line.add("subject", finding.subject)
    line.add("count", finding.count)
    line.add("location", finding.callSite)
    return line
  }

  private static func events(_ variant: VariantResult, _ origin: ReportLine) -> [ReportLine] {
    var lines: [(begin: UInt64, line: ReportLine)] = variant.steps.map { step in
      var line = origin.line(.step, in: variant.name)
      line.add("at", step.offset)
      line.add("nanoseconds", step.costs.nanoseconds)
      line.add("step", step.text)
      line.add("location", step.location)
      return (step.offset, line)
    }
    lines += variant.timeline.events.map { lane, mark in
      (mark.begin, line(lane, mark, variant.name, origin))
    }
    var sorted = lines.enumerated().sorted {
      ($0.element.begin, $0.offset) < ($1.element.begin, $1.offset)
    }.map(\.element.line)
    if variant.timeline.leftOut > 0 {
      var line = origin.line(.leftOut, in: variant.name)
      line.add("count", variant.timeline.leftOut)
      sorted.append(line)
    }
    return sorted
  }

  private static func line(
    _ lane: Timeline.Lane, _ mark: Timeline.Mark, _ variant: String, _ origin: ReportLine
  ) -> ReportLine {
    var line = origin.line(lane.kind, in: variant)
    line.add("at", mark.begin)
    line.add("nanoseconds", mark.duration)
    line.add("context", lane.context)
    line.add("entity", lane.entity)
    line.add("relationship", lane.relationship)
    line.add("object", lane.uri(of: mark))
    line.add("source", lane.source?.rawValue)
    line.add("rows", mark.rows)
    line.add("statement", lane.statement?.rawValue)
    line.add("sql", lane.sql)
    line.add("location", lane.callSite)
    return line
  }
}
