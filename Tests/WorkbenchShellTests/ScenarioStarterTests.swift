import Foundation
import OpenCoreData
import RunResults
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import ScenarioLanguage
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Starter scenarios meet their expectations")
struct ScenarioStarterTests {
  @Test
  func starterOnGeneratedDataMeetsItsExpectations() throws {
    let folder = try TemporaryFolder()
    let written = try ScenarioStarter(name: "my first").write(to: folder.url)
    #expect(written.count == 3)
    try expectPasses(folder.file("my first.yml"), in: folder)
    // The model file is reused; an existing scenario file isn't replaced.
    #expect(throws: CommandFailure.self) {
      try ScenarioStarter(name: "my first").write(to: folder.url)
    }
    #expect(try ScenarioStarter(name: "second").write(to: folder.url).count == 1)
  }

  @Test
  func starterNamesItsFile() throws {
    let folder = try TemporaryFolder()
    _ = try ScenarioStarter(name: "mine", file: "mine.yaml").write(to: folder.url)
    let text = try String(contentsOf: folder.file("mine.yaml"), encoding: .utf8)
    #expect(text.contains("cdprof run mine.yaml ") && text.contains("name: mine\n"))
  }

  @Test
  func starterOnAStoreMeetsItsExpectations() throws {
    let store = try TypedSession.store()
    let workspace = try ShellWorkspace(store: store.url, path: store.url.path)
    let starter = try ScenarioStarter(
      name: "theirs", store: store.url, model: workspace.model, counts: workspace.counts,
      folder: store.folder.url)
    #expect(try starter.write(to: store.folder.url).count == 2)
    let file = store.folder.file("theirs.yml")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("store: small.sqlite ") && text.contains("{fetch: Mood, as: objects}"))
    try expectPasses(file, in: store.folder)
  }

  @Test
  func storeWithoutObjectsIsAnError() throws {
    let store = try TypedSession.store()
    let workspace = try ShellWorkspace(store: store.url, path: store.url.path)
    let counts = workspace.counts.map { EntityCount(name: $0.name, count: 0) }
    let error = #expect(throws: InvalidInputError.self) {
      try ScenarioStarter(
        name: "theirs", store: store.url, model: workspace.model, counts: counts,
        folder: store.folder.url)
    }
    #expect(error?.message == "small.sqlite has no entity with objects")
  }

  private func expectPasses(_ file: URL, in folder: TemporaryFolder) throws {
    let scenario = try ScenarioReader.read(file)
    for scale in [1, 3] {
      let result = try ScenarioRunner(
        scenario: scenario, scale: scale, outputDirectory: folder.file("out")
      ).run()
      #expect(result.passes, "\(RunText.lines(result).joined(separator: "\n"))")
    }
  }
}
