import OpenCoreData
import ProfileEvents
import Profiling
import RunResults
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

extension ShellEngine {
  /// Runs a step and returns its cost and findings.
  func runStep(_ line: String, at callSite: CallSite) throws -> ShellAnswer {
    try checkFirstWord(of: line)
    let written = try ShellLine.parse(line, number: callSite.line, file: callSite.file)
    guard let target else {
      _ = try openSession()
      return ShellAnswer()
    }
    let step = try numbered(written, on: target)
    try checkWriting(step)
    do {
      let outcome =
        if let interrupt = target.session.interrupt(for: step) {
          try interruption.run(interruptedBy: interrupt) { try target.session.run(step) }
        } else {
          try target.session.run(step)
        }
      target.note(
        step, summary: outcome.summary, outcome.recorded, succeeds: outcome.failureCode == nil)
      // A saved scenario expects what happened.
      var over = step
      over.fails = outcome.failureCode
      target.current.steps.append(over)
      target.current.add(outcome.findings)
      let found = FindingSearch.grouped(outcome.findings, silence: target.workspace.silence)
      var answer = ShellEngine.answer(step, outcome, found.findings)
      if !outcome.endedAsExpected {
        answer.failure = CommandFailure("the step didn't fail as expected")
      }
      return answer
    } catch let failure as StepFailure {
      if let recorded = target.session.lastStep {
        target.note(
          step, summary: "failed with \(failure.error.code)", recorded, succeeds: false)
      }
      guard !StepInterruption.isCause(of: failure.error) else {
        target.current.wasInterrupted = true
        throw CommandFailure("`\(failure.step)` was interrupted; \(step.verb.remainder)")
      }
      var failed = step
      failed.fails = failure.error.code
      target.current.steps.append(failed)
      throw failure
    }
  }

  /// Returns a step with its expressions evaluated for the rows of the open store.
  private func numbered(_ step: Step, on target: ShellTarget) throws -> Step {
    // Report unknown names before other errors.
    for name in step.options.compactMap(\.number).flatMap(\.expression.names) {
      try ModelNames(target.workspace.model).checkRows(of: name)
    }
    do throws(CountExpressionError) {
      return try step.resolved(in: target.workspace.scope)
    } catch {
      throw LanguageProblem(
        "`\(error.text)` has no value: \(error.message)", at: error.range,
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

  /// Returns the current session.
  ///
  /// - Throws: A failure if no store is open.
  func openSession() throws -> Session {
    guard let session else {
      throw CommandFailure(
        "nothing is open",
        nextStep: "open a store or a scenario first: `\(ShellCommand.open.usage)`")
    }
    return session
  }

  /// Checks that a line starts with a verb.
  ///
  /// The parser can suggest only verbs; this method also suggests the shell's commands.
  private func checkFirstWord(of line: String) throws(LanguageProblem) {
    let start = SourceRange(line: lineNumber, column: 1)
    guard case .word(let word)? = try LineWords.tokens(of: line, startingAt: start).first,
      Verb(rawValue: word.text) == nil || word.isQuoted
    else { return }
    guard !["select", "with"].contains(word.text.lowercased()) else {
      throw LanguageProblem(
        "`\(word.text)` is SQL", at: word.range,
        nextStep: "run it with `\(ShellCommand.sqlite.rawValue) \(word.text) …`")
    }
    throw LanguageProblem(
      "there's no command or verb `\(word.text)`", at: word.range,
      didYouMean: NearestName.of(
        word.text, among: ShellEngine.verbs.map(\.rawValue) + ShellCommand.words),
      nextStep: "`help` lists them all")
  }

  private func checkWriting(_ step: Step) throws(LanguageProblem) {
    guard workspace?.isReadOnly == true, step.verb.changesData else { return }
    throw LanguageProblem(
      "`\(step.verb.rawValue)` changes data, but the store is open read-only",
      at: step.ranges.verb,
      nextStep: "to work on a copy, use `open STORE write`, or start with "
        + "`cdprof shell STORE --write`")
  }
}

extension ShellTarget {
  /// Adds a step's events to the run.
  fileprivate func note(
    _ step: Step, summary: String, _ recorded: RecordedStep, succeeds: Bool
  ) {
    current.add(step, summary: summary, session.recording(of: recorded), recorded)
    if succeeds, step.changesFile { current.changedFile = true }
    if current.hasChangedStore { workspace.noteChange() }
  }
}

extension Step {
  /// Whether the step changes the store's file without a transaction of a context.
  fileprivate var changesFile: Bool {
    switch verb {
    case .index, .analyze, .history, .migrate, .finishMigration: return true
    case .sql:
      let word = subject.drop(while: \.isWhitespace).prefix(while: \.isLetter).uppercased()
      return !["SELECT", "VALUES", "EXPLAIN"].contains(word)
    default: return false
    }
  }
}

extension Verb {
  /// The effect of an interrupted step, for its error message.
  fileprivate var remainder: String {
    switch self {
    case .save, .batchInsert, .batchUpdate, .batchDelete: "nothing was written"
    default: "its changes so far are kept"
    }
  }
}

extension ShellEngine {
  /// Starts a new run on the same data, cold.
  func reset() throws -> ShellAnswer {
    guard let target else {
      _ = try openSession()
      return ShellAnswer()
    }
    guard !target.current.isEmpty else {
      return ShellAnswer("  already cold: nothing has run in \(target.current.name)")
    }
    let over = try target.finished()
    target.session = try target.workspace.makeSession(sinks: sinks, interruption: interruption)
    target.runs.append(over)
    target.current = ShellRun(number: over.number + 1)
    var undone = ""
    if over.hasChangedStore {
      undone = over.costs.counters.transactions > 0 ? " Its saves are" : " Its changes are"
      undone += target.workspace.keepsChanges ? " kept." : " undone."
    }
    return ShellAnswer(
      "  Started a cold run: new coordinator, empty row cache. Run \(over.number) is kept for `diff`."
        + undone)
  }

  /// Compares the last two runs that ran steps, or two runs by number.
  func diff(_ arguments: ShellArguments) throws -> ShellAnswer {
    let all = try runsSoFar()
    guard let last = all.last, all.count > 1 else {
      throw CommandFailure(
        all.isEmpty ? "nothing has run yet" : "there's only one run",
        nextStep: "`reset` starts the next one; run its steps, then `diff`")
    }
    var pair = [all[all.count - 2], last]
    if !arguments.words.isEmpty {
      guard arguments.words.count == 2 else {
        throw LanguageProblem(
          "expected two runs to compare", at: arguments.words[0].range,
          nextStep: "write `diff` or `diff N M`")
      }
      pair = try arguments.words.map { word in
        let number = try ShellArguments.number(
          word, in: 1...last.number, of: "runs", nextStep: "use `diff 1 2`, for example")
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

  /// Returns the runs that ran steps, including the current one.
  ///
  /// The number of a run is its position, starting at 1.
  func runsSoFar() throws -> [ShellRun] {
    _ = try openSession()
    guard let target else { return [] }
    return target.current.isEmpty ? target.runs : target.runs + [target.current]
  }
}

extension ShellTarget {
  /// The findings of the current run, except missing indexes, which `advise` reports.
  ///
  /// **Cost:** a pass over the run's events for each rule.
  var found: FindingSearch.Found {
    FindingSearch.all(
      of: session.work(of: current.steps), steps: current.findings, silence: workspace.silence)
  }

  /// Returns the current run with its result for a report.
  ///
  /// **Cost:** copies and sorts the run's events, and runs an EXPLAIN for each statement.
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

/// The steps between two resets, with their costs.
///
/// Each step adds only its own part, so its cost doesn't depend on the length of the run.
struct ShellRun {
  /// The number of the run, starting at 1.
  let number: Int
  /// The executed steps, in order; a step that failed is marked to fail with its code.
  var steps: [Step] = []
  /// The findings of the rules for single steps, in the order of the steps.
  private(set) var findings: [Finding] = []
  /// Whether a step changed the store's file without a transaction of a context.
  var changedFile = false
  /// Whether a step was interrupted, so that the run can't be repeated.
  var wasInterrupted = false
  /// The counts and the time of all steps.
  private(set) var costs = TimedCosts()
  /// The sums of the metrics that aren't counters, such as `scanned`.
  private(set) var uncounted: [Metric: Int] = [:]
  /// The groups of events, numbered across the run.
  private(set) var groups: [EventGroup] = []
  /// The range of the groups of the last step.
  private(set) var lastGroups = 0..<0
  /// The results of the steps, including failed and interrupted ones.
  private(set) var results: [StepResult] = []
  /// The result for a report; created when the run ends or a report is written.
  var result: VariantResult?
  private var begin: UInt64?

  init(number: Int) {
    self.number = number
  }

  var name: String { "run \(number)" }

  /// Whether the run changed the store.
  var hasChangedStore: Bool { changedFile || costs.counters.transactions > 0 }

  /// Whether no step has run.
  var isEmpty: Bool { steps.isEmpty && !wasInterrupted }

  /// Adds the costs and events of a step.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - summary: The step's result in words.
  ///   - slice: The step's part of the recording.
  ///   - recorded: The range of the step in the recording.
  mutating func add(_ step: Step, summary: String, _ slice: Recording, _ recorded: RecordedStep) {
    let costs = slice.costs
    let first = groups.count
    groups += slice.groups.map { group in
      var group = group
      group.number += first
      return group
    }
    lastGroups = first..<groups.count
    self.costs.counters = self.costs.counters + costs.counters
    self.costs.nanoseconds += costs.nanoseconds
    var metrics = [Metric.scanned, .sorts, .calls, .vmsteps, .pageins, .pageouts]
    if step.verb == .migrate || step.verb == .finishMigration {
      metrics += Metric.allCases.filter(\.isOfMigration)
    }
    for metric in metrics {
      uncounted[metric, default: 0] += slice.value(of: metric)
    }
    let start = begin ?? recorded.begin
    begin = start
    results.append(
      StepResult(
        text: step.text, name: step.name, location: step.location, summary: summary, costs: costs,
        offset: recorded.begin - start, fetch: step.fetch, groups: Array(groups[lastGroups])))
  }

  /// Adds the findings of a step.
  mutating func add(_ found: [Finding]) {
    findings += found
  }
}
