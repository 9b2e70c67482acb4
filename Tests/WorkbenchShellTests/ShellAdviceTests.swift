import Foundation
import OpenCoreData
import RunResults
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import StatementAnalysis
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Index advice in the shell")
struct ShellAdviceTests {
  private static let point = "fetch Mood where \"latitude == 3 AND longitude == 3\""
  private static let sorted = "fetch Mood where \"longitude == 3\" sort remoteIdentifier"
  private let store: AdvisedStore

  init() throws {
    store = try AdvisedStore()
  }

  @Test func adviceDoesNotChangeTheRunOrTheStore() throws {
    let shell = try ShellSession(store.url)
    let before = try Data(contentsOf: store.url)
    shell.type(Self.point)
    let stats = shell.type("stats").lines
    let advice = shell.type("advise")
    #expect(advice.failure == nil)
    #expect(advice.lines.contains { $0.hasPrefix("  1  index Mood (latitude, longitude): ") })
    #expect(advice.lines.contains { $0.contains("VM steps per INSERT") })
    #expect(shell.type("stats").lines == stats)
    #expect(try Data(contentsOf: store.url) == before)
  }

  /// Without arguments, the statements of all runs count; a number of `last` selects one statement.
  @Test func adviceCoversAllRunsOrOneStatement() throws {
    let shell = try ShellSession(store.url)
    shell.type(Self.point, "reset", Self.sorted)
    let all = shell.type("advise").lines
    #expect(all.first?.hasPrefix("  2 statements read, ") == true)
    #expect(all.contains { $0.contains("index Mood (longitude, remoteIdentifier)") })
    #expect(all.contains { $0.contains("index Mood (latitude, longitude)") }, "\(all)")
    let one = shell.type("advise 1").lines
    #expect(one.first?.hasPrefix("  1 statement read, ") == true)
    #expect(one.contains { $0.contains("index Mood (longitude, remoteIdentifier)") })
    #expect(!one.contains { $0.contains("latitude") })
    #expect(shell.type("mode csv", "advise 1").lines.first?.hasPrefix("advice,index,on,") == true)
    #expect(shell.type("mode json", "advise 1").lines.contains { $0.contains("\"proposed\"") })
  }

  @Test(arguments: [
    ("advise", "no statement has run yet", nil), ("advise 1", "nothing has run yet", nil),
    ("advise now", "nothing has run", nil), ("advise 1 2", "too many arguments for `advise`", "2"),
  ])
  func rejectsAdviceWithoutStatements(line: String, message: String, marked: String?) throws {
    let failure = try #require(try ShellSession(store.url).type(line).failure)
    #expect(failure.message.contains(message))
    let lines = failure.excerpt?.split(separator: "\n").map(Array.init)
    let carets = lines.map { lines in lines[1].indices.filter { lines[1][$0] == "^" } }
    #expect(carets.map { String($0.compactMap { lines?[0][$0] }) } == marked)
  }

  @Test func unknownStatementNumberIsReported() throws {
    let shell = try ShellSession(store.url)
    shell.type("fetch Mood limit 3 as m", "touch m date")
    let groups = shell.engine.current.groups
    let hit = try #require(groups.first { $0.sql == nil })
    #expect(
      shell.type("advise \(hit.number)").failure?.message == "#\(hit.number) ran no statement")
    #expect(shell.type("advise 99").failure?.message.contains("isn't one of the numbers") == true)
  }

  @Test func adviceCanBeInterrupted() throws {
    struct Interruption: Error {}
    let shapes = [
      AdvisedStatement(sql: "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE t0.ZLATITUDE = 3", count: 9)
    ]
    let advisor = try IndexAdvisor(storeURL: store.url)
    var asked = 0
    #expect(throws: Interruption.self) {
      try advisor.advice(on: shapes) {
        asked += 1
        throw Interruption()
      }
    }
    #expect(asked == 1)
  }

  @Test func adviseIsInCompletionAndHelp() throws {
    let shell = try ShellSession(store.url)
    #expect(shell.engine.vocabulary.candidates(for: "adv") == .words(["advise"]))
    #expect(shell.type("help advise").lines.first == "  advise [N]")
    #expect(shell.type("help").lines.contains { $0.hasPrefix("    advise ") })
  }
}
