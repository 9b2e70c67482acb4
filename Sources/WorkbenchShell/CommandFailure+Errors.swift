import OpenCoreData
import Profiling
import ScenarioLanguage
import WorkbenchText

extension CommandFailure {
  /// Creates a failure from any error.
  ///
  /// - Parameters:
  ///   - error: The error that was thrown.
  ///   - line: The line of the shell, for the excerpt.
  init(_ error: any Error, in line: String) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let problem as LanguageProblem: self.init(problem, in: line)
    case let error as LineError: self.init(error.problem, in: line)
    case let refusal as InvalidInputError:
      self.init(
        PrintableText.line(refusal.message), nextStep: PrintableText.line(refusal.nextStep))
    case let failure as StepFailure:
      let details = ErrorText.details(of: failure.error).map { "  \(PrintableText.line($0))" }
      self.init(
        "`\(failure.step)` failed: \(ErrorText.of(failure.error)) (\(failure.error.code))",
        nextStep: details.isEmpty ? nil : details.joined(separator: "\n"))
    default:
      self.init("\(ErrorText.of(error))")
    }
  }
}
