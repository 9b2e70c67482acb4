package import ScenarioLanguage

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

  /// Compares the variant of a lesson with a reader's.
  ///
  /// - Parameters:
  ///   - result: The result of a run with the lesson's variant, and then the reader's, whose work
  ///     was recorded.
  ///   - lesson: The lesson's name.
  package init(_ result: RunResult, of lesson: String) {
    self.lesson = lesson
    variant = result.variants[0].name
    start = result.variants[0].expectations
    budget = result.variants[1].expectations
    let work = result.variants.map { $0.work ?? VariantWork() }
    differences = work[0].differences(to: work[1])
  }
}
