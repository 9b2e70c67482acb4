import OpenCoreData
import ProfileEvents
import Profiling
import StatementAnalysis
import WorkbenchText

extension ShellEngine {
  /// Tries indexes for what was done on this store, or for one statement of it, on a copy of the store.
  ///
  /// Cost: nothing for the try; copying the file, and running the statements again for each idea. Ctrl-C
  /// stops it.
  func advise(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    let statements = try advisedStatements(arguments.words.first)
    guard !statements.isEmpty else {
      throw CommandFailure(
        "no statement has run yet", nextStep: "run the steps that are slow, then `advise`")
    }
    do {
      let advisor = try IndexAdvisor(storeURL: session.storeURL)
      let advice = try interruption.cutting(advisor.interruption) {
        try advisor.advice(on: statements) { try interruption.check() }
      }
      try interruption.check()
      return ShellAnswer(
        AdviceText.lines(advice).map { $0.isEmpty ? "" : "  \($0)" },
        table: ShellEngine.table(of: advice))
    } catch let error as NSError where StepInterruption.isBehind(error) {
      throw CommandFailure("the search for indexes was interrupted; nothing has changed")
    }
  }

  /// The statements of all tries on what is worked on, or that of a number of `last`.
  private func advisedStatements(_ word: Word?) throws -> [AdvisedStatement] {
    guard let desk else { return [] }
    let current = desk.session.recording.statementShapes
    guard let word else {
      let before = desk.tries.flatMap { $0.result?.statements ?? [] }
      return AdvisedStatement.all(in: before + current)
    }
    let group = try group(word)
    guard let sql = group.sql else {
      throw LanguageProblem(
        "#\(group.number) ran no statement", at: word.place,
        nextStep: "`last` shows the statements of the last step; `advise` alone is about all")
    }
    return AdvisedStatement.all(in: current.filter { $0.sql == sql })
  }

  /// One row for each index: proposed, redundant or unused.
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
