import OpenCoreData
import ProfileEvents
import Profiling
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

extension ShellEngine {
  /// Begins a new try on the same data, cold.
  func reset() throws -> ShellAnswer {
    guard let desk else {
      _ = try openSession()
      return ShellAnswer()
    }
    guard !desk.current.isEmpty else {
      return ShellAnswer("  cold already: nothing has run in \(desk.current.name)")
    }
    let over = try desk.finished()
    desk.session = try desk.workspace.makeSession(sinks: sinks, interruption: interruption)
    desk.tries.append(over)
    desk.current = ShellTry(number: over.number + 1)
    var undone = ""
    if over.costs.counters.transactions > 0 {
      undone = desk.workspace.keepsChanges ? " What it saved stays." : " What it saved is undone."
    }
    return ShellAnswer(
      "  cold again: new coordinator, empty row cache. Try \(over.number) is kept for `diff`."
        + undone)
  }

  /// Two tries side by side: the last two that ran something, or the two that are named.
  func diff(_ arguments: ShellArguments) throws -> ShellAnswer {
    let all = try triesSoFar()
    guard let last = all.last, all.count > 1 else {
      throw CommandFailure(
        all.isEmpty ? "nothing has run yet" : "there is only one try",
        nextStep: "`reset` begins the next; run its steps, then `diff`")
    }
    var pair = [all[all.count - 2], last]
    if !arguments.words.isEmpty {
      guard arguments.words.count == 2 else {
        throw LanguageProblem(
          "one try cannot be compared alone", at: arguments.words[0].place,
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

  /// The tries that ran something, the present one among them.
  ///
  /// Their numbers are their places, counted from 1.
  func triesSoFar() throws -> [ShellTry] {
    _ = try openSession()
    guard let desk else { return [] }
    return desk.current.isEmpty ? desk.tries : desk.tries + [desk.current]
  }
}

extension ShellDesk {
  /// What the rules find in the present try; those that try indexes are `advise`'s.
  ///
  /// Cost: a pass over its events for each rule.
  var found: FindingSearch.Found {
    let work = FinishedWork(
      recording: session.recording, steps: current.steps, model: session.model)
    return FindingSearch.all(of: work, steps: current.findings, silence: workspace.silence)
  }

  /// The present try with all that a report tells of it.
  ///
  /// Costs a copy and a sort of its events, and an EXPLAIN for each shape of statement.
  func finished() throws -> ShellTry {
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
