import Foundation
import ProfileEvents
import ScenarioFiles
import StatementAnalysis
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import RunResults
@testable import ScenarioLanguage

@Suite("Query plans side by side")
struct ReportPlansTests {
  private func result(_ file: String) throws -> RunResult {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let scenario = try ScenarioReader.read(PackagedScenarios.folder.appendingPathComponent(file))
    return try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
  }

  /// The scenarios whose pages show plans, and the plan of some variants.
  @Test(arguments: [
    ("15-profiling/what-statistics-change.yml", ["SCAN", "SEARCH"]),
    ("15-profiling/one-index-for-two-things.yml", ["SCAN", "SEARCH", "SEARCH", "SEARCH"]),
    ("08-performance/an-index-on-every-column.yml", ["SCAN", "SEARCH", "SEARCH"]),
    ("12-predicates/what-an-index-serves.yml", ["SEARCH", "SEARCH", "SEARCH", "SCAN"]),
  ])
  func variantsScanOrSearch(file: String, ways: [String]) throws {
    let result = try result(file)
    let plans = try #require(ReportPlans(result))
    #expect(plans.variants.map(\.name) == result.variants.map(\.name))
    for (variant, way) in zip(plans.variants, ways) {
      let plan = try #require(variant.statements.last?.plan)
      #expect(plan.contains(way), "\(variant.name): \(plan)")
      #expect(variant.statements.last?.work.contains { $0.hasSuffix("returned") } == true)
      let scans = variant.statements.last?.work.contains { $0.contains("scanned") } == true
      #expect(scans == (way == "SCAN"), "\(variant.name)")
    }
    let page = try HTMLReport.page(result)
    #expect(page.contains("<h2 id=\"plans\">Query plans</h2>"))
  }

  @Test func otherScenariosShowNone() throws {
    let result = FaultStormScenario(moods: 20).result()
    #expect(ReportPlans(result) == nil)
    #expect(try !HTMLReport.page(result).contains("Query plans"))
  }

  /// A statement that all variants run with the same plan isn't shown.
  @Test func sharedStatementsAreOmitted() throws {
    var result = FaultStormScenario(moods: 20).result()
    result.variants = zip(["a", "b"], ["SCAN t0", "SEARCH t0"]).map { name, plan in
      var variant = VariantResult(name: name)
      variant.statements = ["SCAN ZCOUNTRY", plan].enumerated().map { index, line in
        var shape = StatementShape(
          number: index + 1, kind: .select, sql: "SELECT \(index)", count: 1, rows: 3,
          nanoseconds: 1)
        shape.plan = [line]
        return shape
      }
      variant.expectations = [
        ExpectationResult(
          metric: "plan", formula: "avoids scan", relation: .plan, expected: .text("avoids scan"),
          actual: .text("no scan"), isMet: true, source: .ours,
          location: CallSite(file: "a.yml", line: 1))
      ]
      return variant
    }
    let plans = try #require(ReportPlans(result))
    #expect(plans.variants.map { $0.statements.map(\.plan) } == [["SCAN t0"], ["SEARCH t0"]])
    result.variants[1].statements = result.variants[0].statements
    #expect(ReportPlans(result) == nil, "the plans are the same")
  }
}
