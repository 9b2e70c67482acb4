import Foundation
import ScenarioFiles
import ScenarioLanguage
import Testing
import WorkbenchFixtures

@Suite("Lists of scenarios")
struct ScenarioListTests {
  private let folder = try? TemporaryFolder()

  /// Writes a scenario with one step and returns its folder.
  private func write(
    _ file: String, name: String, chapter: Int? = nil, covers: String = "",
    expect: String = "selects: 1"
  ) throws {
    let url = try #require(folder).file(file)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let model = PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel").path
    let text = """
      name: "\(name)"
      \(chapter.map { "chapter: \($0)\n" } ?? "")covers: [\(covers)]
      model: \(model)
      data: {Continent: {count: 1}}
      steps: [{fetch: Continent}]
      variants: [{name: only, expect: {\(expect)}}]

      """
    try Data(text.utf8).write(to: url)
  }

  @Test func scenariosAreListedByChapterInEightyColumns() throws {
    try write("z.yml", name: "Own")
    try write("b/late.yml", name: "Late", chapter: 12)
    try write("a/\(String(repeating: "p", count: 40)).yml", name: "Path", chapter: 6)
    try write("c/early.yml", name: String(repeating: "long ", count: 30), chapter: 6)
    let path = try #require(folder).url.path
    let lines = ScenarioListText.lines(try ScenarioList(folder: path))
    let long = String(repeating: "p", count: 40)
    let name = String(repeating: "long ", count: 30).prefix(77)
    let pad = String(repeating: " ", count: 30)
    #expect(
      lines == [
        path, "", "Chapter 6",
        "  Path\(pad.dropFirst(4))  a/\(long).yml", "  \(name)…", "  \(pad)  c/early.yml", "",
        "Chapter 12", "  Late\(pad.dropFirst(4))  b/late.yml", "", "Without a chapter",
        "  Own\(pad.dropFirst(3))  z.yml", "", "4 scenarios",
      ])
    #expect(lines.dropFirst().allSatisfy { $0.count <= 80 })
  }

  @Test func metricsAndBehaviorsSelect() throws {
    try write("a.yml", name: "A", covers: "S6.01: book", expect: "selects: 1, rows: 1")
    try write("b.yml", name: "B", covers: "S6.01, S6.02: book", expect: "faults: 0")
    let all = try ScenarioList(folder: try #require(folder).url.path)
    func names(_ metric: String?, _ behavior: String?) throws -> [String] {
      var list = all
      try list.keep(metric: metric, covering: behavior)
      return list.folders.flatMap(\.entries).map(\.scenario.name)
    }
    #expect(all.folders.flatMap(\.entries).map(\.metrics) == [["selects", "rows"], ["faults"]])
    #expect(try names(nil, nil) == ["A", "B"])
    #expect(try names("rows", nil) == ["A"])
    #expect(try names(nil, "S6.01") == ["A", "B"])
    #expect(try names("faults", "S6.02") == ["B"])
    for (metric, behavior, message) in [
      ("rowz", nil, "no scenario has an expectation for `rowz`; did you mean `rows`?"),
      (nil, "S6.03", "no scenario covers `S6.03`"),
      ("rows", "S6.02", "no scenario covers `S6.02` and has an expectation for `rows`"),
    ] as [(String?, String?, String)] {
      let error = #expect(throws: ScenarioChoice.Empty.self) { try names(metric, behavior) }
      #expect(error?.description.hasPrefix(message) == true)
    }
  }

  @Test func invalidScenariosAreErrorsAndTheOthersAreListed() throws {
    try write("a.yml", name: "A")
    try write("b.yml", name: "B", expect: "selectz: 1")
    let list = try ScenarioList(folder: try #require(folder).url.path)
    #expect(list.folders.flatMap(\.entries).map(\.path) == ["a.yml"])
    #expect(list.errors.count == 1)
    #expect(list.errors.first is ScenarioDiagnostics)
  }

  @Test func jsonContainsWhatAnEntryCovers() throws {
    try write("a.yml", name: "A", chapter: 6, covers: "S6.01: book")
    let list = try ScenarioList(folder: try #require(folder).url.path)
    let json = try JSONSerialization.jsonObject(with: try ScenarioListJSON.data(list))
    let entry = try #require(
      ((json as? [String: Any])?["scenarios"] as? [[String: Any]])?.first)
    #expect(
      entry.keys.sorted() == [
        "chapter", "covers", "metrics", "name", "path", "story", "variants",
      ])
    #expect(entry["covers"] as? [[String: String]] == [["id": "S6.01", "source": "book"]])
    #expect(entry["variants"] as? [String] == ["only"])
  }
}
