import Foundation
package import LogAnalysis
import ProfileEvents
import RunResults
import StatementAnalysis
import WorkbenchText

extension LogReportFormat {
  /// Returns the executions of a log as a trace in the form of a run's (`TraceReport`).
  ///
  /// Each thread is a process; the sections of the log are steps of the first one. Time 0 is that
  /// of the first statement. Changes and transactions, whose durations the log doesn't contain,
  /// have the duration 0.
  ///
  /// - Throws: An `InvalidInputError` if no statement has a time of day.
  static func trace(_ report: LogReport) throws(InvalidInputError) -> Data {
    let placed = PlacedExecutions(report)
    guard !placed.all.isEmpty else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(InputFile.name(report.file)) has no times of day, which a trace needs to "
          + "place statements",
        nextStep: "use the output of `log show` or Console, or lines with the time that NSLog adds")
    }
    var about = JSONFields()
    about.add("log", report.file)
    about.add("begin", report.firstTime)
    about.add("executions", placed.all.count)
    about.add("left out", report.untraced)
    about.add("cdprof", ToolVersion.current)
    return TraceReport.data(about: about, placed.processes)
  }
}

extension LogReport {
  /// The number of executions that aren't in the trace, and the reason, in words; `nil` if all are.
  package var untraced: String? {
    let all = statements.reduce(0) { $0 + $1.calls }
    let missing = all - PlacedExecutions(self).all.count
    guard missing > 0 else { return nil }
    let most = timeline?.leftOut ?? 0 > 0
    return "not in the trace: \(NumberText.counted(missing, of: all, "execution")), "
      + (most
        ? "of which it contains at most \(NumberText.grouped(InputLimits.tracedExecutions))"
        : "for which the log has no duration, or no time of day within a month of the first")
  }
}

/// The executions of a log on the time axis of a trace.
private struct PlacedExecutions {
  typealias Placed = (execution: LogTimeline.Execution, mark: Timeline.Mark)

  private let report: LogReport
  /// The executions, in the order of their lines.
  private(set) var all: [Placed] = []

  init(_ report: LogReport) {
    self.report = report
    let sorted = (report.timeline?.executions ?? []).sorted { $0.line < $1.line }
    guard let first = sorted.first?.seconds else { return }
    let near = sorted.filter { abs($0.seconds - first) <= Double(InputLimits.tracedTime) }
    let origin = near.map(\.seconds).min() ?? first
    var threads: [String: Sequence] = [:]
    all = near.map { execution in
      let begin = UInt64(((execution.seconds - origin) * 1e9).rounded())
      let mark = threads[execution.thread, default: Sequence()].place(execution, at: begin)
      return (execution, mark)
    }
  }

  /// Places the executions of a thread one after another.
  ///
  /// The times of a log often have only milliseconds, so that several executions seem to begin
  /// together. An execution whose line comes after the end of another begins after that.
  private struct Sequence {
    private static let resolution: UInt64 = 1_000_000
    private var open: [(lastLine: Int, end: UInt64)] = []
    private var end: UInt64 = 0

    mutating func place(
      _ execution: LogTimeline.Execution, at begin: UInt64
    ) -> Timeline.Mark {
      for closed in open where closed.lastLine < execution.line { end = max(end, closed.end) }
      open.removeAll { $0.lastLine < execution.line }
      let start = end > begin && end - begin <= Sequence.resolution ? end : begin
      let mark = Timeline.Mark(
        begin: start, duration: UInt64(execution.microseconds) * 1_000, rows: execution.rows)
      open.append((execution.lastLine, mark.end))
      return mark
    }
  }

  /// A process for each thread, in the order of their first executions.
  var processes: [VariantResult] {
    var names: [String] = []
    var threads: [String: [Placed]] = [:]
    for placed in all {
      if threads[placed.execution.thread] == nil { names.append(placed.execution.thread) }
      threads[placed.execution.thread, default: []].append(placed)
    }
    return names.enumerated().map { index, name in
      var process = VariantResult(name: name.isEmpty ? report.file : "thread \(name)")
      process.timeline.lanes = (threads[name] ?? []).flatMap(lanes)
      if index == 0 { process.steps = sections }
      return process
    }
  }

  /// The sections that contain executions, from the first to the end of the last.
  private var sections: [StepResult] {
    // Both are in the order of their lines.
    var rest = all[...]
    return report.sections.compactMap { section in
      rest = rest.drop { $0.execution.line < section.firstLine }
      let marks = rest.prefix { $0.execution.line <= section.lastLine }.map(\.mark)
      guard let begin = marks.map(\.begin).min(), let end = marks.map(\.end).max() else {
        return nil
      }
      return StepResult(
        text: section.name, location: CallSite(file: report.file, line: section.firstLine),
        summary: NumberText.counted(marks.count, "execution"),
        costs: TimedCosts(nanoseconds: end - begin), offset: begin)
    }
  }

  /// Returns the event of a statement, and the fetch, fault, or prefetch that executed it.
  private func lanes(_ placed: Placed) -> [Timeline.Lane] {
    let statement = report.statements[placed.execution.statement - 1]
    var lane = Timeline.Lane(kind: .statement)
    lane.entity = statement.entity ?? statement.table
    lane.statement = statement.kind
    lane.sql = statement.sql
    lane.callSite = CallSite(file: report.file, line: placed.execution.line)
    lane.marks = [placed.mark]
    var purpose = lane
    purpose.statement = nil
    switch placed.execution.purpose {
    case .fetch: purpose.kind = .fetch
    case .objectFault(let entity):
      (purpose.kind, purpose.entity, purpose.source) = (.objectFault, entity, .database)
    case .relationshipFault(let subject):
      let parts = subject.split(separator: ".", maxSplits: 1).map(String.init)
      (purpose.kind, purpose.source) = (.relationshipFault, .database)
      (purpose.entity, purpose.relationship) = (parts.first, parts.dropFirst().first)
    case .prefetch(let relationship):
      purpose.kind = .prefetch
      if let relationship { (purpose.entity, purpose.relationship) = (nil, relationship) }
    case .change: return [lane]
    }
    return [purpose, lane]
  }
}
