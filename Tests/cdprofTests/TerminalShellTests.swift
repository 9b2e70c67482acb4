import Foundation
import Testing

@Suite("Shell at a terminal")
struct TerminalShellTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  @Test func linesAreEditedCompletedAndSaved() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "Tab completes, `help` lists commands") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("cou\tCoun\t\n")
    #expect(session.wait(for: "60 Country") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("count Moood\n")
    #expect(session.wait(for: "did you mean `Mood`?") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("\u{04}")
    #expect(session.status() == 0, "errors in an interactive shell don't affect its exit status")
    let history = program.folder.file("state/cdprof/history")
    #expect(try String(contentsOf: history, encoding: .utf8) == "count Country \ncount Moood\n")
    #expect(program.leftovers.isEmpty)
  }

  /// Shells run at the same time, and one is ended by a signal.
  @Test func historyHasTheLinesOfAllShells() throws {
    let first = try TerminalSession(program, ["shell"])
    #expect(first.wait(for: "cdprof> ") != nil)
    let second = try TerminalSession(program, ["shell"])
    #expect(second.wait(for: "cdprof> ") != nil)
    first.type("sql\n")
    #expect(first.wait(for: "SQL log: level 0, off") != nil)
    #expect(first.wait(for: "cdprof> ") != nil)
    second.type("mode\n")
    #expect(second.wait(for: "mode: table") != nil)
    #expect(second.wait(for: "cdprof> ") != nil)
    second.type("quit\n")
    #expect(second.status() == 0)
    first.send(SIGTERM)
    #expect(first.status() == 128 + SIGTERM)
    let history = program.folder.file("state/cdprof/history")
    #expect(try String(contentsOf: history, encoding: .utf8) == "mode\nquit\nsql\n")
  }

  /// The quotation mark stays open after completing a key path.
  @Test func completionInsideAPredicateKeepsItOpen() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("fetch Country where \"numericISO31\t> 0\" limit 7 as c\n")
    #expect(session.wait(for: "  c: 7 Country") != nil)
    session.type("fetch Mood sort dat\t-\n")
    #expect(session.wait(for: "  200 Mood") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  @Test func controlCDiscardsTheLine() throws {
    let session = try TerminalSession(program, ["shell"])
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("stats and more")
    #expect(session.wait(for: "stats and more") != nil)
    session.type("\u{03}")
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("sql\n")
    #expect(session.wait(for: "SQL log: level 0, off") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  private static let endless =
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x"

  @Test func controlCInterruptsARunningStatement() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type(".sqlite \(Self.endless)\n")
    // Waits until the statement is certainly running.
    #expect(session.wait(for: "cdprof> ", seconds: 2) == nil, "the statement runs forever")
    session.type("\u{03}")
    #expect(session.wait(for: "the query was interrupted") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("count Country\n")
    #expect(session.wait(for: "60 Country") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  @Test func historyHasTheLineThatASignalEnds() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type(".sqlite \(Self.endless)\n")
    #expect(session.wait(for: "cdprof> ", seconds: 2) == nil, "the statement runs forever")
    session.send(SIGTERM)
    #expect(session.status() == 128 + SIGTERM)
    let history = program.folder.file("state/cdprof/history")
    #expect(try String(contentsOf: history, encoding: .utf8) == ".sqlite \(Self.endless)\n")
  }

  @Test func signalsInterruptAndEndTheStartFile() throws {
    let file = program.folder.file(".cdprofrc")
    try Data(".sqlite \(Self.endless)\n".utf8).write(to: file)
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "cdprof> ", seconds: 2) == nil, "the statement runs forever")
    session.type("\u{03}")
    #expect(session.wait(for: "the query was interrupted") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
    let second = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(second.wait(for: "cdprof> ", seconds: 2) == nil, "the statement runs forever")
    second.send(SIGTERM)
    #expect(second.status(seconds: 60) == 128 + SIGTERM)
    #expect(program.leftovers.isEmpty)
  }

  @Test func longOutputIsPaged() throws {
    let session = try TerminalSession(program, ["shell"])
    session.resize(rows: 10, columns: 200)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("help\n")
    let first = try #require(session.wait(for: "space: next page"))
    #expect(first.split(separator: "\n").count <= 11)
    #expect(!first.contains("quit the shell"))
    session.type(" ")
    #expect(session.wait(for: "space: next page") != nil)
    session.type("q")
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("pager off\n")
    #expect(session.wait(for: "pager: off") != nil)
    session.type("help\n")
    #expect(session.wait(for: "quit the shell") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  @Test("the pager's line fits a narrow terminal, so that it can be removed")
  func pagerFitsANarrowTerminal() throws {
    let session = try TerminalSession(program, ["shell"])
    session.resize(rows: 10, columns: 30)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("help\n")
    #expect(session.wait(for: "— space: next page · return:…") != nil)
    session.type("q")
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  /// Typing a command ends the pager and enters the command; arrow keys only end the pager.
  @Test func keyThatEndsPagingIsInput() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    session.resize(rows: 10, columns: 200)
    #expect(session.wait(for: "cdprof> ") != nil)
    for keys in [
      "count Country\n", "q count Country\n", "\u{1B}[Acount Country\n", "\u{1B}[Bcount Country\n",
    ] {
      session.type("help\n")
      #expect(session.wait(for: "space: next page") != nil)
      session.type(keys)
      #expect(session.wait(for: "60 Country") != nil, "\(keys.debugDescription)")
      #expect(session.wait(for: "cdprof> ") != nil)
    }
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  @Test func terminationRemovesTheScratchStore() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "cdprof> ") != nil)
    #expect(program.leftovers.count == 1)
    session.send(SIGTERM)
    #expect(session.status() == 128 + SIGTERM)
    #expect(program.leftovers.isEmpty)
  }

  @Test func terminationEndsAPagerThatWaitsForAKey() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    session.resize(rows: 10, columns: 200)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("help\n")
    #expect(session.wait(for: "space: next page") != nil)
    session.send(SIGTERM)
    #expect(session.status(seconds: 60) == 128 + SIGTERM)
    #expect(program.leftovers.isEmpty)
  }

  /// Every line of the help and of the costs fits terminals of common widths, down to 60 columns.
  @Test(arguments: [UInt16(60), 80, 200])
  func linesFitTheTerminal(columns: UInt16) throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    session.resize(rows: 200, columns: columns)
    #expect(session.wait(for: "cdprof> ") != nil)
    for line in [
      "help", "help fetch", "fetch Mood sort date- values no as moods", "show moods limit 3",
      "touch moods date country.updatedAt limit 30", "last", "stats",
    ] {
      session.type("\(line)\n")
      let output = try #require(session.wait(for: "cdprof> "))
      // The first line is the echo of the typed one, which readline wraps itself.
      let lines = output.split(separator: "\n").dropFirst(line.count > Int(columns) - 8 ? 2 : 1)
      #expect(!lines.isEmpty)
      #expect(
        lines.filter { $0.count > Int(columns) && $0.split(separator: " ").count > 1 } == [],
        "\(line)")
    }
    session.type(".quit\n")
    #expect(session.status() == 0)
  }

  @Test func controlRSearchesTheHistory() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "cdprof> ") != nil)
    for line in ["count Country", "count Mood"] {
      session.type("\(line)\n")
      #expect(session.wait(for: "cdprof> ") != nil)
    }
    session.type("\u{12}Countr")
    // A line feed would end the search without running the line.
    session.type("\r")
    #expect(session.wait(for: "  60 Country") != nil)
    session.type("!!\n")
    #expect(session.wait(for: "> count Country") != nil)
    #expect(session.wait(for: "  60 Country") != nil)
    session.type("\\q\n")
    #expect(session.status() == 0)
  }

  @Test(arguments: [("xterm", "", true), ("xterm", "1", false), ("dumb", "", false)])
  func findingsAndErrorsAreColoredUnlessTurnedOff(
    terminal: String, noColor: String, isColored: Bool
  ) throws {
    let session = try TerminalSession(
      program, ["shell", program.smallFaults()],
      environment: ["TERM": terminal, "NO_COLOR": noColor])
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("count Moood\n")
    let before = try #require(session.wait(for: "the model has no entity"))
    #expect(before.hasSuffix("\u{1B}[31m") == isColored, "\(before.debugDescription)")
    session.type("fetch Mood values no as m\n")
    #expect(session.wait(for: "200 Mood") != nil)
    session.type("touch m date\n")
    let start = try #require(session.wait(for: "  ! fault-storm(Mood)"))
    #expect(start.hasSuffix("\u{1B}[33m") == isColored, "\(start.debugDescription)")
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  @Test func startFileIsReadFromTheHomeFolder() throws {
    let file = program.folder.file(".cdprofrc")
    try Data("mode csv\npager off\n".utf8).write(to: file)
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(session.wait(for: "cdprof> ")?.contains("mode:") == false, "only errors are printed")
    session.type("mode\n")
    #expect(session.wait(for: "mode: csv") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
    try Data("mode csv\nmod\n".utf8).write(to: file)
    let second = try TerminalSession(program, ["shell", program.smallFaults()])
    #expect(second.wait(for: ".cdprofrc:2: there's no command or verb `mod`") != nil)
    #expect(second.wait(for: "cdprof> ") != nil)
    second.type("quit\n")
    #expect(second.status() == 0)
    #expect(try program.run(["shell"], input: "mode\n").output.contains("mode: table"))
  }

  @Test func repeatContinuesOnTheNextLines() throws {
    let session = try TerminalSession(program, ["shell", program.smallFaults()])
    session.resize(rows: 50, columns: 120)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("repeat 3 {\n")
    #expect(session.wait(for: "   ...> ") != nil)
    session.type("count Country\n")
    #expect(session.wait(for: "   ...> ") != nil)
    session.type("}\n")
    #expect(session.wait(for: "3 x count Country") != nil)
    #expect(session.wait(for: "3 SELECTs") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    // Ctrl-C discards the block.
    session.type("repeat 3 {\n")
    #expect(session.wait(for: "   ...> ") != nil)
    session.type("\u{03}")
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
  }
}
