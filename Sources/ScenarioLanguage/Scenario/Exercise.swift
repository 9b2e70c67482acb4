import OpenCoreData
package import WorkbenchText
internal import Yams

/// A task for the reader: a variant to change until it costs no more than a budget.
package struct Exercise: Sendable, Equatable {
  package var task: String
  /// The name of the variant to change.
  package var variant: String
  /// What the changed variant must meet.
  package var budget: ExpectBlock

  package init(task: String, variant: String, budget: ExpectBlock) {
    self.task = task
    self.variant = variant
    self.budget = budget
  }
}

extension Scenario {
  /// Returns the scenario with two variants: the one of the exercise, and the same one as it is in
  /// another file, both with the exercise's budget.
  ///
  /// The data is that of this scenario; of the other file, only the steps are used.
  ///
  /// - Throws: An `InvalidInputError` if this scenario has no exercise, or the other file doesn't
  ///   have its variant.
  package func comparing(_ attempt: Scenario) throws(InvalidInputError) -> Scenario {
    guard let exercise, let start = variants.first(where: { $0.name == exercise.variant }) else {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) has no exercise",
        nextStep: "use a scenario with the key `exercise`; `cdprof list` lists scenarios")
    }
    guard let changed = attempt.variants.first(where: { $0.name == exercise.variant }) else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(attempt.path) has no variant `\(exercise.variant)`, which is the one to change",
        nextStep: "keep the name of the variant, and change its steps or options")
    }
    var scenario = self
    scenario.variants = [(self, start), (attempt, changed)].map { owner, variant in
      var whole = variant
      whole.first = variant.steps(sharing: owner.steps).map(\.withoutExpectations)
      (whole.set, whole.then) = ([], [])
      whole.expect = exercise.budget
      return whole
    }
    scenario.steps = []
    return scenario
  }
}

extension Step {
  fileprivate var withoutExpectations: Step {
    var step = self
    step.expect = nil
    return step
  }
}

/// Reads a scenario's `exercise`.
struct ExerciseReader {
  let document: YAMLDocument
  let variants: [Variant]
  /// Returns the names of a variant that scopes in parentheses can use.
  let scopes: (Variant) -> ScopeResolver

  static let keys = ["task", "variant", "budget"]

  func exercise(of entry: YAMLEntry) -> Exercise? {
    guard
      let list = document.entries(
        of: entry.node, at: entry.keyPath, known: ExerciseReader.keys, what: "an exercise")
    else { return nil }
    let entries = Dictionary(
      list.map { ($0.key.text, $0) }, uniquingKeysWith: { first, _ in first })
    for key in ExerciseReader.keys where entries[key] == nil {
      document.report(
        LanguageProblem(
          "the exercise has no `\(key)`", at: entry.key.range, nextStep: "write `\(key): …`"),
        at: entry.keyPath)
    }
    guard let task = entries["task"].flatMap({ document.text(of: $0, wanted: "a sentence") }),
      let name = entries["variant"].flatMap({ document.text(of: $0, wanted: "a variant") }),
      let budget = entries["budget"],
      let variant = document.noting(
        at: "\(entry.keyPath).variant",
        { () throws(LanguageProblem) in
          try variants.named(name)
        }),
      let block = ExpectReader(document: document, scopes: scopes(variant), source: .ours)
        .block(of: budget)
    else { return nil }
    return Exercise(task: task.text.trimmedLines, variant: variant.name, budget: block)
  }
}
