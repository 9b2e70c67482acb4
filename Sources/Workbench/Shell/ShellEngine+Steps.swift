import Foundation
import OpenCoreData

extension ShellEngine {
  /// Runs a line of the language and tells what it cost, and what it found.
  func runStep(_ line: String) throws -> ShellAnswer {
    try checkFirstWord(of: line)
    let step = try ShellLine.parse(line, number: lineNumber)
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
      guard failure.error.code != StepInterruption.code else {
        current.wasInterrupted = true
        throw ShellFailure("`\(failure.step)` was interrupted; what it did until then stays")
      }
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

  /// Knows more words than the language does, so that it speaks first.
  private func checkFirstWord(of line: String) throws(LanguageProblem) {
    let start = SourcePlace(line: lineNumber, column: 1)
    guard case .word(let word)? = try LineWords.tokens(of: line, startingAt: start).first,
      Verb(rawValue: word.text) == nil || word.isQuoted
    else { return }
    throw LanguageProblem(
      "there is no command or verb `\(word.text)`", at: word.place,
      didYouMean: NearestName.of(
        word.text, among: ShellEngine.verbs.map(\.rawValue) + ShellCommand.words),
      nextStep: "`help` lists them all")
  }

  private func checkWriting(_ step: Step) throws(LanguageProblem) {
    guard workspace?.isReadOnly == true, step.verb.changesData else { return }
    throw LanguageProblem(
      "`\(step.verb.rawValue)` changes data, and a store is only looked at",
      at: step.places.verb,
      nextStep: "to work on a copy of it, open a scenario with `data: {store: FILE}`")
  }
}
