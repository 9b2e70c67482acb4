package import OpenCoreData
package import ScenarioLanguage
import WorkbenchText

extension LogBudget {
  /// Reads and checks what `--expect` names.
  ///
  /// - Parameters:
  ///   - model: the model for a file that names none.
  ///   - scale: what `scale` stands for in a scenario; a budget has the rows that it says.
  /// - Throws: `ScenarioDiagnostics` with everything that is wrong; `InputRefusal` when the file cannot
  ///   be read.
  package static func read(
    path: String, model: NSManagedObjectModel?, scale: Int = 1
  ) throws -> LogBudget {
    try LogBudgetReader.read(path: path, model: model, scale: scale) { $0.problems }
  }

  /// What no log can show, and what has no value.
  private var problems: [LanguageProblem] {
    let judge = LogJudge(budget: self)
    return sections.flatMap { problems(in: $0.expect, judge) }
  }

  private func problems(in block: ExpectBlock, _ judge: LogJudge) -> [LanguageProblem] {
    var problems = (block.findings?.names ?? []).compactMap { finding in
      judge.untold(finding).map { reason in
        LanguageProblem(
          reason, at: finding.rule.place,
          nextStep: "a budget may list fault-storm, fetch-loop, count-per-row, and "
            + "ineffective-prefetch")
      }
    }
    problems += block.plans.map { plan in
      LanguageProblem(
        LogJudge.noPlans, at: plan.place ?? SourcePlace(line: plan.line, column: 1),
        nextStep: "leave `\(plan.text)` out; `cdprof run` judges the plans of a scenario")
    }
    for expectation in block.expectations {
      if let reason = judge.untold(expectation, withHits: true) {
        problems.append(
          LanguageProblem(
            reason, at: expectation.metric.place,
            nextStep: "a log tells selects, rows, fetches, misses, saves and the like"))
      }
      do {
        _ = try expectation.law.bounds(in: scope)
      } catch {
        problems.append(
          LanguageProblem(
            "`\(error.text)` has no value: \(error.message)", at: error.place,
            nextStep: "say the rows of the app's store: `data: {Mood: 5000}`"))
      }
    }
    return problems
  }
}
