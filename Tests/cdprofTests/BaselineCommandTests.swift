import Foundation
import Testing

@Suite("Baselines and histories of cdprof run")
struct BaselineCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Writes a scenario whose only variant reads `count` rows.
  private func write(_ name: String, count: Int, to path: String) throws {
    _ = try program.folder.write(
      """
      name: \(name)
      model: \(PackageFiles.model)
      data: {Continent: {count: 9}}
      steps: [{fetch: Continent, limit: \(count)}]
      """, to: path)
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: program.folder.file(name), encoding: .utf8)
  }

  @Test func increasesFailUntilTheBaselineIsUpdated() throws {
    try write("One", count: 2, to: "mine/one.yml")
    let run = ["run", "mine", "--baseline", "b.json"]
    let missing = try program.run(run)
    #expect(missing.status == 66 && missing.errors.contains("--update-baseline"))
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("Reports").path))

    let created = try program.run(run + ["--update-baseline"])
    #expect(created.status == 0 && created.output.contains("b.json: the scenario is new"))
    #expect(created.output.hasSuffix("written: b.json\n"))
    let first = try text("b.json")
    let same = try program.run(run)
    #expect(same.status == 0 && same.output.contains("b.json: the same "))

    try write("One", count: 3, to: "mine/one.yml")
    try write("Two", count: 3, to: "mine/two.yml")
    let worse = try program.run(run + ["--quiet"])
    #expect(worse.status == 2)
    #expect(
      worse.output == "✗ One · rows   baseline 2, actual 3   mine/one.yml:4\n"
        + "✗ One · peak   baseline 2, actual 3   mine/one.yml:4\n"
        + "✗ One · peak(Continent)   baseline 2, actual 3   mine/one.yml:4\n", "\(worse.output)")
    #expect(try text("b.json") == first, "only --update-baseline writes the file")
    let shown = try program.run(run)
    #expect(shown.status == 2 && shown.output.contains("1 of 2 scenarios passed"))
    #expect(shown.output.contains("2 → 3   + 1"))

    #expect(try program.run(run + ["--only", "one", "--update-baseline"]).status == 0)
    let one = try text("b.json")
    #expect(one != first && !one.contains("\"Two\""))
    #expect(try program.run(run + ["--update-baseline", "--jobs", "2"]).status == 0)
    #expect(try program.run(run).status == 0)
    try write("One", count: 1, to: "mine/one.yml")
    #expect(try program.run(run).status == 0, "fewer is fine")

    _ = try program.folder.write(
      text("mine/one.yml") + "\nvariants: [{name: other, why: renamed}]\n", to: "mine/one.yml")
    let renamed = try program.run(run)
    #expect(renamed.status == 0 && renamed.output.contains("  other: new\n  One: no longer exists"))
    let chosen = try program.run(run + ["--only", "one", "--variant", "other"])
    #expect(chosen.status == 0 && !chosen.output.contains("no longer exists"))
  }

  @Test func countsOfMissingScenariosAreRemoved() throws {
    for name in ["One", "Two", "Three"] { try write(name, count: 2, to: "mine/\(name).yml") }
    let run = ["run", "mine", "--baseline", "ci/b.json"]
    #expect(try program.run(run + ["--update-baseline"]).status == 0)
    #expect(try text("ci/b.json").contains("\"file\":\"../mine/Two.yml\""))
    try FileManager.default.removeItem(at: program.folder.file("mine/Two.yml"))
    try write("Third", count: 2, to: "mine/Three.yml")
    let compared = try program.run(run)
    #expect(compared.status == 0)
    #expect(
      compared.output.contains(
        "ci/b.json: has 2 scenarios that no longer exist; --update-baseline removes the counts\n"
          + "  Three\n  Two\n"), "\(compared.output)")
    let one = try program.run(
      ["run", "mine/One.yml", "--baseline", "ci/b.json", "--update-baseline"])
    #expect(one.output.contains("ci/b.json: removed 1 scenario that no longer exists\n  Two\n"))
    #expect(try program.run(run + ["--update-baseline", "--quiet"]).output.isEmpty)
    let text = try text("ci/b.json")
    #expect(!text.contains("\"Two\"") && !text.contains("\"Three\"") && text.contains("\"Third\""))
    #expect(try !program.run(run).output.contains("no longer"))
  }

  /// Nothing runs if a file can't be used.
  @Test(
    arguments: [
      (["--baseline", "bad.json"], 65, "bad.json:2:1: error: invalid JSON"),
      (["--history", "bad.json"], 65, "bad.json:1:2: error: invalid JSON"),
      (["--history", "mine"], 65, "it's a folder"),
      (["--baseline", "mine", "--update-baseline"], 66, "is a folder"),
      (["--update-baseline"], 64, "--update-baseline requires --baseline"),
      (["--commit", "a"], 64, "--commit requires --history"),
      (["--history", "h", "--commit", ""], 64, "--commit must have"),
      (["--history", "h", "--watch"], 64, "--watch can't be combined"),
      (["--history", "-"], 64, "can't be standard input"),
      (["mine/copy", "--history", "h"], 65, "have the same name, `One`"),
    ])
  func invalidOptionsAndFilesAreErrors(options: [String], status: Int32, message: String) throws {
    try write("One", count: 2, to: "mine/one.yml")
    try write("One", count: 2, to: "mine/copy/other.yml")
    _ = try program.folder.write("{\n<<<<", to: "bad.json")
    let outcome = try program.run(["run", "mine/one.yml"] + options)
    #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("Reports").path))
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("h").path))
  }

  @Test func historyIsDrawn() throws {
    for (count, commit) in [(2, "a"), (5, "b")] {
      try write("One", count: count, to: "one.yml")
      let run = try program.run(
        ["run", "one.yml", "--quiet", "--history", "sub/h.jsonl", "--commit", commit])
      #expect(run.status == 0 && run.output.isEmpty)
    }
    let history = try text("sub/h.jsonl")
    #expect(history.split(separator: "\n").count == 2)
    #expect(history.contains("{\"commit\":\"b\",\"date\":\"20") && history.contains("\"rows\":5"))
    let printed = try program.run(["report", "--history", "sub/h.jsonl"])
    #expect(printed.status == 0 && printed.output.contains("3 costs increased in the latest run"))
    let written = try program.run(["report", "--history", "sub/h.jsonl", "--out", "pages"])
    #expect(written.output == "written: pages/h.html\n")
    #expect(try text("pages/h.html") == printed.output)
    #expect(try program.run(["report", "--history", "sub/h.jsonl", "--out", "pages"]).status == 0)
    _ = try program.folder.write("", to: "empty.jsonl")
    #expect(try program.run(["report", "--history", "empty.jsonl"]).status == 65)
    #expect(try program.run(["run", "one.yml", "--history", "empty.jsonl"]).status == 0)
    for wrong in [
      ["report"], ["report", "a.json", "--history", "sub/h.jsonl"],
      ["report", "--history", "sub/h.jsonl", "--report", "md"],
    ] {
      #expect(try program.run(wrong).status == 64, "\(wrong)")
    }
  }
}
