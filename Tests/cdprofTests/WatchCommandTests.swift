import Foundation
import Testing

@Suite("cdprof run --watch")
struct WatchCommandTests {
  private static let scenario = """
    name: Notes
    model: Notes
    data: {Note: {count: 6, text: text 8}}
    steps: [{fetch: Note, faults: no, as: notes}]
    variants: [{name: plain, expect: {selects: 1, rows: Note}}]
    """

  /// A running `cdprof run … --watch`, whose output is read as it's written.
  private final class Watch {
    let program: BuiltProgram
    private let process = Process()
    private let output: URL
    private var read = 0

    init(_ arguments: [String], writing files: [String: String]) throws {
      program = try BuiltProgram()
      for (name, text) in files { _ = try program.folder.write(text, to: name) }
      try FileManager.default.copyItem(
        atPath: PackageFiles.scenario("Models"), toPath: program.folder.file("Models").path)
      output = program.folder.file("output.txt")
      try Data().write(to: output)
      let file = try FileHandle(forWritingTo: output)
      process.executableURL = URL(fileURLWithPath: program.path)
      process.arguments = ["run"] + arguments + ["--watch"]
      process.environment = program.environment
      process.currentDirectoryURL = program.folder.url
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = file
      process.standardError = file
      try process.run()
    }

    deinit {
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Waits until the program watches again, and returns what it has printed since the last call;
    /// gives up after two minutes.
    func next() throws -> String {
      let start = ContinuousClock.now
      while process.isRunning, ContinuousClock.now - start < .seconds(120) {
        let text = try String(contentsOf: output, encoding: .utf8).dropFirst(read)
        if let end = text.firstRange(of: "Ctrl-C ends\n") {
          let part = String(text[..<end.upperBound])
          read += part.count
          return part
        }
        usleep(20_000)
      }
      return try String(contentsOf: output, encoding: .utf8)
    }

    /// Replaces a file as an editor does that writes a new file and renames it.
    func replace(_ name: String, _ text: String) throws {
      let new = try program.folder.write(text, to: "\(name)~")
      #expect(rename(new, program.folder.file(name).path) == 0)
    }

    func text(_ name: String) -> String {
      (try? String(contentsOf: program.folder.file(name), encoding: .utf8)) ?? ""
    }

    func interrupt() -> Int32 {
      kill(process.processIdentifier, SIGINT)
      process.waitUntilExit()
      return process.terminationReason == .exit ? process.terminationStatus : -1
    }
  }

  @Test func savedScenarioRunsAgainAndItsPageReloads() throws {
    let watch = try Watch(["notes.yml", "--report", "html"], writing: ["notes.yml": Self.scenario])
    #expect(try watch.next().contains("2 of 2 expectations"))
    let first = watch.text("Reports/notes.reload.js")
    #expect(first.hasPrefix("// Written by `cdprof run --watch`\ncdprofReload(\""))

    // Replaced, as most editors do; then written in place, a part first.
    try watch.replace("notes.yml", Self.scenario.replacing("selects: 1", with: "selects: 2"))
    #expect(try watch.next().contains("1 of 2 expectations"))
    let half = String(Self.scenario.prefix(120))
    _ = try watch.program.folder.write(half, to: "notes.yml")
    #expect(try watch.next().contains(": error: "))
    _ = try watch.program.folder.write(Self.scenario, to: "notes.yml")
    #expect(try watch.next().contains("2 of 2 expectations"))

    // Deleted and created again; then its model is.
    try FileManager.default.removeItem(at: watch.program.folder.file("notes.yml"))
    usleep(600_000)
    _ = try watch.program.folder.write(Self.scenario.replacing("6", with: "7"), to: "notes.yml")
    #expect(try watch.next().contains("2 of 2 expectations"))
    let model = watch.program.folder.file("Models/Notes.xcdatamodel").path
    try FileManager.default.moveItem(atPath: model, toPath: model + "~")
    #expect(try watch.next().contains("there's no model `Notes`"))
    try FileManager.default.moveItem(atPath: model + "~", toPath: model)
    #expect(try watch.next().contains("2 of 2 expectations"))

    // So is data that it includes.
    let including = Self.scenario.replacing(
      "{Note: {count: 6, text: text 8}}", with: "{include: a.yml}")
    try watch.replace("notes.yml", including)
    #expect(try watch.next().contains("the file can't be included"))
    try watch.replace("a.yml", "Note: {count: 6, text: txet 8}")
    #expect(try watch.next().contains("a.yml:1:"))
    try watch.replace("a.yml", "Note: {count: 6, text: text 8}")
    #expect(try watch.next().contains("2 of 2 expectations"))
    try watch.replace("a.yml", "Note: {count: 9, text: text 8}")
    #expect(try watch.next().contains("2 of 2 expectations"))

    // The page has the version of the script that was written after it, and allows that script.
    let script = watch.text("Reports/notes.reload.js")
    let version = try #require(script.firstMatch(of: /"([0-9A-F-]+)"/)).1
    let page = watch.text("Reports/notes.html")
    #expect(script != first && page.contains("data-version=\"\(version)\""))
    let nonce = try #require(page.firstMatch(of: /data-nonce="([0-9A-F-]+)"/)).1
    #expect(page.contains(" 'nonce-\(nonce)'; style-src"))
    #expect(watch.interrupt() == 0)
    #expect(watch.text("Reports/notes.reload.js") == "" && watch.program.leftovers == [])
  }

  @Test func changedFileOfAFolderRunsAlone() throws {
    let missed = Self.scenario.replacing("selects: 1", with: "selects: 3")
    let watch = try Watch(
      ["Scenarios", "--report", "html"],
      writing: ["Scenarios/one.yml": Self.scenario, "Scenarios/two.yml": missed])
    #expect(try watch.next().contains("1 of 2 scenarios passed"))
    try watch.replace("Scenarios/two.yml", Self.scenario)
    let second = try watch.next()
    #expect(second.contains("two.html") && !second.contains("one.html"), "\(second)")
    #expect(watch.text("Reports/index.html").contains("2 of 2 scenarios passed"))
    try watch.replace("Scenarios/three.yml", missed)
    #expect(try watch.next().contains("three.html"))
    #expect(watch.text("Reports/index.html").contains("2 of 3 scenarios passed"))
    #expect(watch.interrupt() == 2)
  }

  @Test func whatCanNotBeWatchedIsAnError() throws {
    let program = try BuiltProgram()
    let input = try program.run(["run", "-", "--watch"])
    #expect(input.status == 64 && input.errors.contains("standard input"))
    #expect(try program.run(["run", "missing.yml", "--watch"]).status == 66)
  }
}
