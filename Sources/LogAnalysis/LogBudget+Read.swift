package import OpenCoreData
package import ScenarioFiles
import ScenarioLanguage
import WorkbenchText

extension LogBudget {
  /// Reads and checks the file of `--expect`.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - model: The model to use if the file doesn't specify one.
  ///   - scale: The value of `scale` in a scenario. A budget specifies its row counts itself.
  /// - Throws: `ScenarioDiagnostics` with all problems, or `InvalidInputError` if the file can't be
  ///   read.
  package static func read(
    path: String, model: NSManagedObjectModel?, scale: Int = 1
  ) throws -> LogBudget {
    try LogBudgetReader.read(path: path, model: model, scale: scale) { $0.problems }
  }

  /// The expectations that logs can't show, and those that have no value.
  private var problems: [LanguageProblem] {
    let evaluator = LogBudgetEvaluator(budget: self)
    return sections.flatMap { problems(in: $0.expect, evaluator) }
  }

  private func problems(in block: ExpectBlock, _ evaluator: LogBudgetEvaluator) -> [LanguageProblem]
  {
    var problems = (block.findings?.names ?? []).compactMap { finding in
      evaluator.reasonUnavailable(finding).map { reason in
        LanguageProblem(
          reason, at: finding.rule.range,
          nextStep: "use fault-storm, fetch-loop, count-per-row, or ineffective-prefetch")
      }
    }
    problems += block.plans.map { plan in
      LanguageProblem(
        LogBudgetEvaluator.noPlans, at: plan.range ?? SourceRange(line: plan.line, column: 1),
        nextStep: "remove `\(plan.text)`; `cdprof run` evaluates the plans of a scenario")
    }
    for expectation in block.expectations {
      if let reason = evaluator.reasonUnavailable(expectation, withHits: true) {
        problems.append(
          LanguageProblem(
            reason, at: expectation.metric.range,
            nextStep: "use selects, rows, fetches, misses, saves, or another metric in the log"))
      }
      do {
        _ = try expectation.constraint.bounds(in: scope)
      } catch {
        problems.append(
          LanguageProblem(
            "`\(error.text)` has no value: \(error.message)", at: error.range,
            nextStep: "specify the rows of the app's store: `data: {Mood: 5000}`"))
      }
    }
    return problems
  }
}
