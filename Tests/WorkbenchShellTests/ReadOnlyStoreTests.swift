import Foundation
import RunResults
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import ScenarioLanguage
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Read-only stores in the shell", .enabled(if: SharedData.moodyStores != nil))
struct ReadOnlyStoreTests {
  private func moody() throws -> URL {
    try #require(SharedData.moodyStores).appendingPathComponent("Moody.moody")
  }

  @Test
  func appleStoresOpenWithoutAModelFile() throws {
    let shell = try ShellSession(try moody())
    #expect(shell.engine.banner().hasPrefix("Moody.moody · Continent 2, Country 3, Mood 4 · "))
    let fetch = shell.type(
      "fetch Mood where \"country.numericISO3166Code == 710\" sort date- batch 20 as m")
    #expect(
      fetch.lines == [
        "  m: 2 Mood, in batches of 20                1 SELECT        2 rows       0 faults"
      ])
    let touch = shell.type("touch m country.updatedAt")
    #expect(touch.lines.first?.contains(" 2 SELECTs       3 rows ") == true)
    #expect(shell.type("stats").lines.contains("  selects             3"))
  }

  @Test(arguments: ["insert Mood as x", "set m with latitude 1", "delete m", "save"])
  func changingStepsAreErrorsInReadOnlyMode(line: String) throws {
    let shell = try ShellSession(try moody())
    shell.type("fetch Mood as m")
    let failure = try #require(shell.type(line).failure)
    #expect(failure.message.hasSuffix("changes data, but the store is open read-only"))
    #expect(failure.nextStep?.contains("`open STORE write`") == true)
    #expect(shell.engine.current.steps.count == 1)
  }

  @Test func runsAreSavedAsAScenarioOnACopy() throws {
    let folder = try TemporaryFolder()
    let store = folder.file("Copy of Moody.moody")
    try FileManager.default.copyItem(at: try moody(), to: store)
    let before = try Data(contentsOf: store)
    let shell = try ShellSession(store)
    shell.type("fetch Mood as m", "touch m country.updatedAt", "reset", "count Mood")
    let file = folder.file("scenario.yml")
    #expect(shell.type("save scenario \(file.path)").failure == nil)
    #expect(try String(contentsOf: file, encoding: .utf8).contains("Copy of Moody.moody"))
    let result = try ScenarioRunner(
      scenario: try ScenarioReader.read(file), outputDirectory: folder.file("out")
    ).run()
    #expect(result.passes)
    #expect(try Data(contentsOf: store) == before)
  }
}
