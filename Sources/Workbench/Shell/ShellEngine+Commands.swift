import OpenCoreData
import ProfileEvents

extension ShellEngine {
  /// Runs a command.
  func run(_ command: ShellCommand, _ arguments: ShellArguments) throws -> ShellAnswer {
    switch command {
    case .open: try open(arguments)
    case .last: try last()
    case .explain: try explain(arguments)
    case .findings: ShellAnswer(findings())
    case .stats: try stats()
    case .reset: try reset()
    case .diff: try diff(arguments)
    case .saveScenario: try saveScenario(arguments)
    case .entities: try entities(arguments)
    case .sql: try setSQLLevel(arguments)
    case .help: try help(arguments)
    case .quit: ShellAnswer(ends: true)
    }
  }

  /// What the last step did, alike events together, numbered over the whole try.
  private func last() throws -> ShellAnswer {
    let recording = try openSession().recording
    guard let step = recording.steps.last else {
      throw ShellFailure("no step has run in this try", nextStep: "run one: `\(Verb.fetch.usage)`")
    }
    let groups = recording.groups(of: step)
    guard !groups.isEmpty else {
      return ShellAnswer("  no fetch, fault, save or statement: `\(step.text)` did it in memory")
    }
    return ShellAnswer(EventGroup.lines(groups))
  }

  /// The plan of a group's statement, with the verdict that follows from plan and count.
  private func explain(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    let groups = session.recording.groups
    guard let last = groups.last else {
      throw ShellFailure("no statement has run in this try", nextStep: "run a step, then `last`")
    }
    let group: EventGroup
    if let word = arguments.words.first {
      let number = try ShellArguments.number(
        word, in: 1...last.number, of: "numbers of this try",
        nextStep: "`last` shows those of the last step")
      group = groups[number - 1]
    } else {
      guard let only = groups.last(where: { $0.sql != nil }) else {
        throw ShellFailure("no statement has run in this try", nextStep: "run a step, then `last`")
      }
      group = only
    }
    guard let sql = group.sql else {
      let how = group.source == .rowCache ? ": the row cache had the rows" : ""
      return ShellAnswer("  #\(group.number) ran no statement\(how)")
    }
    let reader = try PlanReader(
      storeURL: session.storeURL, isOpenElsewhere: !session.isReadOnly)
    let lines = reader.lines(of: sql)
    guard !lines.isEmpty else {
      return ShellAnswer("  no plan: the statement looks nothing up")
    }
    guard lines.first?.hasPrefix("no plan") == false else {
      // The reason stands on the first line; the statement is on `last` already.
      let reason = lines.first?.split(separator: "\n").first.map(String.init)
      throw ShellFailure(
        reason ?? "no plan", nextStep: "SQLite alone cannot explain this statement")
    }
    let verdict = PlanVerdict(sql: sql, lines: lines, count: group.count)
    let facts =
      PlanText.work(group.work, runs: group.count)
      + [reader.estimate(of: sql)?.description].compactMap { $0 }
    let plan =
      ShellEngine.untreed(lines) + [verdict.sentence]
      + (facts.isEmpty ? [] : [facts.joined(separator: " · ")])
    return ShellAnswer((explainedPredicate(of: group, in: session) + plan).map { "  " + $0 })
  }

  /// What `cdprof predicate` says of a fetch's predicate, without the SQL that `last` shows.
  private func explainedPredicate(of group: EventGroup, in session: Session) -> [String] {
    guard group.word == "fetch" || group.word == "count",
      let step = current.steps.last(where: { step in
        session.recording.steps.contains {
          $0.location == step.location && $0.text == step.text && group.firstEvent > $0.after
            && group.firstEvent <= $0.through
        }
      }), case .predicate(let format)? = step.option(.predicate),
      let explanation = try? PredicateExplanation(
        format, entity: step.subject, model: session.model)
    else { return [] }
    return PredicateText.lines(explanation, [.format, .tree, .binds])
  }

  /// A plan of one line without the branch in front of it.
  private static func untreed(_ lines: [String]) -> [String] {
    guard lines.count == 1, let line = lines.first, line.hasPrefix("`--") else { return lines }
    return [String(line.dropFirst(3))]
  }

  private func findings() -> [String] {
    let work = session.map {
      FinishedWork(recording: $0.recording, steps: current.steps, model: $0.model)
    }
    let findings = current.groupedFindings + (work.map { Finding.Rule.findings(in: $0) } ?? [])
    guard !findings.isEmpty else { return ["  none in this try"] }
    return findings.flatMap { finding in
      let place = finding.callSite.map { " from line \($0.line)" } ?? ""
      var lines = [
        "  ! \(finding.name): \(NumberText.grouped(finding.count)) \(finding.what)\(place)"
      ]
      if let now = finding.cure.now { lines.append("      now   \(now)") }
      lines.append("      cure  \(finding.cure.text)")
      if let step = finding.cure.step { lines.append("      try   \(step)") }
      return lines
    }
  }

  private func stats() throws -> ShellAnswer {
    let recording = try openSession().recording
    let steps = NumberText.counted(recording.steps.count, "step")
    var lines = ["  \(current.name), \(steps)"]
    for metric in Metric.allCases where metric != .time {
      let value = recording.value(of: metric)
      lines.append(
        "  " + NumberText.left(metric.rawValue, 12) + NumberText.right(value, 9))
    }
    lines.append(
      "  " + NumberText.left(Metric.time.rawValue, 12)
        + NumberText.right(NumberText.time(recording.nanoseconds), 9)
        + "   (this machine; never a gate)")
    return ShellAnswer(lines)
  }

  /// Sets or tells how much SQL is logged.
  private func setSQLLevel(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let level = try ShellArguments.number(
        word, in: 0...4, of: "levels", nextStep: "write for example `sql 1`, or `sql 0` for silence"
      )
      if let sqlLog { session?.remove(sqlLog.sink) }
      sqlLog = nil
      if level > 0 {
        let sink = SQLDebugLog(level: level, write: log)
        sqlLog = (level, sink)
        session?.add(sink)
      }
    }
    let level = sqlLog?.level ?? 0
    return ShellAnswer(
      "  SQL log: level \(level)" + (level == 0 ? ", nothing" : ", on standard error"))
  }
}
