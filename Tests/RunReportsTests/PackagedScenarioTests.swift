import Foundation
import ProfileEvents
import RunResults
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import ScenarioLanguage

@Suite("The scenarios of the package, and their reports")
struct PackagedScenarioTests {
  @Test(arguments: PackagedScenarios.all)
  func everyScenarioMeetsItsExpectationsAndShowsThem(file: URL) throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let scenario = try ScenarioReader.read(file)
    let result = try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
    #expect(result.unmetExpectations == [])
    #expect(result.variants.allSatisfy { !$0.expectations.isEmpty })
    expectNamedMetrics(of: scenario, on: ReportTable(result))
    for variant in result.variants
    where variant.expectations.contains(where: { $0.source == .ours }) {
      #expect(!variant.apple.isEmpty, "\(variant.name) doesn't state what Core Data does")
    }
    let text = ReportHeadline(result, lead: ReportMetrics(result).lead).text
    #expect(text.firstMatch(of: /\b0 |between/) == nil, "\(text)")
    #expect(!text.contains("{"), "\(text)")
  }

  /// Each metric that an expectation names is a column.
  private func expectNamedMetrics(of scenario: Scenario, on table: ReportTable) {
    let columns = Set([table.rows[0].metric] + table.rows[0].cells.map(\.metric))
    for metric in scenario.namedMetrics {
      #expect(columns.contains(metric.description), "\(metric) isn't a column")
    }
    #expect(table.lead == scenario.metric ?? table.lead)
  }
}
