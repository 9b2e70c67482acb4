import ManagedModel
import ProfileEvents
import WorkbenchText

/// The report of a log for a terminal: the lines read, the cost of each statement, and repeated
/// statements.
package enum LogText {
  /// The maximum number of statements to print.
  ///
  /// `--json` contains all.
  private static let limit = 30
  private static let sampleLimit = 10

  /// Returns the lines of the report, without newlines.
  ///
  /// - Parameters:
  ///   - report: The report.
  ///   - showsBinds: Whether the lines include bound values.
  package static func lines(_ report: LogReport, showsBinds: Bool = false) -> [String] {
    head(report) + statements(report) + (showsBinds ? binds(report) : []) + plans(report)
      + storms(report.storms)
      + sections(report) + samples(report)
  }

  private static func head(_ report: LogReport) -> [String] {
    let lines = NumberText.counted(report.lines, "line")
    let app = report.kinds[.app, default: 0] + report.kinds[.metadata, default: 0]
    let sections = report.kinds[.section, default: 0]
    // The numbers outside of parentheses add up to that of the lines.
    var parts = [
      "\(NumberText.grouped(report.coreDataLines)) from Core Data "
        + "(\(NumberText.grouped(report.unrecognized)) unrecognized)"
    ]
    if sections > 0 { parts.append(NumberText.counted(sections, "section mark")) }
    parts += [
      "\(NumberText.grouped(app)) from other sources",
      "\(NumberText.grouped(report.kinds[.blank, default: 0])) blank",
    ]
    if !report.firstTime.isEmpty { parts.append("\(report.firstTime) to \(report.lastTime)") }
    var head = ["\(report.file)   \(lines): \(parts.joined(separator: ", "))"]
    head.append(costs(report.costs, suffix: hitsNote(report)))
    if let wrap = report.wrap {
      let position = wrap.kind == .anywhere ? "after" : "at the spaces before"
      head.append(
        "  lines wrapped \(position) column \(wrap.column) were rejoined")
    }
    if report.saveTimes.count > 0 {
      head.append(
        "saves took \(time(report.saveTimes.total)), the largest \(time(report.saveTimes.largest))")
    }
    if report.leftOutSections > 0 {
      head.append(
        "\(NumberText.counted(report.leftOutSections, "section")) beyond the limit of "
          + "\(NumberText.grouped(InputLimits.logSections)) aren't counted separately")
    }
    if report.sectionsWithoutStatements > 0 {
      head.append(
        "the statements of \(NumberText.counted(report.sectionsWithoutStatements, "section")) "
          + "aren't kept: all sections together have more than "
          + NumberText.grouped(InputLimits.sectionStatements))
    }
    if report.sectionsWithoutSubjects > 0 {
      head.append(
        "\(NumberText.counted(report.sectionsWithoutSubjects, "section")) without separate counts: "
          + LogBudgetEvaluator.noSubjects)
    }
    if report.unmatchedTimes > 0 {
      head.append(
        "\(NumberText.counted(report.unmatchedTimes, "time")) without a statement: the log is "
          + "truncated, or its lines don't name the threads that wrote them")
    }
    return head
  }

  /// Returns the counts of a log or a section in one line.
  ///
  /// - Parameters:
  ///   - costs: The counts.
  ///   - suffix: The text to append.
  package static func costs(_ costs: LogCosts, suffix: String = "") -> String {
    let metrics: [Metric] = [
      .selects, .rows, .fetches, .hits, .misses, .prefetches, .saves, .inserts, .updates, .deletes,
      .transactions,
    ]
    let shown = metrics.filter { costs[$0] > 0 || [.selects, .misses].contains($0) }
    return "  " + shown.map { $0.counted(costs[$0]) }.joined(separator: ", ") + suffix
  }

  /// Returns a suffix for the counts of a log without row-cache hits; empty for other logs.
  package static func hitsNote(_ report: LogReport) -> String {
    report.logsHits ? "" : "; Core Data doesn't log row-cache hits"
  }

  private static func statements(_ report: LogReport) -> [String] {
    guard !report.statements.isEmpty else { return [] }
    let sorted = report.statementsByTime
    var rows = sorted.prefix(limit).map { statement in
      let times = statement.times
      let hasTimes = times.count > 0
      return [
        "#\(statement.number)", NumberText.grouped(statement.calls),
        hasTimes ? time(times.total) : "", hasTimes ? time(Int(times.mean)) : "",
        hasTimes ? time(times.percentile(95)) : "",
        statement.kind == .select ? NumberText.grouped(statement.rows) : "",
        "\(SQLAbbreviation.short(statement.sql))\(statement.isTruncated ? "…" : "")\(purpose(statement))",
      ]
    }
    rows.insert(["#", "calls", "total", "mean", "p95", "rows", "statement"], at: 0)
    let more = sorted.count - limit
    return [""] + aligned(rows)
      + (more > 0 ? ["  and \(NumberText.grouped(more)) more; use --json to list all"] : [])
  }

  /// Returns rows with each column but the last right-aligned, two spaces apart.
  static func aligned(_ rows: [[String]]) -> [String] {
    let widths = (0..<(rows.first?.count ?? 0)).map { column in
      rows.map { TextWidth.of($0[column]) }.max() ?? 0
    }
    return rows.map { row in
      "  "
        + zip(row, widths).dropLast().map { NumberText.right($0, $1) }.joined(separator: "  ")
        + "  " + (row.last ?? "")
    }
  }

  /// Returns the purpose of the statement, if the log contains it.
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

  /// Returns the bound values of each listed statement, from its first execution that has some.
  private static func binds(_ report: LogReport) -> [String] {
    let bound = report.statementsByTime.prefix(limit).filter { !$0.binds.isEmpty }
    guard !bound.isEmpty else { return [] }
    return [""] + bound.map { "  #\($0.number) bound: \($0.binds.joined(separator: ", "))" }
  }

  /// Returns the plan of each listed statement that has one.
  private static func plans(_ report: LogReport) -> [String] {
    let listed = report.statementsByTime.prefix(limit)
    return listed.filter { !$0.plan.isEmpty || !$0.loggedPlan.isEmpty }.flatMap { statement in
      let plan = statement.plan.isEmpty ? statement.loggedPlan : statement.plan
      var lines = ["", "  #\(statement.number)  \(SQLAbbreviation.short(statement.sql))"]
      lines += plan.map { "      \($0)" }
      if !statement.assessment.isEmpty { lines.append("      \(statement.assessment)") }
      return lines
    }
  }

  /// Returns two lines for each fault storm or fetch loop.
  private static func storms(_ storms: [LogStorm]) -> [String] {
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
          "    \(storm.fix)",
        ]
      }
  }

  private static func sections(_ report: LogReport) -> [String] {
    report.sections.flatMap { section in
      [
        "", "  \(section.name)   lines \(section.firstLine) to \(section.lastLine)",
        "  " + costs(section.costs, suffix: hitsNote(report)),
      ]
    }
  }

  private static func samples(_ report: LogReport) -> [String] {
    let problems = report.problems.prefix(sampleLimit).map { sample in
      "  \(sample.logClass.name): line \(sample.line)\(many(sample)): \(sample.text)"
    }
    let others = report.unrecognizedLines.prefix(sampleLimit).map { sample in
      "  unrecognized: line \(sample.line)\(many(sample)): \(sample.logClass.name): \(sample.text)"
    }
    return (problems.isEmpty ? [] : [""] + problems) + (others.isEmpty ? [] : [""] + others)
  }

  private static func many(_ sample: LogSample) -> String {
    sample.count == 1 ? "" : " and \(NumberText.grouped(sample.count - 1)) more"
  }

  /// Returns a time, such as `5.3 ms` or `12,345 ms`.
  ///
  /// Times in a log have four decimal places of a second.
  static func time(_ microseconds: Int) -> String {
    guard microseconds < 999_950 else {
      return NumberText.grouped((microseconds + 500) / 1_000) + " ms"
    }
    let tenths = (microseconds + 50) / 100
    return "\(tenths / 10).\(tenths % 10) ms"
  }
}

/// The report of a log that's still being written, for a terminal.
package enum LogLiveText {
  /// Returns a table that fits a terminal: the totals, fault storms and fetch loops, and the
  /// statements that took longest.
  ///
  /// - Parameters:
  ///   - report: The report of the lines so far.
  ///   - rows: The number of lines that fit.
  ///   - columns: The number of columns of the terminal.
  package static func table(_ report: LogReport, rows: Int, columns: Int) -> [String] {
    var lines = [
      "\(NumberText.counted(report.lines, "line")), \(NumberText.grouped(report.coreDataLines)) "
        + "from Core Data; Ctrl-C ends with the summary   \(report.file)",
      LogText.costs(report.costs, suffix: LogText.hitsNote(report)),
    ]
    let left = max(0, rows - lines.count)
    let storms = report.storms.prefix(left / 3).map { "  ! \(text(of: $0))" }
    lines += storms
    let shown = report.statementsByTime.prefix(max(0, left - storms.count - 1)).map { statement in
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
      TextWidth.truncated(PrintableText.line(line), columns: columns)
    }
  }

  /// Returns the totals in one line.
  package static func line(_ report: LogReport) -> String {
    let costs = LogText.costs(report.costs).drop { $0 == " " }
    let storms = NumberText.counted(report.storms.count, "finding")
    return "\(NumberText.counted(report.lines, "line")): \(costs); \(storms)"
  }

  /// Returns a fault storm or a fetch loop in one line: `fault-storm(Country)   60 x #2`.
  package static func text(of storm: LogStorm) -> String {
    "\(storm.name)   \(NumberText.grouped(storm.count)) x #\(storm.statement)"
  }
}
