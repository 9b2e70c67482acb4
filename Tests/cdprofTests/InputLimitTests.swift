import Foundation
import Testing

@Suite("Limits of input")
struct InputLimitTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  private func expectRejection(
    _ arguments: [String], input: String = "", status: Int32 = 65, _ limit: String
  ) throws {
    let outcome = try program.run(arguments, input: input, cpuSeconds: 20)
    #expect(
      outcome.status == status, "\(arguments) \(input.prefix(80)): \(outcome.errors.prefix(400))")
    #expect(
      outcome.errors.contains(limit),
      "\(arguments) \(input.prefix(80)): \(outcome.errors.prefix(400))")
  }

  private func scenario(_ count: String, step: String = "count: Continent") -> String {
    """
    name: Large
    model: \(PackageFiles.model)
    data: {Continent: {count: "\(count)"}}
    steps:
      - {\(step)}
    """
  }

  @Test(arguments: [
    (["--repeat", "1000000000"], "--repeat must be at most 1,000"),
    (["--repeat", "9223372036854775807"], "--repeat must be at most 1,000"),
    (["--scale", "9223372036854775807"], "--scale must be at most 1,000,000"),
    (["--scale", "1,2000000"], "--scale must be at most 1,000,000"),
    (["--jobs", "1000000000"], "--jobs must be at most 256"),
  ])
  func rejectsOptionsOverTheLimit(options: [String], limit: String) throws {
    try expectRejection(["run", PackageFiles.faults] + options, status: 64, limit)
  }

  @Test(arguments: ["export --swift", "advise"])
  func rejectsScalesOverTheLimit(command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    try expectRejection(
      words + [PackageFiles.faults, "--scale", "1000001"], status: 64,
      "--scale must be at most 1,000,000")
  }

  @Test(arguments: [
    (
      Array(repeating: "1", count: 50_000).joined(separator: " + "),
      "too many numbers and names; the limit is 200"
    ),
    (
      Array(repeating: "scale", count: 201).joined(separator: "*"),
      "too many numbers and names; the limit is 200"
    ),
    (String(repeating: "-", count: 65) + "1", "nested too deeply; the limit is 64 levels"),
    (String(repeating: "(", count: 65), "nested too deeply; the limit is 64 levels"),
    ("10000001", "10,000,000"), ("9223372036854775807", "1,000,000,000,000,000"),
    ("99999999999999999999", "too large"),
    ("5000000000 * 5000000000", "too large"),
  ])
  func rejectsRowCountsOverTheLimit(count: String, limit: String) throws {
    let file = try program.folder.write(scenario(count), to: "large.yml")
    let outcome = try program.run(["run", file], cpuSeconds: 20)
    #expect(outcome.status == 65, "\(outcome.errors.prefix(300))")
    #expect(
      limit.split(separator: "|").contains { outcome.errors.contains($0) }, "\(outcome.errors)")
    #expect(outcome.errors.utf8.count < 4_000)
  }

  @Test(arguments: [
    ("insert Continent times 1000000000000", "1,000,000"),
    ("insert Continent times 9223372036854775807", "1,000,000"),
    ("batch-insert Continent times 1000000000", "1,000,000"),
    ("batch-insert Continent times 9223372036854775807", "1,000,000"),
    ("undo times 1000000000000", "1,000,000"),
    ("fetch Continent limit 9223372036854775807", "1,000,000,000"),
    ("fetch Continent offset 9223372036854775807 limit 9223372036854775807", "1,000,000,000"),
    ("fetch Continent batch 9223372036854775807", "1,000,000,000"),
    ("fetch Continent batch 1000000001", "1,000,000,000"),
    ("context other staleness 1e10", "1,000,000,000"),
    ("explain 9223372036854775807", "nothing has run"), ("sql 9223372036854775807", "from 0 to 4"),
  ])
  func rejectsNumbersOverTheLimitInTheShell(line: String, limit: String) throws {
    let file = try program.folder.write(scenario("1"), to: "small.yml")
    try expectRejection(["shell", file], input: line, limit)
  }

  @Test func rejectsNumbersOverTheLimitInSteps() throws {
    for step in [
      "insert: Continent, times: 1000000000000",
      "batch-insert: Continent, times: 9223372036854775807",
    ] {
      let file = try program.folder.write(scenario("1", step: step), to: "steps.yml")
      try expectRejection(["run", file], "1,000,000")
    }
    let file = try program.folder.write(
      scenario("1000", step: "insert: Continent, times: Continent * 2000"), to: "rows.yml")
    try expectRejection(["run", file], "1,000,000")
  }

  /// Nested aliases in values and in keys, with each command that reads YAML.
  @Test(arguments: ["value", "key"])
  func rejectsYAMLAliasBombs(kind: String) throws {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    var lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for (name, before) in zip(names.dropFirst(), names) {
      let uses = Array(repeating: "*\(before)", count: 9).joined(separator: ",")
      lines.append(
        kind == "value" ? "\(name): &\(name) [\(uses)]" : "\(name): &\(name) {? [\(uses)] : x}")
    }
    let file = try program.folder.write(lines.joined(separator: "\n") + "\n", to: "bomb.yml")
    for command in [
      ["run"], ["export", "--swift"], ["advise"], ["shell"], ["log", "input", "--expect"],
    ] {
      try expectRejection(command + [file], "too many aliases (`*name`); the limit is 16")
    }
    // Few aliases of a large value.
    let large = Array(repeating: "x", count: 50_000).joined(separator: ",")
    let few = try program.folder.write(
      "a: &a [\(large)]\nb: [*a, *a, *a]\n", to: "few.yml")
    try expectRejection(["run", few], "expanded value, and the limit is 100,000")
  }

  @Test(
    "A nested scenario is rejected with the limit",
    arguments: [
      (String(repeating: "[", count: 101), "deep.yml:3:103: error: brackets are nested too deeply"),
      (String(repeating: "- ", count: 2_001), "too many `-` and `?`; the limit is 2,000"),
    ])
  func rejectsNestedScenarios(text: String, limit: String) throws {
    let file = try program.folder.write("name: Deep\nsteps:\n  \(text)\n", to: "deep.yml")
    try expectRejection(["run", file], limit)
  }

  @Test(
    "A file that's longer than its limit is rejected with the limit",
    arguments: [
      (["run", "large.yml"], 4_000_000, "4,000,000"),
      (["log", "app.log", "--expect", "large.yml"], 4_000_000, "4,000,000"),
      (["report", "large.json"], 256 << 20, "268,435,456"),
      (["compare", "large.json", "large.json"], 256 << 20, "268,435,456"),
      (
        [
          "export", "--migrations", ".", "--to", PackageFiles.model, "--swift", "--fixture",
          "large.json",
        ], 16 << 20, "16,777,216"
      ),
    ])
  func rejectsLongFiles(arguments: [String], size: Int, limit: String) throws {
    let line = "CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0\n"
    _ = try program.folder.write(line, to: "app.log")
    for name in ["large.yml", "large.json"] {
      let file = try program.folder.write("{", to: name)
      #expect(truncate(program.folder.file(name).path, size + 1) == 0, "\(file)")
    }
    try expectRejection(arguments, "is too large; the limit is \(limit) bytes")
  }

  @Test("A long line of the shell is rejected with the limit, and the next line is run")
  func rejectsLongShellLines() throws {
    let file = try program.folder.write(scenario("2"), to: "small.yml")
    let line = String(repeating: "x", count: 3 << 20)
    let run = try program.run(
      ["shell", file], input: "\(line)\ncount Continent\r\n\ncount Continent")
    #expect(run.status == 65)
    #expect(run.errors.contains("line 1: the line is too long; the limit is 1,048,576 bytes"))
    #expect(run.errors.utf8.count < 4_000)
    #expect(run.output.matches(of: /2 Continent/).count == 2, "\(run.output)")
  }

  @Test("A long block and a long file of lines are rejected with the limit")
  func rejectsLongBlocksAndSources() throws {
    let file = try program.folder.write(scenario("2"), to: "small.yml")
    let steps = String(repeating: "count Continent; ", count: 6_000)
    try expectRejection(
      ["shell", file], input: "repeat 2 { \(steps)", "too long; the limit is 100,000 characters")
    _ = try program.folder.write("count Continent\n", to: "lines.txt")
    #expect(truncate(program.folder.file("lines.txt").path, (16 << 20) + 1) == 0)
    try expectRejection(
      ["shell", file], input: "source lines.txt", "too large; the limit is 16,777,216 bytes")
  }

  @Test func fewAliasesAreAllowed() throws {
    let file = try program.folder.write(
      """
      name: Aliases
      model: \(PackageFiles.model)
      data: {Continent: {count: 2}}
      steps:
        - &count {count: Continent}
        - *count
      """, to: "fine.yml")
    let outcome = try program.run(["run", file])
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test(arguments: [
    "9223372036854775807", "9223372036855", "99999999999999999999999", "86400.1",
    "0.000000000000001",
    "9223372036854.775807", "1e400", "-5", "0",
  ])
  func acceptsExtremeTimesAndCountsInLogs(time: String) throws {
    let file = try program.folder.write(
      """
      CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0
      CoreData: annotation: sql connection fetch time: \(time)s
      CoreData: annotation: total fetch execution time: \(time)s for \(time) rows.
      CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0
      CoreData: annotation: sql connection fetch time: \(time)s
      CoreData: annotation: total fetch execution time: \(time)s for 999999999999999999 rows.
      cdprof: annotation: save execution time: \(time)s
      CoreData: sql: SELECT COUNT( DISTINCT t0.Z_PK) FROM ZMOOD t0
      CoreData: annotation: total count request execution time: \(time)s for count of \(time).
      """, to: "long.log")
    for command in [["log", file], ["log", file, "--json"], ["compare", file, file]] {
      let outcome = try program.run(command)
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
    }
  }

  @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
  func rejectsDeeplyNestedJSON(piece: String) throws {
    let file = try program.folder.write(
      "{\"x\":" + String(repeating: piece, count: 200_000), to: "deep.json")
    try expectRejection(["report", file], "nested too deeply; the limit is 100 levels")
    try expectRejection(["compare", file, file], "nested too deeply; the limit is 100 levels")
  }

  /// Models of 1,500 entities, each read in a few seconds of CPU time: without a hierarchy, in one
  /// with different indexes, in one with equal indexes, and with errors.
  @Test(arguments: ["flat", "tree", "same", "invalid"])
  func readsModelsWithManyEntities(kind: String) throws {
    let attribute = "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"
    func index(_ name: String, _ property: String) -> String {
      "<fetchIndex name=\"\(name)\"><fetchIndexElement property=\"\(property)\" type=\"Binary\" "
        + "order=\"ascending\"/></fetchIndex>"
    }
    var lines = ["<entity name=\"R\" syncable=\"YES\">\(attribute)</entity>"]
    for number in 0..<1_500 {
      let parent = kind == "tree" || kind == "same" ? "parentEntity=\"R\" " : ""
      let content =
        switch kind {
        case "flat":
          attribute + "<relationship name=\"r\" optional=\"YES\" toMany=\"YES\" "
            + "destinationEntity=\"R\"/>"
        case "tree":
          "<attribute name=\"a\(number)\" optional=\"YES\" attributeType=\"String\"/>"
            + index("x\(number)", "a\(number)")
        case "same": index("x\(number)", "a")
        default:
          "<attribute name=\"a\" optional=\"YES\" attributeType=\"Strang\"/>"
            + "<relationship name=\"r\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"X\(number)\"/>"
        }
      lines.append("<entity name=\"E\(number)\" \(parent)syncable=\"YES\">\(content)</entity>")
    }
    let xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\" "
      + "documentVersion=\"1.0\">\n\(lines.joined(separator: "\n"))\n</model>\n"
    _ = try program.folder.write(xml, to: "Many.xcdatamodel/contents")
    let commands =
      [
        ["model", "Many.xcdatamodel", "--check"], ["diff", "Many.xcdatamodel", "Many.xcdatamodel"],
      ]
      + ["--json", "--ddl", "--xml", "--dot"].map { ["model", "Many.xcdatamodel", $0] }
      + (kind == "flat" ? [["generate", "Many.xcdatamodel", "--out", "g"]] : [])
    for command in commands {
      let outcome = try program.run(command, cpuSeconds: 10)
      #expect([0, 3].contains(outcome.status), "\(command): \(outcome.errors.prefix(300))")
    }
  }
}
