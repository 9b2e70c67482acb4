import Foundation
import OpenCoreData
import Profiling
import RunResults
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import ScenarioLanguage
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Stores of a configuration in the shell")
struct ConfigurationShellTests {
  @Test(
    "A store is opened with its configuration, which the banner names",
    arguments: [ShellWorkspace.Writing.never, .copy, .inPlace])
  func storeIsOpenedWithItsConfiguration(writing: ShellWorkspace.Writing) throws {
    let store = try ConfigurationStore()
    let workspace = try ShellWorkspace(opening: store.url.path, writing: writing)
    #expect(workspace.counts == [EntityCount(name: "City", count: 2)])
    let shell = try ShellSession(on: workspace)
    #expect(shell.engine.banner().hasPrefix("Cities.sqlite · City 2 · "))
    #expect(shell.engine.banner().contains("; configuration Local · "))
    let fetch = shell.type("fetch City sort name as cities")
    #expect(fetch.failure == nil && fetch.lines.first?.contains(" 1 SELECT ") == true)
    #expect(shell.type("show cities columns name").lines.contains { $0.contains("Kyiv") })
    #expect(shell.type("entities").lines == ["  City  2"])
    for line in ["fetch Country", "entities Country"] {
      let failure = shell.type(line).failure
      #expect(
        failure?.message
          == "the store contains only the configuration Local, which has no entity `Country`")
    }
    #expect(shell.type(".schema City").lines.contains { $0.contains("CREATE TABLE ZCITY") })
    guard writing != .never else { return }
    #expect(shell.type("insert City with name Lviv").failure == nil)
    #expect(shell.type("save").failure == nil)
    #expect(shell.type("count City").lines.first?.hasPrefix("  3 City ") == true)
  }

  @Test("A saved scenario runs on a copy of the store, and can't use other entities")
  func savedScenarioRuns() throws {
    let store = try ConfigurationStore()
    let shell = try ShellSession(store.url)
    shell.type("fetch City sort name as cities", "touch cities name", "reset", "count City")
    let file = store.folder.file("scenario.yml")
    #expect(shell.type("save scenario \(file.path)").failure == nil)
    let scenario = try ScenarioReader.read(file)
    let result = try ScenarioRunner(
      scenario: scenario, outputDirectory: store.folder.file("out")
    ).run()
    #expect(result.passes)
    #expect(result.data == [EntityCount(name: "City", count: 2)])
    let again = try ShellSession(file)
    #expect(again.engine.banner().contains("; configuration Local · "))
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(
        text: """
          name: Countries
          data: {store: Cities.sqlite}
          steps:
            - {count: Country}
          """, url: store.folder.file("countries.yml"), path: "countries.yml")
    }
    #expect(
      error?.description.contains(
        "the store contains only the configuration Local, which has no entity `Country`") == true)
  }
}
