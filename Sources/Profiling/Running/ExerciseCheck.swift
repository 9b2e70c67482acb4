import OpenCoreData
package import ScenarioLanguage
import WorkbenchText

/// The result of checking a reader's solution of an exercise.
package struct ExerciseCheck: Sendable {
  /// The scenario's name.
  package var lesson: String
  package var variant: String
  /// The budget, each line with the measured value and the events that account for it.
  package var budget: [ExpectationResult]
  /// The budget for the variant as it is in the lesson.
  package var start: [ExpectationResult]
  /// What the solution doesn't do that the variant of the lesson does; empty if the results are
  /// equal.
  package var differences: [String]

  /// Whether the solution does the same work within the budget.
  package var passes: Bool { differences.isEmpty && budget.allSatisfy(\.isMet) }

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
    self.lesson = lesson.name
    variant = result.variants[0].name
    start = result.variants[0].expectations
    budget = result.variants[1].expectations
    let work = result.variants.map { $0.work ?? VariantWork() }
    differences = work[0].differences(to: work[1])
  }
}
