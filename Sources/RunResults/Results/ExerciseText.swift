package import ScenarioLanguage

/// An exercise as the page shows it.
package struct ExerciseText: Sendable, Equatable, Codable {
  package var task: String
  package var variant: String
  /// The lines of the budget, such as `selects: at most 2`.
  package var budget: [String]

  package init(task: String, variant: String, budget: [String]) {
    self.task = task
    self.variant = variant
    self.budget = budget
  }

  /// Creates the text of an exercise.
  package init(_ exercise: Exercise) {
    task = exercise.task
    variant = exercise.variant
    budget = exercise.budget.expectations.map { "\($0.scoped): \($0.constraint.text)" }
  }
}
