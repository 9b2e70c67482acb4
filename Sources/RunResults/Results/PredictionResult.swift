import ProfileEvents
import SQLiteDriver
package import ScenarioLanguage
import StatementAnalysis

/// A question about a scenario's result with its answer, which is computed from the result.
package struct PredictionResult: Sendable, Equatable, Codable {
  package var question: String
  /// The answers to choose from; empty if the answer is a number.
  package var choices: [String]
  /// The right answers: one or more of the choices, or a number.
  package var answers: [String]
  /// The hints, which the page shows one at a time.
  package var hints: [String]
  /// The explanation that follows the answer; empty if there's none.
  package var why: String

  /// The choice for a query that searches by primary key.
  static let primaryKey = "the primary key"
  /// The choice for a query that doesn't use an index.
  static let noIndex = "none: a full table scan"

  package init(
    question: String, choices: [String], answers: [String], hints: [String], why: String
  ) {
    self.question = question
    self.choices = choices
    self.answers = answers
    self.hints = hints
    self.why = why
  }

  /// Computes the answer of a question.
  ///
  /// Returns `nil` if there's nothing to ask because a variant of the question didn't run, or fewer
  /// than two variants have the metric.
  package init?(_ prediction: Prediction, of variants: [VariantResult]) {
    question = prediction.question
    hints = prediction.hints
    why = prediction.why
    switch prediction.subject {
    case .least(let metric), .most(let metric):
      let values = variants.compactMap { variant in
        variant.value(of: metric).map { (name: variant.name, value: $0) }
      }
      let isLeast = if case .least = prediction.subject { true } else { false }
      let counts = values.map(\.value)
      guard values.count > 1, let right = isLeast ? counts.min() : counts.max() else { return nil }
      choices = values.map(\.name)
      answers = values.filter { $0.value == right }.map(\.name)
    case .count(let metric, let name):
      guard let variant = variants.first(where: { $0.name == name }) else { return nil }
      choices = []
      answers = [String(variant.value(of: metric) ?? 0)]
    case .index(let name):
      guard let variant = variants.first(where: { $0.name == name }) else { return nil }
      let used = Set(variants.flatMap(PredictionResult.plans).flatMap(\.indexes))
      choices = used.sorted() + [PredictionResult.primaryKey, PredictionResult.noIndex]
      let plans = PredictionResult.plans(of: variant)
      let indexes = Set(plans.flatMap(\.indexes)).sorted()
      guard indexes.isEmpty else {
        answers = indexes
        return
      }
      let searches = plans.contains(where: \.searchesPrimaryKey)
      answers = [searches ? PredictionResult.primaryKey : PredictionResult.noIndex]
    }
  }

  private static func plans(of variant: VariantResult) -> [QueryPlan] {
    variant.statements.filter { $0.kind == .select }.map { QueryPlan(lines: $0.plan) }
  }
}
