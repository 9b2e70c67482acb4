import Foundation
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Data that scenarios include")
struct IncludedDataTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Reads a scenario that includes a file.
  private func read(_ included: String?, _ data: String) throws -> Scenario {
    if let included {
      try Data(included.utf8).write(to: folder.file("data.yml"))
    }
    let model = PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel").path
    let text = """
      name: Include
      model: \(model)
      data: \(data)
      steps: [fetch Mood as moods]
      """
    return try ScenarioReader.read(
      text: text, url: folder.file("test.yml"), path: "test.yml")
  }

  @Test func ownEntitiesReplaceIncludedOnesAndFollowThem() throws {
    let scenario = try read(
      "seed: 9\nx-count: &count 7\nCountry: {count: *count}\nMood: {count: 3 * Country}\n",
      "{include: data.yml, Country: {count: 2 * scale}, Continent: {count: Mood}}")
    #expect(scenario.data.seed == 9)
    let counts = try scenario.data.counts(scale: 2)
    #expect(counts.map(\.name) == ["Country", "Mood", "Continent"])
    #expect(counts.map(\.count) == [4, 12, 12])
    #expect(scenario.data.includedFile?.lastPathComponent == "data.yml")
    let other = try read(nil, "{seed: 3, include: data.yml}")
    #expect(other.data.seed == 3)
  }

  /// Otherwise, a folder couldn't be run, because data without steps is an invalid scenario.
  @Test(arguments: [
    ("data: {include: Data/moods.yml}", "a.yml"),
    ("data: {seed: 2, include: \"Data/moods.yml\", Mood: {count: 2}}", "a.yml"),
    ("data:\n  include: Data/../Data/moods.yml  # shared", "a.yml"),
    ("data: {include: ../Data/moods.yml}", "sub/a.yml"),
  ])
  func includedFilesOfAFolderAreNotScenarios(data: String, name: String) throws {
    for (path, text) in [
      (name, "name: A\n\(data)\nsteps: []\n"), ("Data/moods.yml", "Mood: {count: 1}\n"),
      ("Data/other.yml", "Mood: {count: 1}\n"),
    ] {
      let file = folder.file(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let found = try ScenarioFinder.files(at: folder.url.path)
    #expect(found.map(\.name).sorted() == ["Data/other", String(name.dropLast(4))])
  }

  /// `Country` is a subentity of the abstract entity `Region`.
  @Test func countsIncludeSubentitiesAbove() throws {
    let scenario = try read(
      nil, "{Continent: {count: 2}, Country: {count: 3}, Mood: {count: Region}}")
    #expect(try scenario.data.counts(scale: 1).map(\.count) == [2, 3, 5])
  }

  @Test(arguments: [
    (nil, "{include: data.yml}", "test.yml:3:17: error: the file can't be included: "),
    ("a", "{include: /etc/passwd}", "test.yml:3:17: error: `/etc/passwd` isn't a YAML file"),
    ("a", "{include: data.yml}", "data.yml:1:1: error: `data` must be a map"),
    (
      "Mod: {count: 1}", "{include: data.yml}", "data.yml:1:1: error: the model has no entity `Mod`"
    ),
    ("include: data.yml", "{include: data.yml}", "data.yml:1:1: error: the model has no entity `i"),
    (
      "store: a.sqlite", "{include: data.yml}",
      "data.yml:1:1: error: the model has no entity `store"
    ),
    ("Mood: {count: 0 - 3}", "{include: data.yml}", "test.yml:3:17: error: `0 - 3` has no value"),
    ("[", "{include: data.yml}", "data.yml:1:1: error: invalid YAML"),
  ])
  func errorsNameTheFile(included: String?, data: String, message: String) {
    let error = #expect(throws: ScenarioDiagnostics.self) { try read(included, data) }
    #expect(error?.description.contains(message) == true, "\(error as Any)")
  }
}
