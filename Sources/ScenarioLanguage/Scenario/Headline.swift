package import WorkbenchText

// What only pages use: the headline, the questions, and the exercise of a scenario.

/// The author's sentence about a scenario's result, which contains values of variants.
///
/// In the file, `{batched.rows}` is the rows of the variant `batched`.
package struct Headline: Sendable, Equatable {
  /// A part of the sentence.
  package enum Part: Sendable, Equatable {
    case text(String)
    case value(ScopedMetric, variant: String)
  }

  package var parts: [Part]

  package init(parts: [Part]) {
    self.parts = parts
  }

  /// The metrics whose values the sentence contains.
  package var metrics: [ScopedMetric] {
    parts.compactMap { part in
      if case .value(let metric, _) = part { metric } else { nil }
    }
  }

  /// Returns the sentence with its values, which are grouped like all numbers of a report, or `nil`
  /// if a value is missing.
  ///
  /// - Parameter value: A closure that returns the value of a metric for a variant, or `nil` if the
  ///   variant didn't run.
  package func text(_ value: (ScopedMetric, String) -> Int?) -> String? {
    let texts = parts.compactMap { part -> String? in
      switch part {
      case .text(let text): text
      case .value(let metric, let variant): value(metric, variant).map(NumberText.grouped)
      }
    }
    return texts.count == parts.count ? texts.joined() : nil
  }
}

/// A question about a scenario's result, which the page asks before it shows any number.
///
/// The answer isn't part of the scenario: it's computed from the measured results.
package struct Prediction: Sendable, Equatable {
  /// What the question is about.
  package enum Subject: Sendable, Equatable {
    /// The variant with the lowest value of a metric.
    case least(ScopedMetric)
    /// The variant with the highest value of a metric.
    case most(ScopedMetric)
    /// The value of a metric for a variant.
    case count(ScopedMetric, variant: String)
    /// The index that the SELECTs of a variant use.
    case index(variant: String)
  }

  package var question: String
  package var subject: Subject
  /// The hints, which the page shows one at a time.
  package var hints: [String]
  /// The explanation that follows the answer; empty if there's none.
  package var why: String

  package init(question: String, subject: Subject, hints: [String] = [], why: String = "") {
    self.question = question
    self.subject = subject
    self.hints = hints
    self.why = why
  }

  /// The metric that the answer requires, or `nil` for a question about an index.
  package var metric: ScopedMetric? {
    switch subject {
    case .least(let metric), .most(let metric), .count(let metric, _): metric
    case .index: nil
    }
  }
}

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
