import Foundation

extension ShellEngine {
  /// Runs a line of the language and tells what it cost, and what it found.
  func runStep(_ line: String) throws -> ShellAnswer {
    let step = try ShellLine.parse(
      line, number: lineNumber, commands: ShellCommand.words)
    let session = try openSession()
    try checkWriting(step)
    do {
      let outcome = try session.run(step)
      current.steps.append(step)
      current.findings += outcome.findings
      var answer = ShellAnswer([outcome.costs.line(after: outcome.summary)])
      answer.lines += outcome.findings.map(\.line)
      if !outcome.holds { answer.failure = ShellFailure("the step did not fail as it was to") }
      return answer
    } catch let failure as StepFailure {
      var failed = step
      failed.fails = failure.error.code
      current.steps.append(failed)
      throw failure
    }
  }

  /// The session, or what to do to have one.
  func openSession() throws -> Session {
    guard let session else {
      throw ShellFailure(
        "nothing is open",
        nextStep: "open a store or a scenario first: `\(ShellCommand.open.usage)`")
    }
    return session
  }

  private func checkWriting(_ step: Step) throws(LanguageProblem) {
    guard workspace?.isReadOnly == true else { return }
    switch step.verb {
    case .insert, .set, .delete, .save:
      throw LanguageProblem(
        "`\(step.verb.rawValue)` changes data, and a store is only looked at",
        at: step.places.verb,
        nextStep: "a scenario with `data: {store: FILE}` works on a copy; "
          + "`cdprof shell SCENARIO` opens it")
    default: break
    }
  }
}
