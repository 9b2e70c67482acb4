import ProfileEvents
import WorkbenchText

/// A log as a person reads it in a terminal: what was read, which statements cost what, what repeats.
package enum LogText {
  /// More statements than this are not printed; `--json` has them all.
  private static let limit = 30
  private static let sampleLimit = 10

  /// The whole of it, without ends of line.
  ///
  /// - Parameter showsBinds: whether bound values are in it; kept back if left out.
  package static func lines(_ report: LogReport, showsBinds: Bool = false) -> [String] {
    head(report) + statements(report) + (showsBinds ? binds(report) : []) + plans(report)
      + storms(report.storms, of: "")
      + sections(report) + samples(report)
  }

  private static func head(_ report: LogReport) -> [String] {
    let lines = NumberText.counted(report.lines, "line")
    let app = report.kinds[.app, default: 0] + report.kinds[.metadata, default: 0]
    var parts = [
      "\(NumberText.grouped(report.coreDataLines)) of Core Data's",
      "\(NumberText.grouped(app)) of others",
      "\(NumberText.grouped(report.kinds[.blank, default: 0])) blank",
      "\(NumberText.grouped(report.unrecognized)) not understood",
    ]
    if !report.firstTime.isEmpty { parts.append("\(report.firstTime) to \(report.lastTime)") }
    var head = ["\(report.file)   \(lines): \(parts.joined(separator: ", "))"]
    head.append(costs(report.costs, tellsHits: report.tellsHits))
    if let wrap = report.wrap {
      let place = wrap.kind == .anywhere ? "after" : "at the spaces before"
      head.append(
        "  its lines were broken \(place) column \(wrap.column) and are joined again")
    }
    if report.saveTimes.count > 0 {
      head.append(
        "saves took \(time(report.saveTimes.total)), the largest \(time(report.saveTimes.largest))")
    }
    if report.unmatchedTimes > 0 {
      head.append(
        "\(NumberText.counted(report.unmatchedTimes, "time")) without a statement: the log is cut")
    }
    return head
  }

  /// The counts of a part, in one line.
  static func costs(_ costs: LogCosts, tellsHits: Bool) -> String {
    let metrics: [Metric] =
      [.selects, .rows, .fetches] + (tellsHits ? [.hits] : [])
      + [.misses, .prefetches, .saves, .inserts, .updates, .deletes, .transactions]
    let shown = metrics.filter { costs[$0] > 0 || [.selects, .misses].contains($0) }
    return "  " + shown.map { $0.counted(costs[$0]) }.joined(separator: ", ")
      + (tellsHits ? "" : "; hits are not in Apple's log")
  }

  private static func statements(_ report: LogReport) -> [String] {
    guard !report.statements.isEmpty else { return [] }
    let sorted = report.statements.sorted {
      ($0.own, $0.calls, $1.number) > ($1.own, $1.calls, $0.number)
    }
    let heading = "      #   calls     total      mean       p95      rows  statement"
    let rows = sorted.prefix(limit).map { statement in
      let times = statement.times
      return "  " + NumberText.right("#\(statement.number)", 5)
        + NumberText.right(statement.calls, 8)
        + NumberText.right(times.count == 0 ? "" : time(times.total), 10)
        + NumberText.right(times.count == 0 ? "" : time(Int(times.mean)), 10)
        + NumberText.right(times.count == 0 ? "" : time(times.percentile(95)), 10)
        + NumberText.right(statement.kind == .select ? NumberText.grouped(statement.rows) : "", 10)
        + "  \(SQLAbbreviation.short(statement.sql))\(statement.isCut ? "…" : "")\(purpose(statement))"
    }
    let more = sorted.count - limit
    return ["", heading] + rows
      + (more > 0 ? ["  and \(NumberText.grouped(more)) more; --json has all"] : [])
  }

  /// What the statement was for, where the log says so.
  private static func purpose(_ statement: LogStatement) -> String {
    var parts: [String] = []
    let entity = statement.entity.map { " \($0)" } ?? ""
    if statement.objectFaults > 0 {
      parts.append("\(NumberText.grouped(statement.objectFaults)) x fault\(entity)")
    }
    if statement.relationshipFaults > 0 {
      parts.append("\(NumberText.grouped(statement.relationshipFaults)) x to-many fault")
    }
    if statement.prefetches > 0 {
      parts.append("\(NumberText.grouped(statement.prefetches)) x prefetch")
    }
    return parts.isEmpty ? "" : "   [\(parts.joined(separator: ", "))]"
  }

  /// The values of each statement's first run that has some.
  private static func binds(_ report: LogReport) -> [String] {
    let bound = report.statements.filter { !$0.binds.isEmpty }
    guard !bound.isEmpty else { return [] }
    return [""]
      + bound.prefix(limit).map { "  #\($0.number) bound: \($0.binds.joined(separator: ", "))" }
  }

  private static func plans(_ report: LogReport) -> [String] {
    report.statements.filter { !$0.plan.isEmpty || !$0.loggedPlan.isEmpty }.flatMap { statement in
      let plan = statement.plan.isEmpty ? statement.loggedPlan : statement.plan
      var lines = ["", "  #\(statement.number)  \(SQLAbbreviation.short(statement.sql))"]
      lines += plan.map { "      \($0)" }
      if !statement.verdict.isEmpty { lines.append("      \(statement.verdict)") }
      return lines
    }
  }

  /// The storms of a part, a line or two each.
  static func storms(_ storms: [LogStorm], of part: String) -> [String] {
    guard !storms.isEmpty else { return [] }
    return [""]
      + storms.flatMap { storm in
        let runs =
          storm.runs == 1
          ? "" : " in \(storm.runs) runs, the longest \(NumberText.grouped(storm.longest))"
        return [
          "  ! \(storm.name)   \(NumberText.grouped(storm.count)) x #\(storm.statement)\(runs), "
            + "\(time(storm.microseconds)), from line \(storm.firstLine)"
            + (storm.firstTime.isEmpty ? "" : " (\(storm.firstTime))"),
          "    \(storm.cure)",
        ]
      }
  }

  private static func sections(_ report: LogReport) -> [String] {
    report.sections.flatMap { section in
      [
        "", "  \(section.name)   lines \(section.firstLine) to \(section.lastLine)",
        "  " + costs(section.costs, tellsHits: report.tellsHits),
      ]
    }
  }

  private static func samples(_ report: LogReport) -> [String] {
    let complaints = report.complaints.prefix(sampleLimit).map { sample in
      "  \(sample.logClass.rawValue): line \(sample.line)\(many(sample)): \(sample.text)"
    }
    let others = report.unrecognizedLines.prefix(sampleLimit).map { sample in
      "  not understood: line \(sample.line)\(many(sample)): \(sample.logClass.rawValue): \(sample.text)"
    }
    return (complaints.isEmpty ? [] : [""] + complaints) + (others.isEmpty ? [] : [""] + others)
  }

  private static func many(_ sample: LogSample) -> String {
    sample.count == 1 ? "" : " and \(NumberText.grouped(sample.count - 1)) more"
  }

  /// `5.3 ms`, `12,345 ms`: a log's times have four places of a second.
  private static func time(_ microseconds: Int) -> String {
    guard microseconds < 1_000_000 else { return NumberText.grouped(microseconds / 1_000) + " ms" }
    return "\(microseconds / 1_000).\(microseconds % 1_000 / 100) ms"
  }
}
