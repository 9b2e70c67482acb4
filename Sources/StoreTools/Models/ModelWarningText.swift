package import OpenCoreData
import WorkbenchText

/// What was wrong with a model that was read all the same, for standard error.
package enum ModelWarningText {
  private static let most = 3

  /// A line for each of the first warnings, and one for how many more there are.
  ///
  /// - Parameters:
  ///   - problems: The warnings of the model; errors are told elsewhere.
  ///   - path: What `cdprof model` reads the model from.
  package static func lines(_ problems: [ModelError], path: String) -> [String] {
    let warnings = problems.filter(\.isWarning)
    let shown = warnings.prefix(most).map { "warning: \($0)" }
    guard warnings.count > most else { return shown }
    let command = "cdprof model \(CommandWord.quoted(path)) --check"
    return shown + ["warning: \(warnings.count - most) more; `\(command)` lists them"]
  }
}
