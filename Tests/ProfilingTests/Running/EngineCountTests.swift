import Foundation
import OpenCoreData
import ProfileEvents
import Profiling
import RunResults
import ScenarioFiles
import ScenarioLanguage
import StatementAnalysis
import Testing
import WorkbenchFixtures

@Suite("Counts that an engine doesn't have")
struct EngineCountTests {
  /// SQLite without counts of its steps and without plans, like a server.
  private struct PartialEngine: StoreEngine {
    private let sqlite = SQLiteEngine()

    func description() throws -> EngineDescription? { nil }
    var command: (program: String, options: String) { sqlite.command }
    var storeType: NSPersistentStore.StoreType { sqlite.storeType }
    var storeOptions: [String: any Sendable] { sqlite.storeOptions }
    func obstacle(to step: Step) -> EngineObstacle? { nil }
    func obstacle(to model: NSManagedObjectModel) -> EngineObstacle? { nil }
    func obstacle(to data: DataPlan) -> EngineObstacle? { nil }
    func obstacle(to metric: Metric) -> String? { counts(metric) ? nil : "it isn't counted" }
    func counts(_ metric: Metric) -> Bool { metric != .vmsteps }
    var obstacleToPlans: String? { "there are no plans" }
    func makeStoreURL() throws -> URL { try sqlite.makeStoreURL() }
    func copyStore(at url: URL) throws -> URL { try sqlite.copyStore(at: url) }
    func removeStore(at url: URL) { sqlite.removeStore(at: url) }
    func explained(
      _ shapes: [StatementShape], at url: URL, copiedFrom data: URL
    ) throws -> [StatementShape] { shapes }
    func advisor(at url: URL, model: NSManagedObjectModel) throws -> IndexAdvisor {
      try sqlite.advisor(at: url, model: model)
    }
  }

  /// They aren't 0, and a plan that's unknown isn't a full table scan.
  @Test func resultsDoNotContainThem() throws {
    let text = """
      name: Counted
      model: Moody
      data: {Country: {count: 3}}
      headline: "It takes {one.vmsteps} steps."
      steps: [{fetch: Country, as: countries}]
      variants: [{name: one, expect: {selects: 1, vmsteps(countries): at most 100000}}]
      predict:
        - {question: How many steps?, count: one.vmsteps}
        - {question: How many SELECTs?, count: one.selects}
        - {question: Which index?, index: one}
      """
    let url = PackagedScenarios.folder.appendingPathComponent("counted.yml")
    let scenario = try ScenarioReader.read(text: text, url: url, path: "counted.yml")
    func result(_ engine: any StoreEngine) throws -> RunResult {
      let folder = try TemporaryFolder()
      let runner = ScenarioRunner(
        scenario: scenario, outputDirectory: folder.url, engine: engine)
      return try withExtendedLifetime(folder) { try runner.run() }
    }
    let steps = ScopedMetric(.vmsteps, .step("countries"))
    let whole = try result(SQLiteEngine())
    #expect(whole.headline != nil && whole.predictions.count == 3)
    #expect((whole.variants[0].value(of: steps) ?? 0) > 0)
    let partial = try result(PartialEngine())
    #expect(partial.headline == nil)
    #expect(partial.predictions.map(\.question) == ["How many SELECTs?"])
    #expect(partial.variants[0].value(of: steps) == nil)
    #expect(partial.unevaluatedExpectations == 1 && partial.passes)
  }
}
