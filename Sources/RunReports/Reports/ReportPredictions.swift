import Foundation
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The questions that the page asks before it shows the result.
///
/// Without JavaScript, the questions and their answers are part of the complete page.
struct ReportPredictions {
  /// What a variant does, without its cost.
  struct Work {
    var name: String
    /// The steps, one per line.
    var steps: String
  }

  struct Question {
    var number: Int
    var question: String
    var choices: [Choice]
    /// Whether several choices are right.
    var hasSeveral: Bool
    /// The right number; `nil` if there are choices.
    var value: String?
    var hints: [String]
    var hasHints: Bool
    var answer: String
    var why: String?
  }

  struct Choice {
    var name: String
    var isRight: Bool
  }

  /// The name under which the browser stores the score.
  let lesson: String
  let works: [Work]
  let questions: [Question]

  /// Returns `nil` if the scenario has no questions.
  ///
  /// - Parameters:
  ///   - result: The result.
  ///   - lesson: The name of the lesson in its course; `nil` outside of a course.
  init?(_ result: RunResult, of lesson: String?) {
    guard !result.predictions.isEmpty else { return nil }
    self.lesson =
      lesson ?? ((result.file as NSString).lastPathComponent as NSString).deletingPathExtension
    works = result.variants.map { variant in
      Work(name: variant.name, steps: variant.steps.map(\.text).joined(separator: "\n"))
    }
    questions = result.predictions.enumerated().map { index, prediction in
      let number = prediction.choices.isEmpty ? prediction.answers.first : nil
      return Question(
        number: index + 1, question: prediction.question,
        choices: prediction.choices.map {
          Choice(name: $0, isRight: prediction.answers.contains($0))
        },
        hasSeveral: prediction.answers.count > 1, value: number, hints: prediction.hints,
        hasHints: !prediction.hints.isEmpty,
        answer: number.flatMap(Int.init).map(NumberText.grouped)
          ?? prediction.answers.joined(separator: ", "),
        why: prediction.why.nonEmpty)
    }
  }
}
