import Foundation
import OpenCoreData
import ProfileEvents
import Testing

@testable import Workbench

@Suite("A scenario is run")
struct ScenarioRunnerTests {
  @Test(arguments: [1, 3])
  func theFaultLessonHolds(scale: Int) throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      ScenarioFiles.folder.appendingPathComponent("faults.yml"), path: "Scenarios/faults.yml")
    let runner = ScenarioRunner(scenario: scenario, scale: scale, outputDirectory: folder.url)
    let result = try runner.run()
    let missed = result.variants.flatMap { variant in
      variant.expectations.filter { !$0.holds }.map { expectation in
        "\(variant.name) · \(expectation.metric): expected \(expectation.expectedText), "
          + "found \(expectation.found): \(expectation.differences)"
      }
    }
    #expect(missed == [])
    #expect(result.expectations == 23)
    #expect(result.seed == 7)
    let moods = 5000 * scale
    #expect(result.data.map(\.count) == [6, 60, moods])
    #expect(
      result.variants.map { $0.metrics[.selects] } == [1 + moods + 60, 61, 61, 2, 2, 2 + moods / 20])
    #expect(FileManager.default.fileExists(atPath: folder.file("faults.sqlite").path))
  }
}
