import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Questions of a scenario")
struct PredictionReaderTests {
  private func read(_ predict: String) throws -> Scenario {
    let text = """
      name: Notes
      model: Notes
      data: {Note: {count: 3}}
      steps: [{fetch: Note, as: notes}]
      variants: [{name: plain}, {name: 1.3 screens, set: {notes.limit: 1}}]
      \(predict)
      """
    return try ScenarioReader.read(
      text: text, url: PackagedScenarios.folder.appendingPathComponent("notes.yml"),
      path: "notes.yml")
  }

  @Test func readsEachKindOfQuestion() throws {
    let scenario = try read(
      """
      predict:
        - {question: Which one is cheapest?, least: rows(notes), hints: [Count them., Twice.]}
        - {question: Which one isn't?, most: selects}
        - question: |
            How many rows?
          count: 1.3 screens.rows(Note)
          why: |
            There's a limit
            of one.
        - {question: Which index?, index: plain, hints: None has one.}
      """)
    #expect(
      scenario.predictions == [
        Prediction(
          question: "Which one is cheapest?", subject: .least(ScopedMetric(.rows, .step("notes"))),
          hints: ["Count them.", "Twice."]),
        Prediction(question: "Which one isn't?", subject: .most(ScopedMetric(.selects))),
        Prediction(
          question: "How many rows?",
          subject: .count(ScopedMetric(.rows, .entity("Note")), variant: "1.3 screens"),
          why: "There's a limit of one."),
        Prediction(
          question: "Which index?", subject: .index(variant: "plain"), hints: ["None has one."]),
      ])
    #expect(
      scenario.namedMetrics == [
        ScopedMetric(.rows, .step("notes")), ScopedMetric(.selects),
        ScopedMetric(.rows, .entity("Note")),
      ])
  }

  /// A value of `predict`, the column and the message of its problem, and the suggestion.
  @Test(
    arguments: [
      ("predict:", 1, "`predict` is empty", nil),
      ("predict: {question: How?, leest: selects}", 27, "a question has no key `leest`", "least"),
      ("predict: {question: How?}", 10, "the question has no answer to compute", nil),
      (
        "predict: {question: How?, least: rows, most: rows}", 40,
        "`least` and `most` can't be combined", nil
      ),
      ("predict: {least: rows}", 10, "there's no question", nil),
      ("predict: {question: , least: rows}", 11, "`question` needs a sentence", nil),
      ("predict: {question: How?, least: rwos}", 34, "unknown metric `rwos`", "rows"),
      (
        "predict: {question: How?, count: plian.rows}", 34, "there's no variant `plian`", "plain"
      ),
      (
        "predict: {question: How?, count: plain}", 34, "`plain` isn't a variant and a metric", nil
      ),
      ("predict: {question: How?, count: plain.rwos}", 40, "unknown metric `rwos`", "rows"),
      ("predict: {question: How?, index: plian}", 34, "there's no variant `plian`", "plain"),
      ("predict: {question: How?, most: rows, hints: [[a]]}", 47, "`hints` needs sentences", nil),
    ] as [(String, Int, String, String?)])
  func problemsAreReportedAtTheirColumn(
    predict: String, column: Int, message: String, suggestion: String?
  ) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(predict) }
    let diagnostic = try #require(error.diagnostics.first)
    #expect(error.diagnostics.count == 1)
    #expect(diagnostic.line == 6 && diagnostic.column == column)
    #expect(diagnostic.problem.message == message)
    #expect(diagnostic.problem.suggestion == suggestion)
    #expect(diagnostic.keyPath.hasPrefix("predict"))
  }
}
