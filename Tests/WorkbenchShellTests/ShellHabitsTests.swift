import Foundation
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import ScenarioLanguage
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Habits of other shells")
struct ShellHabitsTests {
  private let folder: TemporaryFolder
  /// 40 moods in 20 countries.
  private let small: URL

  init() throws {
    folder = try TemporaryFolder()
    small = try ShellSession.smallScenario(in: folder)
  }

  /// A line, and a line with the same answer.
  @Test(arguments: [
    (".tables", "entities"), ("\\d", "entities"), ("\\d Mood", "entities Mood"),
    (".help", "help"), ("?", "help"), ("\\?", "help"), ("entities;", "entities"),
    (".mode csv", "mode csv"), (".stats", "stats"), ("count Mood ; ", "count Mood"),
    ("count Mood where latitude > 5", "count Mood where \"latitude > 5\""),
    ("fetch Mood sort date desc, latitude asc limit 3", "fetch Mood sort date-, latitude limit 3"),
    (".sqlite SELECT count(*) FROM ZMOOD;", ".sqlite SELECT count(*) FROM ZMOOD"),
    ("po", "show"),
  ])
  func otherSpellingsAreUnderstood(line: String, meant: String) throws {
    let answers = try [line, meant].map { line in
      let shell = try ShellSession(small)
      let answer = shell.type(line)
      #expect(answer.failure == nil, "\(line)")
      return answer.lines
    }
    #expect(answers[0] == answers[1])
    #expect(!answers[0].isEmpty)
  }

  @Test(arguments: [".quit", ".exit", "\\q", "exit", "quit;"])
  func quitHasManyNames(line: String) throws {
    #expect(try ShellSession(small).engine.answer(to: line).ends)
  }

  @Test func schemaPrintsTheStatementsOfTheFile() throws {
    let shell = try ShellSession(small)
    let all = shell.type(".schema").lines
    #expect(all.contains { $0.hasPrefix("  CREATE TABLE Z_METADATA") })
    for name in ["Mood", "ZMOOD", "zmood"] {
      let lines = shell.type(".schema \(name)").lines
      #expect(lines.first?.hasPrefix("  CREATE TABLE ZMOOD (") == true, "\(lines)")
      #expect(lines.count < all.count && lines.last?.hasSuffix(";") == true)
    }
    #expect(shell.type(".schema Mod").failure?.message.contains("did you mean `Mood`") == true)
  }

  /// A line, the words above the carets, and a part of the message or of the next step.
  @Test(arguments: [
    ("SELECT * FROM ZMOOD;", "SELECT", ".sqlite SELECT"),
    ("count Mood where latitud > 5", "latitud", "did you mean `latitude`"),
    ("fetch Mood where latitude > 5 limt 3", "l", "invalid predicate"),
    ("fetch Mood sort date down", "down", "unknown option"),
    ("open x.yml as a.b write", "a.b", "requires a name"),
    ("repeat { count Mood }", "{", "needs a number"),
    ("repeat 3 count Mood", "c", "expected `{`"),
    ("repeat 3 { count Mood } now", "n", "unexpected text"),
    ("repeat 3 { count Moood }", "Moood", "repetition 1 of 3"),
  ])
  func messagesNameTheWord(line: String, marked: String, text: String) throws {
    let failure = try #require(try ShellSession(small).type(line).failure)
    #expect(
      failure.message.contains(text) || failure.nextStep?.contains(text) == true, "\(failure)")
    let excerpt = try #require(failure.excerpt).split(separator: "\n").map(Array.init)
    let carets = excerpt[1].indices.filter { excerpt[1][$0] == "^" }
    #expect(String(carets.map { excerpt[0][$0] }) == marked)
  }

  @Test func previousLineIsRunAgain() throws {
    let shell = try ShellSession(small)
    #expect(shell.type("!!").failure?.message == "there's no previous line")
    shell.type("count Mood")
    #expect(shell.type("!!").lines.first == "> count Mood")
    #expect(shell.type("!!").lines.last?.hasPrefix("  40 Mood") == true)
    #expect(shell.engine.current.steps.map(\.text) == ["count Mood", "count Mood", "count Mood"])
    shell.type("repeat 2 {", "count Country", "}")
    let lines = shell.type("!!").lines
    #expect(lines.dropLast() == ["> repeat 2 {", "> count Country", "> }"])
    #expect(lines.last?.contains("2 x count Country") == true)
    #expect(shell.engine.current.steps.count == 7)
  }

  /// Comments and escaped quotation marks don't end a block or a line of it.
  @Test(arguments: [
    ["repeat 2 {", "# don't; count } it", "count Mood # it's all of them }", "}"],
    ["repeat 2 { count Mood where \"remoteIdentifier != \\\"a; }\\\"\" }"],
    ["repeat 2 { count Mood } # twice"],
  ])
  func blockHasCommentsAndEscapes(lines: [String]) throws {
    let shell = try ShellSession(small)
    for line in lines.dropLast() { #expect(shell.type(line).lines.isEmpty) }
    let answer = shell.type(lines.last ?? "")
    #expect(answer.failure == nil)
    #expect(answer.lines.count == 1 && answer.lines[0].contains("2 x count Mood"))
  }

  @Test("text after a block in several lines is marked in its own line")
  func textAfterABlockIsMarkedInItsLine() throws {
    let shell = try ShellSession(small)
    let failure = try #require(shell.type("repeat 2 {", "count Mood", "} now").failure)
    #expect(failure.message == "unexpected text after the block")
    #expect(failure.excerpt == "  } now\n    ^")
  }

  @Test("a number of `last`, or of an object, can have the mark that it's printed with")
  func numbersCanHaveAMark() throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood limit 2 as moods", "touch moods country.numericISO3166Code")
    let lines = shell.type("explain 1").lines
    #expect(shell.type("explain #1").lines == lines)
    #expect(shell.type("explain").lines != lines)
    #expect(shell.type("explain # 1").lines == shell.type("explain").lines)
    #expect(shell.type("explain #9").failure?.excerpt == "  explain #9\n           ^")
    #expect(shell.type("show moods #2").lines == shell.type("show moods 2").lines)
    #expect(shell.type("show moods limit 1 #2").lines == shell.type("show moods limit 1").lines)
  }

  /// SQL has no such comments and escapes.
  @Test func queryOfABlockIsUnchanged() throws {
    let shell = try ShellSession(small)
    let answer = shell.type("repeat 2 { .sqlite SELECT '\\', '# }' AS x; count Mood }")
    #expect(answer.failure == nil)
    #expect(answer.lines.contains { $0.hasSuffix("# }") })
    #expect(answer.lines.contains { $0.contains("2 x count Mood") })
  }

  @Test func repeatedStepsAreAddedUp() throws {
    let shell = try ShellSession(small)
    let lines = shell.type("repeat 12 { fetch Mood limit 5 as m; count Country; sql }").lines
    #expect(lines.count == 3)
    #expect(lines[0].contains(/^  12 x fetch Mood limit 5 as m +12 SELECTs +60 rows +0 faults/))
    #expect(lines[1].contains(/^  12 x count Country +12 SELECTs/))
    #expect(lines[2].contains("SQL log: level 0"))
    #expect(
      shell.engine.answer(to: "repeat 2 { sql; count Mood }").lines.first?.contains("   fastest ")
        == true)
    shell.type("reset", "repeat 12 { fetch Mood limit 5 as m; count Country; sql }")
    #expect(shell.engine.current.steps.count == 24)
    #expect(shell.type("repeat 2 {", "count Mood", "count Country").lines.isEmpty)
    #expect(shell.engine.prompt == "   ...> ")
    #expect(shell.type("}").lines.count == 2)
    #expect(shell.engine.prompt == "cdprof> ")
    let failed = shell.type("repeat 3 { count Mood; delete m limit 1; rollback; touch m nope }")
    #expect(failed.failure?.message.hasPrefix("repetition 1 of 3: ") == true)
    #expect(failed.lines.contains { $0.contains("1 x count Mood") })
    shell.type("repeat 2 {")
    #expect(shell.engine.endOfLines()?.message.contains("isn't closed") == true)
    shell.type("repeat 2 {")
    shell.engine.discardBlock()
    #expect(shell.engine.prompt == "cdprof> " && shell.engine.endOfLines() == nil)
  }

  @Test("the steps of a block in a block are added up for both, in their order")
  func nestedBlocksAreAddedUp() throws {
    let shell = try ShellSession(small)
    let lines = shell.type("repeat 2 { repeat 3 { count Mood; sql }; count Country }").lines
    #expect(lines.count == 3)
    #expect(lines[0].contains(/^  6 x count Mood +6 SELECTs/))
    #expect(lines[1].contains(/^  2 x count Country +2 SELECTs/))
    #expect(lines[2].contains("SQL log: level 0"))
    #expect(shell.engine.current.steps.count == 8)
    let failed = shell.type("repeat 2 {", "repeat 3 {", "count Moood", "}", "}").failure
    #expect(failed?.message.hasPrefix("repetition 1 of 2: repetition 1 of 3: ") == true)
  }

  /// Reading the inner block each time would take minutes.
  @Test("a block in a block isn't read again for each repetition")
  func nestedBlocksAreReadOnce() throws {
    let lines = String(repeating: ";", count: 90_000)
    let shell = try ShellSession(small)
    let begin = threadTime()
    #expect(shell.type("repeat 1000 { repeat 1 { \(lines) } }").failure == nil)
    #expect(threadTime() - begin < 30)
  }

  private static func nested(_ block: String, depth: Int) -> String {
    String(repeating: "\(block) { ", count: depth) + "rollback"
      + String(repeating: " }", count: depth)
  }

  @Test(
    "blocks in blocks are limited by the product of their repetitions, and by their depth",
    arguments: [
      ("repeat 1000 { repeat 11 { rollback } }", "the block adds 10,999 steps"),
      ("repeat 1000 { time repeat 12 { rollback } }", "the block adds 11,999 steps"),
      ("repeat 1000 { repeat 11 { } }", "the block adds 10,999 steps"),
      (ShellHabitsTests.nested("repeat 1000", depth: 20), "steps, and the limit is 10,000"),
      (
        ShellHabitsTests.nested("repeat 1", depth: 101),
        "nested too deeply; the limit is 100 levels"
      ),
    ])
  func blocksInBlocksAreLimited(line: String, message: String) throws {
    let shell = try ShellSession(small)
    let failure = try #require(shell.type(line).failure)
    #expect(failure.message.contains(message) && failure.nextStep != nil, "\(failure)")
    #expect(shell.engine.current.steps.isEmpty)
    #expect(shell.type("repeat 2 { count Mood }").failure == nil)
  }

  @Test("a step that failed doesn't hide the findings of the steps after it")
  func findingsRemainAfterAFailedStep() throws {
    let shell = try ShellSession(small)
    let failed = shell.type("fetch Mood where date > \"2016\"")
    #expect(failed.failure?.message.hasSuffix("(134060)") == true)
    shell.type("fetch Mood prefetch country as moods", "touch moods date")
    let found = shell.type("findings").lines
    #expect(found.contains { $0.contains("! unused-prefetch(Mood.country)") }, "\(found)")
  }

  @Test("the steps of a saved scenario expect the errors that occurred")
  func savedStepsExpectWhatHappened() throws {
    let shell = try ShellSession(small)
    shell.type("count Mood fails 1", "count Mood where date > \"2016\" fails 1")
    shell.type("count Mood where date > \"2016\" fails 134060", "count Mood")
    #expect(shell.engine.current.steps.map(\.fails) == [nil, 134_060, 134_060, nil])
    let file = folder.file("failures.yml").path
    #expect(shell.type("save scenario \(file)").failure == nil)
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("fails: 134060}"))
  }

  @Test func timeIsPrintedAfterALine() throws {
    let shell = try ShellSession(small)
    let lines = shell.engine.answer(to: "time count Mood").lines
    #expect(lines.count == 2)
    #expect(lines[1].contains(/^  elapsed: [\d,]+\.\d{3} ms$/))
    #expect(shell.type("time").failure?.nextStep == "write `time LINE`")
  }

  @Test func helpListsEachVerbAndCommandOnce() throws {
    let lines = try ShellSession(small).type("help").lines
    for name in ShellEngine.verbs.map(\.rawValue) + ShellCommand.words {
      #expect(
        lines.count {
          $0.hasPrefix("    \(name)  ") || $0.hasPrefix("    \(name) ") && name.count > 12
        } == 1, "\(name)")
    }
    #expect(
      lines.count { $0.hasPrefix("  ") && !$0.hasPrefix("    ") } == 12, "titles, 2 lines of advice"
    )
  }

  @Test(arguments: [
    ("short", 80, ["short"]),
    (
      "  m: 5 Mood, all faults              1 SELECT       5 rows", 45,
      ["  m: 5 Mood, all faults   1 SELECT   5 rows"]
    ),
    (
      "    name   a description that is too long", 30,
      ["    name   a description that", "           is too long"]
    ),
    (
      "  /a/path/that/is/longer/than/the/screen is", 24,
      ["  /a/path/that/is/longer/than/the/screen", "      is"]
    ),
  ])
  func longLinesAreWrapped(line: String, width: Int, expected: [String]) {
    #expect(ScreenText.fitted(line, to: width) == expected)
  }
}
