import OpenCoreData
import ProfileEvents

extension ShellEngine {
  /// Opens another store or scenario in place of the one that is open.
  func open(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else {
      throw ShellFailure("what is to be opened?", nextStep: "write `\(ShellCommand.open.usage)`")
    }
    let opened = try ShellWorkspace(opening: word.text)
    let fresh = try opened.makeSession(
      sinks: sqlLog.map { [$0.sink] } ?? [], interruption: interruption)
    session = fresh
    workspace?.close()
    workspace = opened
    tries = []
    current = ShellTry(number: 1)
    return ShellAnswer("\(opened.title) · \(opened.contents) · \(opened.state)")
  }

  /// Begins a new try on the same data, cold.
  func reset() throws -> ShellAnswer {
    let session = try openSession()
    guard !isCurrentEmpty, let workspace else {
      return ShellAnswer("  cold already: nothing has run in \(current.name)")
    }
    let over = finished(current, session)
    self.session = try workspace.makeSession(
      sinks: sqlLog.map { [$0.sink] } ?? [], interruption: interruption)
    tries.append(over)
    current = ShellTry(number: over.number + 1)
    let undone = over.costs.counters.transactions > 0 ? " What it saved is undone." : ""
    return ShellAnswer(
      "  cold again: new coordinator, empty row cache. Try \(over.number) is kept for `diff`."
        + undone)
  }

  /// Two tries side by side: the last two that ran something, or the two that are named.
  func diff(_ arguments: ShellArguments) throws -> ShellAnswer {
    let all = try triesSoFar()
    guard let last = all.last, all.count > 1 else {
      throw ShellFailure(
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
    return ShellAnswer(
      CostComparison(
        .init(name: pair[0].name, costs: pair[0].costs),
        .init(name: pair[1].name, costs: pair[1].costs)
      ).lines)
  }

  /// The tries that ran something, the present one among them.
  ///
  /// Their numbers are their places, counted from 1.
  func triesSoFar() throws -> [ShellTry] {
    let session = try openSession()
    return isCurrentEmpty ? tries : tries + [finished(current, session)]
  }

  private var isCurrentEmpty: Bool { current.steps.isEmpty && !current.wasInterrupted }

  private func finished(_ attempt: ShellTry, _ session: Session) -> ShellTry {
    var over = attempt
    over.costs = session.recording.costs
    return over
  }
}
