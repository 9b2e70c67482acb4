import ProfileEvents
import StatementAnalysis
import Testing
import WorkbenchFixtures

@testable import RunResults
@testable import ScenarioLanguage

@Suite("Answers of a scenario's questions")
struct PredictionResultTests {
  private func result(_ subject: Prediction.Subject) -> PredictionResult? {
    PredictionResult(
      Prediction(question: "Which?", subject: subject, hints: ["a"], why: "b"),
      of: FaultStormScenario.full.variants)
  }

  @Test func answersAreComputedFromTheMeasuredValues() throws {
    let least = try #require(result(.least(ScopedMetric(.selects))))
    #expect(least.choices == FaultStormScenario.full.variants.map(\.name))
    #expect(least.answers == ["prefetched", "held"])
    #expect(least.hints == ["a"] && least.why == "b")
    #expect(result(.most(ScopedMetric(.misses)))?.answers == ["fault storm"])
    let count = try #require(result(.count(ScopedMetric(.selects), variant: "plain")))
    #expect(count.choices.isEmpty && count.answers == ["61"])
  }

  @Test func variantWithoutAMigrationWritesLeast() throws {
    var variants = Array(FaultStormScenario.full.variants.prefix(3))
    variants[0].metrics[.migratedrows] = 200
    variants[1].metrics[.migratedrows] = 600
    let question = Prediction(question: "Which?", subject: .least(ScopedMetric(.migratedrows)))
    let least = try #require(PredictionResult(question, of: variants))
    #expect(least.choices == variants.map(\.name))
    #expect(least.answers == [variants[2].name])
  }

  @Test func questionsAboutExcludedVariantsAreOmitted() {
    #expect(result(.count(ScopedMetric(.selects), variant: "another")) == nil)
    #expect(result(.index(variant: "another")) == nil)
    let one = Array(FaultStormScenario.full.variants.prefix(1))
    let question = Prediction(question: "Which?", subject: .least(ScopedMetric(.selects)))
    #expect(PredictionResult(question, of: one) == nil)
  }

  @Test func indexesAreThoseOfTheSelectsPlans() throws {
    var variants = Array(FaultStormScenario.full.variants.prefix(3))
    for (index, plan) in [
      "`--SEARCH t0 USING INDEX Z_Mood_byDate (ZDATE>?)",
      "`--SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)", "`--SCAN t0",
    ].enumerated() {
      variants[index].statements = [variants[index].statements[0].explained(by: [plan])]
    }
    let answers = variants.map { variant in
      PredictionResult(
        Prediction(question: "Which?", subject: .index(variant: variant.name)), of: variants)
    }
    #expect(
      answers.map { $0?.answers } == [
        ["Z_Mood_byDate"], [PredictionResult.primaryKey], [PredictionResult.noIndex],
      ])
    #expect(
      answers[0]?.choices == [
        "Z_Mood_byDate", PredictionResult.primaryKey, PredictionResult.noIndex,
      ])
  }
}
