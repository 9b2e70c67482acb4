import Foundation
import ProfileEvents
import RunResults
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import ScenarioLanguage
@testable import StatementAnalysis
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Several stores in one shell")
struct ShellStoresTests {
  private let folder: TemporaryFolder
  /// A store with 3 countries and 6 moods.
  private let store: URL

  init() throws {
    folder = try TemporaryFolder()
    let scenario = folder.file("made.yml")
    try Data(
      """
      name: Made
      model: \(PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel").path)
      data:
        Country: {count: 3}
        Mood: {count: 6, country: cycle}
      steps: []
      variants: [{name: all}]
      """.utf8
    ).write(to: scenario)
    _ = try ScenarioRunner(
      scenario: try ScenarioReader.read(scenario), outputDirectory: folder.url
    ).run()
    store = folder.file("made.sqlite")
  }

  private var insert: String {
    "insert Country times 1 with numericISO3166Code 999, updatedAt 2016-01-01 as c"
  }

  /// What's saved afterward would be lost with the file that's replaced.
  @Test func openStoreIsNotReplaced() throws {
    let shell = try ShellSession(store)
    let saved = LineWords.plain(folder.file("saved.sqlite").path)
    #expect(shell.type("save store \(saved)").failure == nil)
    #expect(shell.type("open \(saved) as other in-place").failure == nil)
    shell.type("use made")
    let refused = shell.type("save store \(saved)")
    #expect(refused.failure?.message.hasSuffix("is open as `other`") == true)
    shell.type("use other", insert, "save", "reset")
    #expect(shell.type("count Country").lines.first?.hasPrefix("  4 Country") == true)
    shell.type("close other")
    #expect(shell.type("save store \(saved)").failure == nil)
  }

  @Test func storesAreOpenedUsedAndClosedByName() throws {
    let shell = try ShellSession(store)
    #expect(shell.engine.prompt == "cdprof> ")
    let path = LineWords.plain(store.path)
    #expect(
      shell.type("open \(path) as other").lines.first?.hasPrefix("other: made.sqlite") == true)
    #expect(shell.engine.prompt == "cdprof other> ")
    shell.type("count Mood")
    #expect(shell.type("use made").failure == nil)
    #expect(shell.engine.current.steps.isEmpty, "each store has its own runs")
    #expect(shell.type("stores").lines.map { $0.prefix(10) } == ["* made    ", "  other   "])
    #expect(shell.type("open \(path)").lines.first?.hasPrefix("made-2: ") == true)
    #expect(shell.type("use oter").failure?.message.contains("did you mean `other`") == true)
    let reopened = shell.type("open \(path) as other")
    #expect(reopened.failure?.message.contains("`other` is already open") == true)
    #expect(shell.type("open \(path) as 9").failure?.message.contains("requires a name") == true)
    #expect(shell.type("open \(path) wirte").failure?.message.contains("`write`") == true)
    #expect(shell.type("close other").lines == ["  other is closed; `made-2` is current"])
    shell.type("close", "close")
    #expect(shell.type("stores").lines == ["  nothing is open"])
    #expect(shell.type("last").failure?.message == "nothing is open")
  }

  /// Entities are known and property names are inferred, so the store can be opened only read-only.
  @Test(arguments: ["DELETE FROM Z_MODELCACHE", "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'"])
  func storesWithoutAModelOpenReadOnly(corruption: String) throws {
    let office = try OfficeStore()
    try office.run(corruption)
    let before = try FolderState(office.folder.url)
    let shell = try ShellSession(on: ShellWorkspace(opening: office.url.path))
    #expect(shell.engine.banner().contains("property names are inferred"))
    #expect(
      shell.type("fetch Note where \"hours == 2\" as n").lines.first?.contains("1 Note") == true)
    #expect(shell.type("touch n hours").failure == nil)
    #expect(shell.type("entities").lines.contains { $0.contains("Note") && $0.hasSuffix(" 6") })
    #expect(shell.type("reset", "count Party").lines.first?.contains("4 Party") == true)
    let scenario = office.folder.file("saved.yml")
    #expect(shell.type("save scenario \(LineWords.plain(scenario.path))").failure != nil)
    #expect(try FolderState(office.folder.url) == before)
    for writing in [ShellWorkspace.Writing.copy, .inPlace] {
      let refusal = try #require(throws: InvalidInputError.self) {
        _ = try ShellWorkspace(opening: office.url.path, writing: writing)
      }
      #expect(refusal.nextStep.contains("open it read-only"))
    }
  }

  @Test func writeModeUsesACopy() throws {
    let before = try Data(contentsOf: store)
    let workspace = try ShellWorkspace(opening: store.path, writing: .copy)
    let shell = try ShellSession(on: workspace)
    #expect(shell.engine.banner().contains("working on a copy; the original store isn't modified"))
    #expect(shell.type(insert, "save").failure == nil)
    #expect(shell.type("count Country").lines.first?.contains("4 Country") == true)
    let saved = folder.file("saved.sqlite")
    #expect(shell.type("save store \(LineWords.plain(saved.path))").failure == nil)
    #expect(shell.type("reset").lines.first?.hasSuffix("Its saves are undone.") == true)
    #expect(shell.type("count Country").lines.first?.contains("3 Country") == true)
    #expect(try Data(contentsOf: store) == before)
    let other = try ShellSession(saved)
    #expect(other.type("count Country").lines.first?.contains("4 Country") == true)
  }

  /// A step that bypasses contexts also changes the store.
  @Test(arguments: [
    ("sql \"DELETE FROM ZMOOD\"", "Its changes are kept."),
    ("index Mood keys date as byDate", "Its changes are kept."),
    ("sql \"SELECT 1\"", "is kept for `diff`."),
    ("sql \"INSERT INTO ZNONE VALUES(1)\" fails 1", "is kept for `diff`."),
  ])
  func statementsModifyTheStoreInPlace(line: String, end: String) throws {
    let workspace = try ShellWorkspace(opening: store.path, writing: .inPlace)
    let shell = try ShellSession(on: workspace)
    #expect(shell.type(line).failure == nil)
    #expect(shell.type("reset").lines.first?.hasSuffix(end) == true)
    #expect(workspace.wasChanged == end.hasPrefix("Its"))
  }

  @Test func inPlaceModeModifiesTheStore() throws {
    let workspace = try ShellWorkspace(opening: store.path, writing: .inPlace)
    let shell = try ShellSession(on: workspace)
    #expect(shell.type(insert, "save").failure == nil)
    #expect(shell.type("reset").lines.first?.hasSuffix("Its saves are kept.") == true)
    #expect(shell.type("count Country").lines.first?.contains("4 Country") == true)
    let rejected = shell.type("save scenario \(LineWords.plain(folder.file("s.yml").path))")
    #expect(rejected.failure?.message.contains("was changed in place") == true)
    shell.engine.close()
    let other = try ShellSession(store)
    #expect(other.type("count Country").lines.first?.contains("4 Country") == true)
  }

  /// A query, the words above the carets, and a part of the output or the error.
  @Test(
    arguments: [
      ("SELECT count(*) AS n, 'a#b' AS t FROM ZMOOD", nil, "  n  t"),
      ("SELECT * FROM ZNOTHING", nil, "no such table: ZNOTHING"),
      ("SELEC 1", "SELEC", "syntax error"),
      ("DELETE FROM ZMOOD", nil, "only statements that read"),
      ("ATTACH 'x.db' AS x", nil, "ATTACH and VACUUM INTO aren't allowed"),
      ("VACUUM INTO 'x.db'", nil, "only statements that read"),
      (
        "WITH x AS (SELECT 1) INSERT INTO ZMOOD(Z_PK) SELECT 9 FROM x", nil,
        "only statements that read"
      ),
      ("SELECT 1; SELECT 2", nil, "more than one statement"),
      ("PRAGMA table_info(ZMOOD)", nil, "  cid"),
    ] as [(String, String?, String)])
  func sqliteCommandRunsOnlyReadOnlyQueries(query: String, marked: String?, text: String) throws {
    let shell = try ShellSession(store)
    let before = try Data(contentsOf: store)
    let answer = shell.type(".sqlite \(query)")
    let output = answer.failure.map { $0.text() } ?? answer.lines.joined(separator: "\n")
    #expect(output.contains(text), "\(output)")
    if let marked {
      let excerpt = try #require(answer.failure?.excerpt).split(separator: "\n").map(Array.init)
      let carets = excerpt[1].indices.filter { excerpt[1][$0] == "^" }
      #expect(String(carets.map { excerpt[0][$0] }) == marked)
    }
    #expect(try Data(contentsOf: store) == before)
    #expect(!FileManager.default.fileExists(atPath: "x.db"))
    #expect(shell.engine.current.isEmpty, "a query isn't part of the run")
  }

  @Test func rowsArePrintedInFourModes() throws {
    let shell = try ShellSession(store)
    let query =
      ".sqlite SELECT 1234 AS n, 'a,\"b' AS t, NULL AS z, x'00ff' AS b UNION ALL SELECT 5, 'ü', 1.5, ''"
    #expect(
      shell.type(query).lines == [
        "     n  t        z  b", "  ----  ----  ----  -------", "  1234  a,\"b  NULL  x'00ff'",
        "     5  ü      1.5",
      ])
    shell.type("mode csv")
    #expect(shell.type(query).lines == ["n,t,z,b", "1234,\"a,\"\"b\",,x'00ff'", "5,ü,1.5,"])
    shell.type("mode line")
    #expect(shell.type(query).lines.prefix(2) == ["n = 1234", "t = a,\"b"])
    shell.type("mode json")
    let json = shell.type(query).lines.joined(separator: "\n")
    let rows = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    #expect(rows?.first?["t"] as? String == "a,\"b")
    #expect(rows?.last?["z"] as? Double == 1.5)
    for line in ["fetch Mood as m", "touch m date", "last", "stats", "entities", "findings"] {
      let answer = shell.type(line)
      let data = Data(answer.lines.joined(separator: "\n").utf8)
      #expect(try JSONSerialization.jsonObject(with: data) is [[String: Any]], "\(line)")
    }
    #expect(shell.type("mode xml").failure?.message.contains("isn't an argument of `mode`") == true)
  }

  @Test func linesAreReadFromAndOutputIsWrittenToFiles() throws {
    let shell = try ShellSession(store)
    let script = folder.file("lines.txt")
    try Data("# begin\ncount Mood\n\ncount Moood\ncount Country\n".utf8).write(to: script)
    let name = LineWords.plain(script.path)
    let answer = shell.type("source \(name)")
    #expect(answer.lines.first == "> count Mood")
    #expect(answer.failure?.message.hasPrefix("\(script.path):4: the model has no entity") == true)
    #expect(answer.failure?.excerpt?.contains("^^^^^") == true)
    #expect(shell.engine.current.steps.map(\.location.line) == [2])
    #expect(shell.engine.current.steps.first?.location.file == script.path)
    try Data("source \(name)\n".utf8).write(to: script)
    #expect(shell.type("source \(name)").failure?.message.contains("runs itself") == true)
    try Data("\u{FEFF}count Moood\n".utf8).write(to: script)
    let first = shell.type("source \(name)").failure
    #expect(first?.message.hasPrefix("\(script.path):1: the model has no entity") == true)
    #expect(first?.excerpt == "  count Moood\n        ^^^^^")

    let up = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in "../" }
    let relative = "\(up.joined())\(store.path.dropFirst())"
    for command in ["output", "save store"] {
      let refused = shell.type("\(command) \(LineWords.plain("\(relative)-wal"))").failure?.message
      #expect(refused == "SQLite would treat \(relative)-wal as part of \(relative)")
    }

    let output = folder.file("out.txt")
    try Data("before\n".utf8).write(to: output)
    let existing = shell.type("output \(LineWords.plain(output.path))").failure
    #expect(existing?.message == "\(output.path) already exists")
    shell.type("output \(LineWords.plain(output.path)) force")
    #expect(shell.type("count Mood").lines.isEmpty)
    #expect(shell.type("output off").lines == ["  results go to standard output"])
    // Its own lines can be appended to, but not replaced with those of the file.
    let replaced = shell.type("report \(LineWords.plain(output.path))").failure?.message
    #expect(replaced == "\(output.path) already exists")
    #expect(shell.type("output \(LineWords.plain(output.path))", "output off").failure == nil)
    let refused = shell.type("output /proc/none/answers.txt").failure?.message ?? ""
    #expect(refused.hasPrefix("/proc/none/answers.txt can't be written: "), "\(refused)")
    #expect(shell.type("count Mood").lines.count == 1)
    let text = try String(contentsOf: output, encoding: .utf8)
    #expect(text.hasPrefix("before\n  6 Mood"))
    #expect(text.split(separator: "\n").count == 2)
  }

  @Test(arguments: ["html", "json", "md", "txt", "junit.xml"])
  func reportContainsAllRuns(ending: String) throws {
    let shell = try ShellSession(store)
    shell.type("fetch Mood values no as m", "touch m date", "reset", "count Mood")
    let file = folder.file("runs.\(ending)")
    let name = LineWords.plain(file.path)
    #expect(shell.type("report \(name)").lines == ["  \(file.path): 2 runs"])
    #expect(shell.type("report \(name)").failure == nil, "the shell can replace its own file")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("made") && text.contains("run 2"))
    if ending == "json" {
      let result = try ResultFile.read(at: file.path)
      #expect(result.variants.map { $0.metrics[.selects] } == [7, 1])
      #expect(result.variants[0].statements.map(\.count) == [1, 6])
      #expect(result.variants[0].statements[1].plan.first?.contains("SEARCH") == true)
    }
    #expect(shell.type("report x.doc").failure?.message == "unknown report format")
  }

  /// Both formats contain the events of all runs, including those before the last `reset`.
  @Test(arguments: ["trace.json", "jsonl"])
  func traceContainsAllRuns(ending: String) throws {
    let shell = try ShellSession(store)
    shell.type("fetch Mood values no as m", "touch m date", "reset", "count Mood")
    let file = folder.file("runs.\(ending)")
    #expect(
      shell.type("report \(LineWords.plain(file.path))").lines == ["  \(file.path): 2 runs"])
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let isTrace = ending == "trace.json"
    let fault = isTrace ? "\"name\":\"fault Mood (miss)\"" : "\"kind\":\"objectFault\""
    // A trace draws a miss on two tracks.
    #expect(lines.count { $0.contains(fault) } == (isTrace ? 12 : 6))
    #expect(lines.count { $0.contains("\"run 2\"") } == (isTrace ? 1 : 6))
    let objects = isTrace ? [lines.joined()] : lines.map(String.init)
    for object in objects {
      _ = try JSONSerialization.jsonObject(with: Data(object.utf8))
    }
  }

  @Test func stacksAreRecordedOnRequest() throws {
    let shell = try ShellSession(store)
    shell.type("fetch Mood values no as m", "touch m date limit 2")
    #expect(shell.type("stack").failure?.message == "no call stacks were recorded")
    #expect(shell.type("record stacks").lines.first?.contains("with its call stack") == true)
    shell.type("reset", "fetch Mood values no as m", "touch m date limit 2")
    let stack = shell.type("stack 2").lines
    #expect(stack.first == "  1 x fault Mood")
    #expect(stack.contains { $0.contains("Session") }, "\(stack)")
    let innermost = try #require(stack.dropFirst().first)
    // The function that reads a key path calls OpenCoreData.
    #expect(innermost.contains("NSManagedObject.read(_:_:_:_:_:)"), "\(innermost)")
    #expect(!stack.contains { $0.contains("thunk") || $0.contains("->") }, "\(stack)")
    let file = folder.file("stacks.html")
    shell.type("report \(LineWords.plain(file.path))")
    shell.type("record off", "reset", "count Mood")
    #expect(shell.type("stack").failure != nil)
  }

  /// Checks the number of processed events, not the time.
  @Test func stepRecordingContainsOnlyItsOwnEvents() throws {
    let shell = try ShellSession(store)
    for _ in 0..<300 { shell.type("fetch Mood values no as m", "touch m date", "refresh m") }
    #expect(shell.engine.current.costs.counters.selects >= 300)
    let session = try #require(shell.engine.session)
    let last = try #require(session.recordedSteps.dropLast().last)
    let slice = session.recording(of: last)
    #expect(slice.events.count < 30)
    #expect(slice.events.allSatisfy { last.contains($0.id) })
    #expect(session.recording.slice(of: last).events.map(\.id) == slice.events.map(\.id))
    #expect(session.recording.costs.counters == shell.engine.current.costs.counters)
    #expect(session.recording.groups.map(\.sql) == shell.engine.current.groups.map(\.sql))
    #expect(shell.engine.current.groups.last?.number == shell.engine.current.groups.count)
  }

  @Test func runningStatementsAreInterrupted() throws {
    let shell = try ShellSession(store)
    let interruption = shell.engine.interruption
    let interrupter = Thread {
      while !Thread.current.isCancelled {
        Thread.sleep(forTimeInterval: 0.05)
        interruption.request()
      }
    }
    interrupter.start()
    defer { interrupter.cancel() }
    let endless =
      "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x"
    #expect(shell.type(".sqlite \(endless)").failure?.message.contains("interrupted") == true)
  }
}
