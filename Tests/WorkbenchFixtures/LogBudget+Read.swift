import LogAnalysis
package import OpenCoreData
import ScenarioFiles
package import ScenarioLanguage

extension LogBudget {
  /// Reads and checks a file as `cdprof log --expect` does.
  package static func read(
    path: String, model: NSManagedObjectModel? = nil, scale: Int = 1
  ) throws -> LogBudget {
    try LogBudgetReader.read(path: path, model: model, scale: scale) { budget in
      LogBudgetEvaluator(budget: budget).problems
    }
  }
}
