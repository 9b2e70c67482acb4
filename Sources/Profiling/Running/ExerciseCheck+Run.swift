package import RunResults
package import ScenarioLanguage
import WorkbenchText

extension ExerciseCheck {
  /// Runs the variant of the exercise as it is in the lesson and as it is in a reader's file, each
  /// cold, on the data of the lesson.
  ///
  /// - Throws: An `InvalidInputError` if the lesson has no exercise or the file doesn't have its
  ///   variant; `ScenarioDiagnostics`, `LanguageProblem`, or `StepFailure` if a step can't run; an
  ///   `NSError` of the framework or the file system.
  package init(of attempt: Scenario, against lesson: Scenario) throws {
    let scenario = try lesson.comparing(attempt)
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let result = try ScenarioRunner(
      scenario: scenario, outputDirectory: folder, recordsWork: true
    ).run()
    self.init(result, of: lesson.name)
  }
}
