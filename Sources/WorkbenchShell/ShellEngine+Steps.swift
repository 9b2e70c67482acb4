import OpenCoreData
import ProfileEvents
import Profiling
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

extension ShellEngine {
  /// Runs a step and returns its cost and findings.
  func runStep(_ line: String, at place: CallSite) throws -> ShellAnswer {
    try checkFirstWord(of: line)
    let written = try ShellLine.parse(line, number: place.line, file: place.file)
    guard let desk else {
      _ = try openSession()
      return ShellAnswer()
    }
    let step = try numbered(written, on: desk)
    try checkWriting(step)
    do {
      let outcome =
        if let cut = desk.session.cut(step) {
          try interruption.cutting(cut) { try desk.session.run(step) }
        } else {
          try desk.session.run(step)
        }
      desk.note(step, summary: outcome.summary, outcome.recorded)
      desk.current.steps.append(step)
      desk.current.add(outcome.findings)
      let found = FindingSearch.grouped(outcome.findings, silence: desk.workspace.silence)
      var answer = ShellEngine.answer(step, outcome, found.findings)
      if !outcome.holds { answer.failure = CommandFailure("the step did not fail as it was to") }
      return answer
    } catch let failure as StepFailure {
      if let recorded = desk.session.lastStep {
        desk.note(step, summary: "failed with \(failure.error.code)", recorded)
      }
      guard !StepInterruption.isBehind(failure.error) else {
        desk.current.wasInterrupted = true
        throw CommandFailure("`\(failure.step)` was interrupted; \(step.verb.remainder)")
      }
      var failed = step
      failed.fails = failure.error.code
      desk.current.steps.append(failed)
      throw failure
    }
  }

  /// The step with its numbers worked out from the rows of what is open.
  private func numbered(_ step: Step, on desk: ShellTarget) throws -> Step {
    // Unknown names are reported first.
    for name in step.options.compactMap(\.number).flatMap(\.expression.names) {
      try ModelNames(desk.workspace.model).checkRows(of: name)
    }
    do throws(CountExpressionError) {
      return try step.resolved(in: desk.workspace.scope)
    } catch {
      throw LanguageProblem(
        "`\(error.text)` has no value: \(error.message)", at: error.place,
        nextStep: "`entities` shows the rows")
    }
  }

  private static func answer(
    _ step: Step, _ outcome: StepOutcome, _ findings: [Finding]
  ) -> ShellAnswer {
    let counters = outcome.costs.counters
    let metrics =
      [.selects, .rows, .faults, .hits, .misses, .saves, .inserts, .updates, .deletes]
      as [Metric]
    let table = ShellTable(
      ["step", "summary"] + metrics.map(\.rawValue) + ["nanoseconds", "findings"],
      [
        [.text(step.text), .text(outcome.summary)]
          + metrics.map { .number(counters[$0] ?? 0) }
          + [
            .time(outcome.costs.nanoseconds),
            .text(findings.map(\.name).joined(separator: ", ")),
          ]
      ])
    return ShellAnswer(
      [outcome.costs.line(after: outcome.summary)] + findings.map(\.line), table: table)
  }

  /// The session, or what to do to have one.
  func openSession() throws -> Session {
    guard let session else {
      throw CommandFailure(
        "nothing is open",
        nextStep: "open a store or a scenario first: `\(ShellCommand.open.usage)`")
    }
    return session
  }

  /// Knows more words than the language does, so that it speaks first.
  private func checkFirstWord(of line: String) throws(LanguageProblem) {
    let start = SourceRange(line: lineNumber, column: 1)
    guard case .word(let word)? = try LineWords.tokens(of: line, startingAt: start).first,
      Verb(rawValue: word.text) == nil || word.isQuoted
    else { return }
    throw LanguageProblem(
      "there's no command or verb `\(word.text)`", at: word.place,
      didYouMean: NearestName.of(
        word.text, among: ShellEngine.verbs.map(\.rawValue) + ShellCommand.words),
      nextStep: "`help` lists them all")
  }

  private func checkWriting(_ step: Step) throws(LanguageProblem) {
    guard workspace?.isReadOnly == true, step.verb.changesData else { return }
    throw LanguageProblem(
      "`\(step.verb.rawValue)` changes data, but the store is open read-only",
      at: step.places.verb,
      nextStep: "to work on a copy, use `open STORE write`, or start with "
        + "`cdprof shell STORE --write`")
  }
}

extension ShellTarget {
  /// Adds a step's events to the run.
  fileprivate func note(_ step: Step, summary: String, _ recorded: RecordedStep) {
    current.add(step, summary: summary, session.recording(of: recorded), recorded)
    if current.results.last?.costs.counters.transactions ?? 0 > 0 { workspace.noteChange() }
  }
}

extension Verb {
  /// What an interrupted step leaves.
  fileprivate var remainder: String {
    switch self {
    case .save, .batchInsert, .batchUpdate, .batchDelete: "nothing of it was written"
    default: "what it did until then stays"
    }
  }
}

extension ShellEngine {
  /// Starts a new run on the same data, cold.
  func reset() throws -> ShellAnswer {
    guard let desk else {
      _ = try openSession()
      return ShellAnswer()
    }
    guard !desk.current.isEmpty else {
      return ShellAnswer("  already cold: nothing has run in \(desk.current.name)")
    }
    let over = try desk.finished()
    desk.session = try desk.workspace.makeSession(sinks: sinks, interruption: interruption)
    desk.tries.append(over)
    desk.current = ShellRun(number: over.number + 1)
    var undone = ""
    if over.costs.counters.transactions > 0 {
      undone = desk.workspace.keepsChanges ? " What it saved stays." : " What it saved is undone."
    }
    return ShellAnswer(
      "  Started a cold run: new coordinator, empty row cache. Run \(over.number) is kept for `diff`."
        + undone)
  }

  /// Compares two runs: the last two that ran something, or the two that are named.
  func diff(_ arguments: ShellArguments) throws -> ShellAnswer {
    let all = try triesSoFar()
    guard let last = all.last, all.count > 1 else {
      throw CommandFailure(
        all.isEmpty ? "nothing has run yet" : "there's only one run",
        nextStep: "`reset` begins the next; run its steps, then `diff`")
    }
    var pair = [all[all.count - 2], last]
    if !arguments.words.isEmpty {
      guard arguments.words.count == 2 else {
        throw LanguageProblem(
          "a run can't be compared with itself", at: arguments.words[0].place,
          nextStep: "write `diff` or `\(ShellCommand.diff.usage)`")
      }
      pair = try arguments.words.map { word in
        let number = try ShellArguments.number(
          word, in: 1...last.number, of: "tries", nextStep: "write for example `diff 1 2`")
        return all[number - 1]
      }
    }
    let (one, other) = (pair[0].costs, pair[1].costs)
    let rows = Metric.allCases.compactMap { metric -> [ShellTable.Cell]? in
      guard let before = one.counters[metric], let after = other.counters[metric] else {
        return nil
      }
      return [.text(metric.rawValue), .number(before), .number(after), .number(after - before)]
    }
    return ShellAnswer(
      CostComparison(
        .init(name: pair[0].name, costs: one), .init(name: pair[1].name, costs: other)
      ).lines,
      table: ShellTable(["metric", pair[0].name, pair[1].name, "difference"], rows))
  }

  /// The runs that ran something, including the current one.
  ///
  /// Their numbers are their places, counted from 1.
  func triesSoFar() throws -> [ShellRun] {
    _ = try openSession()
    guard let desk else { return [] }
    return desk.current.isEmpty ? desk.tries : desk.tries + [desk.current]
  }
}

extension ShellTarget {
  /// The findings of the current run, except missing indexes, which are `advise`'s.
  ///
  /// Cost: a pass over its events for each rule.
  var found: FindingSearch.Found {
    let work = FinishedWork(
      recording: session.recording, steps: current.steps, model: session.model)
    return FindingSearch.all(of: work, steps: current.findings, silence: workspace.silence)
  }

  /// The current run with all that a report contains of it.
  ///
  /// Costs a copy and a sort of its events, and an EXPLAIN for each shape of statement.
  func finished() throws -> ShellRun {
    var over = current
    let recording = session.recording
    var result = VariantResult(name: over.name, why: "As typed in the shell.")
    result.take(recording)
    result.steps = over.results
    result.nanoseconds = over.costs.nanoseconds
    let found = found
    result.findings = found.findings
    result.silenced = found.silencedNames
    result.requestSwift = over.steps.map(\.requestSwift).filter { !$0.isEmpty }
      .reduce(into: []) { lines, request in lines += (lines.isEmpty ? [] : [""]) + request }
    for (metric, value) in over.costs.counters.values { result.metrics[metric] = value }
    let reader = try PlanReader(
      storeURL: session.storeURL, isOpenElsewhere: !session.isReadOnly)
    result.statements = reader.explain(result.statements)
    over.result = result
    return over
  }
}

extension Counters {
  /// The counters by their metrics.
  fileprivate var values: [(Metric, Int)] {
    Metric.allCases.compactMap { metric in self[metric].map { (metric, $0) } }
  }
}
