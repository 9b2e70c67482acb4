import OpenCoreData
import ProfileEvents
import Profiling
import RunResults
import SQLiteDriver
import ScenarioLanguage
import StatementAnalysis
import StoreTools
import WorkbenchText

extension ShellEngine {
  /// Runs a command.
  ///
  /// - Throws: A `CommandFailure` for a command that reads or writes files in a confined shell.
  func run(_ command: ShellCommand, _ arguments: ShellArguments) throws -> ShellAnswer {
    if isConfined, command.usesFiles {
      throw CommandFailure(
        "`\(command.rawValue)` reads or writes files, which this shell can't",
        nextStep: "use `cdprof shell` in a terminal")
    }
    return try execute(command, arguments)
  }

  private func execute(
    _ command: ShellCommand, _ arguments: ShellArguments
  ) throws -> ShellAnswer {
    switch command {
    case .open: try open(arguments)
    case .use: try use(arguments)
    case .stores: stores()
    case .close: try close(arguments)
    case .last: try last()
    case .explain: try explain(arguments)
    case .advise: try advise(arguments)
    case .stack: try stack(arguments)
    case .findings: findings()
    case .stats: try stats()
    case .reset: try reset()
    case .diff: try diff(arguments)
    case .saveScenario: try saveScenario(arguments)
    case .saveStore: try saveStore(arguments)
    case .report: try report(arguments)
    case .entities: try entities(arguments)
    case .show: try show(arguments.words)
    case .schema: try schema(arguments)
    // Its line isn't split into words; see `query(in:)`.
    case .sqlite: throw CommandFailure("expected a query", nextStep: "write `\(command.usage)`")
    // Their lines aren't split into words either.
    case .repetition, .time, .again:
      throw CommandFailure("expected a line", nextStep: "write `\(command.usage)`")
    case .sql: try setSQLLevel(arguments)
    case .record: try setRecording(arguments)
    case .mode: try setMode(arguments)
    case .output: try setOutput(arguments)
    case .pager: try setPager(arguments)
    case .source: try source(arguments)
    case .help: try help(arguments)
    case .quit: ShellAnswer(ends: true)
    }
  }

  /// Lists the groups of events of the last step, numbered across the run.
  private func last() throws -> ShellAnswer {
    _ = try openSession()
    let current = current
    guard let step = current.results.last else {
      throw CommandFailure(
        "no step has run yet", nextStep: "run one: `\(Verb.fetch.usage)`")
    }
    let groups = Array(current.groups[current.lastGroups])
    let table = ShellTable(
      ["number", "count", "what", "subject", "source", "rows", "nanoseconds", "sql"],
      groups.map { group in
        [
          .number(group.number), .number(group.count), .text(group.word), .text(group.subject),
          group.sourceWord.isEmpty ? .null : .text(group.sourceWord), .number(group.rows),
          .time(group.nanoseconds), group.sql.map(ShellTable.Cell.text) ?? .null,
        ]
      })
    guard !groups.isEmpty else {
      return ShellAnswer(
        ["  no fetches, faults, saves, or statements: `\(step.text)` ran in memory"], table: table)
    }
    return ShellAnswer(EventGroup.lines(groups), table: table)
  }

  /// Explains the query plan of a group's statement, with an assessment of plan and count.
  private func explain(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    let group: EventGroup
    if let word = arguments.words.first {
      group = try self.group(word)
    } else {
      guard let only = current.groups.last(where: { $0.sql != nil }) else {
        throw CommandFailure(
          "no statement has run yet", nextStep: "run a step, then `last`")
      }
      group = only
    }
    guard let sql = group.sql else {
      let how = group.source == .rowCache ? ": its rows were in the row cache" : ""
      return ShellAnswer("  #\(group.number) ran no statement\(how)")
    }
    let reader = try PlanReader(
      storeURL: session.storeURL, isOpenElsewhere: !session.isReadOnly)
    let binds = session.recording.statementShapes.first { $0.sql == sql }?.binds
    let lines = reader.lines(of: sql, binds: binds)
    guard !lines.isEmpty else {
      return ShellAnswer("  no plan: the statement doesn't read a table")
    }
    guard lines.first?.hasPrefix("no plan") == false else {
      // `last` already shows the statement.
      throw CommandFailure(
        lines.first ?? "no plan", nextStep: "SQLite can't explain this statement")
    }
    let assessment = PlanAssessment(
      sql: sql, lines: lines, count: group.count, present: reader.present)
    let facts =
      PlanText.work(group.work, runs: group.count)
      + [reader.estimate(of: sql, binds: binds)?.description].compactMap { $0 }
    let plan =
      ShellEngine.withoutBranchMarks(lines) + [assessment.text]
      + (facts.isEmpty ? [] : [facts.joined(separator: " · ")])
    return ShellAnswer((explainedPredicate(of: group, in: session) + plan).map { "  " + $0 })
  }

  /// Returns the group of events with a number of `last`.
  ///
  /// - Throws: A problem at the word if there's no such group.
  func group(_ word: Word) throws -> EventGroup {
    let groups = current.groups
    guard let last = groups.last else {
      throw CommandFailure("nothing has run yet", nextStep: "run a step, then `last`")
    }
    let number = try ShellArguments.number(
      word, in: 1...last.number, of: "numbers of this run",
      nextStep: "`last` shows those of the last step")
    return groups[number - 1]
  }

  /// Returns the explanation of a fetch's predicate, without the SQL, which `last` shows.
  private func explainedPredicate(of group: EventGroup, in session: Session) -> [String] {
    guard group.word == "fetch" || group.word == "count",
      let index = current.results.firstIndex(where: { result in
        result.groups.contains { $0.number == group.number }
      }), let step = current.steps.first(where: { $0.text == current.results[index].text }),
      let format = step.format(of: .predicate),
      let explanation = try? PredicateExplanation(
        format, entity: step.subject, model: session.model, mapping: fileMapping(of: session))
    else { return [] }
    return PredicateText.lines(explanation, [.format, .tree, .binds])
  }

  /// Returns the model mapped to the file of a session, with the file's entity IDs.
  private func fileMapping(of session: Session) throws -> SQLModel {
    let connection = try StoreConnection.open(
      path: session.storeURL.path, access: session.isReadOnly ? .inspecting : .reading)
    defer { connection.close() }
    return try session.mapping(on: connection)
  }

  /// Returns a plan without the branch mark if it has only one line.
  private static func withoutBranchMarks(_ lines: [String]) -> [String] {
    guard lines.count == 1, let line = lines.first, line.hasPrefix("`--") else { return lines }
    return [String(line.dropFirst(3))]
  }

  private func findings() -> ShellAnswer {
    let found = target?.found ?? FindingSearch.Found()
    let findings = found.findings
    let table = ShellTable(
      ["name", "count", "what", "line", "now", "fix", "step"],
      findings.map { finding in
        [
          .text(finding.name), .number(finding.count), .text(finding.what),
          finding.callSite.map { .number($0.line) } ?? .null,
          finding.fix.now.map(ShellTable.Cell.text) ?? .null, .text(finding.fix.text),
          finding.fix.step.map(ShellTable.Cell.text) ?? .null,
        ]
      })
    let silenced = found.silencedNames
    let note =
      silenced.isEmpty
      ? [] : ["  suppressed by the scenario: \(silenced.joined(separator: ", "))"]
    guard !findings.isEmpty else {
      return ShellAnswer(["  no findings in this run"] + note, table: table)
    }
    let lines = findings.flatMap { finding in
      let location = finding.callSite.map { " from line \($0.line)" } ?? ""
      var lines = [
        "  ! \(finding.name): \(finding.counted)\(location)"
      ]
      if let now = finding.fix.now { lines.append("      now   \(now)") }
      lines.append("      fix   \(finding.fix.text)")
      if let step = finding.fix.step { lines.append("      step  \(step)") }
      return lines
    }
    return ShellAnswer(lines + note, table: table)
  }

  private func stats() throws -> ShellAnswer {
    let session = try openSession()
    let current = current
    let gauges = session.gauges.merging(try session.pages()) { $1 }
    let steps = NumberText.counted(current.results.count, "step")
    var lines = ["  \(current.name), \(steps)"]
    var rows: [[ShellTable.Cell]] = []
    for metric in Metric.allCases where metric != .time {
      let value =
        current.costs.counters[metric] ?? current.uncounted[metric]
        ?? gauges[ScopedMetric(metric)] ?? 0
      rows.append([.text(metric.rawValue), .number(value)])
      lines.append(
        "  " + NumberText.left(metric.rawValue, 12)
          + NumberText.right(value, 21 - max(12, metric.rawValue.count)))
    }
    let time = current.costs.nanoseconds
    rows.append([.text("nanoseconds"), .time(time)])
    lines.append(
      "  " + NumberText.left(Metric.time.rawValue, 12)
        + NumberText.right(NumberText.time(time), 9)
        + "   (this machine; informational)")
    return ShellAnswer(lines, table: ShellTable(["metric", "value"], rows))
  }
}

extension ShellEngine {
  /// Tests indexes for the statements that ran on this store, or for one of them, in a copy.
  ///
  /// **Cost:** copies the file, and runs the statements again for each candidate; adds nothing to
  /// the costs of the run. Ctrl-C interrupts it.
  func advise(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    let statements = try advisedStatements(arguments.words.first)
    guard !statements.isEmpty else {
      throw CommandFailure(
        "no statement has run yet", nextStep: "run the steps that are slow, then `advise`")
    }
    do {
      let advisor = try IndexAdvisor(storeURL: session.storeURL)
      let advice = try interruption.run(interruptedBy: advisor.interruption) {
        try advisor.advice(on: statements) { try interruption.check() }
      }
      try interruption.check()
      return ShellAnswer(
        AdviceText.lines(advice).map { $0.isEmpty ? "" : "  \($0)" },
        table: ShellEngine.table(of: advice))
    } catch let error as NSError where StepInterruption.isCause(of: error) {
      throw CommandFailure("the search for indexes was interrupted; nothing has changed")
    }
  }

  /// Returns the statements of all runs on the current store, or that of a number of `last`.
  private func advisedStatements(_ word: Word?) throws -> [AdvisedStatement] {
    guard let target else { return [] }
    let current = target.session.recording.statementShapes
    guard let word else {
      let before = target.runs.flatMap { $0.result?.statements ?? [] }
      return AdvisedStatement.all(in: before + current)
    }
    let group = try group(word)
    guard let sql = group.sql else {
      throw LanguageProblem(
        "#\(group.number) ran no statement", at: word.range,
        nextStep: "`last` shows the statements of the last step; `advise` uses all of them")
    }
    return AdvisedStatement.all(in: current.filter { $0.sql == sql })
  }

  /// Returns a table with a row for each proposed, redundant, or unused index.
  private static func table(of advice: IndexAdvice) -> ShellTable {
    let proposed = advice.proposals.map { proposal -> [ShellTable.Cell] in
      [
        .text("proposed"), .text(proposal.name), .text(proposal.title),
        .number(proposal.stepsBefore), .number(proposal.stepsAfter),
        proposal.size.map { .number($0.bytes) } ?? .null, .text(proposal.sql),
      ]
    }
    let redundant = advice.redundant.map { index -> [ShellTable.Cell] in
      [
        .text("redundant"), .text(index.name),
        .text("\(index.table) (\(index.columns.joined(separator: ", ")))"), .null, .null, .null,
        .null,
      ]
    }
    let unused = advice.unused.map { index -> [ShellTable.Cell] in
      [
        .text("unused"), .text(index.name),
        .text("\(index.table) (\(index.columns.joined(separator: ", ")))"), .null, .null,
        index.bytes.map { .number($0) } ?? .null, .null,
      ]
    }
    return ShellTable(
      ["advice", "index", "on", "vmStepsBefore", "vmStepsAfter", "bytes", "sql"],
      proposed + redundant + unused)
  }
}

extension ShellEngine {
  /// Shows the call stack of the first event of a group, or the stacks of the whole run.
  func stack(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    var recording = session.recording
    if let word = arguments.words.first {
      let event = try group(word).firstEvent
      recording = recording.slice(after: event - 1, through: event)
    }
    let stacks = recording.stackShapes()
    guard !stacks.isEmpty else {
      throw CommandFailure(
        "no call stacks were recorded", nextStep: "`record stacks`, then run the steps again")
    }
    let table = ShellTable(
      ["count", "kind", "subject", "frame", "function"],
      stacks.flatMap { stack in
        stack.frames.enumerated().map { index, frame in
          [
            .number(stack.count), .text(stack.kind.rawValue), .text(stack.subject),
            .number(index), .text(frame),
          ]
        }
      })
    let lines = stacks.flatMap { stack in
      ["  \(NumberText.grouped(stack.count)) x \(stack.kind.groupWord ?? "") \(stack.subject)"]
        + stack.frames.map { "      \($0)" }
    }
    let unnamed = Set(stacks.flatMap(\.frames).filter(StackText.isUnnamed)).count
    let note =
      unnamed == 0
      ? []
      : [
        "  \(NumberText.counted(unnamed, "function")) without a symbol: the program or a library "
          + "was stripped; build it without `-Xlinker -s` and don't `strip` it"
      ]
    return ShellAnswer(lines + note, table: table)
  }
}

/// A sink that requests call stacks, so that the recorder's events contain them; it ignores events.
final class StackRequest: EventSink {
  let detail = EventDetail.stacks

  func record(_ event: Event) {}
}
