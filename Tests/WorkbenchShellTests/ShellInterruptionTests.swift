import Dispatch
import Foundation
import ProfileEvents
import RunResults
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import ScenarioLanguage
@testable import WorkbenchShell
@testable import WorkbenchText

/// An endless view makes any statement run until it's interrupted.
@Suite("Interrupting a statement keeps the store valid")
struct ShellInterruptionTests {
  private let folder: TemporaryFolder
  private let shell: ShellSession

  /// Opens a scratch store with 40 moods in 20 countries.
  init() throws {
    folder = try TemporaryFolder()
    let file = folder.file("small.yml")
    try Data(
      """
      name: Small
      model: \(PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel").path)
      data:
        Country: {count: 20}
        Mood: {count: 40, country: cycle}
      steps: []
      """.utf8
    ).write(to: file)
    shell = try ShellSession(file)
    shell.type(
      "sql \"CREATE VIEW endless AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) "
        + "SELECT n FROM x\"")
  }

  @Test(arguments: [
    ("UPDATE", "ZMOOD", ["fetch Mood as m", "set m with latitude 7"], "save", 40),
    (
      "INSERT", "ZREGION",
      ["insert Country times 3 with numericISO3166Code 999, updatedAt 2016-01-01"], "save", 23
    ),
    ("DELETE", "ZMOOD", ["fetch Mood limit 2 as m", "delete m"], "save", 38),
    ("UPDATE", "ZMOOD", [], "batch-update Mood with latitude 7", 40),
    ("INSERT", "ZMOOD", [], "batch-insert Mood times 3 with date 2016-01-01", 43),
    ("DELETE", "ZMOOD", [], "batch-delete Mood", 0),
  ])
  func interruptedSaveRollsBackAndCanBeRepeated(
    change: String, table: String, before: [String], step: String, rows: Int
  ) throws {
    let rowsBefore = try number("SELECT count(*) FROM \(table)")
    for line in before { #expect(shell.type(line).failure == nil) }
    slowDown(change, of: table)
    #expect(
      typeInterrupted(step)?.message == "`\(step)` was interrupted; nothing was written")
    #expect(try number("SELECT count(*) FROM \(table)") == rowsBefore)
    #expect(try number("SELECT count(*) FROM ZMOOD WHERE ZLATITUDE = 7") == 0)

    #expect(shell.type("sql \"DROP TRIGGER slow\"").failure == nil)
    let repeated = shell.type(step)
    #expect(repeated.failure == nil, "\(repeated)")
    #expect(try number("SELECT count(*) FROM \(table)") == rows)
    let changed = change == "UPDATE" ? 40 : 0
    #expect(try number("SELECT count(*) FROM ZMOOD WHERE ZLATITUDE = 7") == changed)
  }

  @Test func interruptedFaultRemainsAFault() throws {
    shell.type("fetch Mood values no as m", "fetch Country values no as c")
    slowDownReads(of: "ZMOOD")
    #expect(typeInterrupted("touch m date limit 1") != nil)
    #expect(typeInterrupted("touch c moods limit 1") != nil)
    restoreReads(of: "ZMOOD")
    let before = shell.engine.current.costs.counters.objectFaultMisses
    #expect(shell.type("touch m date limit 1").failure == nil)
    let after = shell.engine.current.costs.counters.objectFaultMisses
    #expect(after - before == 1, "the fault fires again")
    #expect(shell.type("touch c moods.date limit 1").failure == nil)
    #expect(shell.type("fetch Mood as all").failure == nil)
    let unchanged = shell.type("save").lines.first
    #expect(unchanged?.hasPrefix("  nothing to save") == true, "\(unchanged ?? "")")
  }

  @Test func batchLoadsCanBeInterrupted() throws {
    shell.type("fetch Mood batch 10 as m")
    slowDownReads(of: "ZMOOD")
    #expect(typeInterrupted("walk m limit 1") != nil)
    restoreReads(of: "ZMOOD")
    #expect(shell.type("touch m date").lines.first?.contains("40 objects") == true)
    #expect(shell.engine.current.costs.counters.rows == 40 + 40)
  }

  /// A fault that fires while objects are changed can't fail, so its statement isn't interrupted.
  @Test func changingStepsStopOnlyBetweenObjects() throws {
    shell.type("context edit parent main", "fetch Mood as m", "fetch Mood in edit as e")
    let session = try #require(shell.engine.session)
    let steps = ["set m with latitude 7", "delete m", "touch e date"].map {
      try? ShellLine.parse($0, number: 1)
    }
    for step in steps { #expect(session.interrupt(for: try #require(step)) == nil) }
    #expect(session.interrupt(for: try ShellLine.parse("touch m date", number: 1)) != nil)
  }

  /// Makes each change of a row of a table run forever.
  private func slowDown(_ change: String, of table: String) {
    let trigger =
      "CREATE TRIGGER slow AFTER \(change) ON \(table) BEGIN SELECT max(n) FROM endless; END"
    #expect(shell.type("sql \"\(trigger)\"").failure == nil)
  }

  /// Makes each read of a table run forever.
  private func slowDownReads(of table: String) {
    #expect(shell.type("sql \"ALTER TABLE \(table) RENAME TO HIDDEN\"").failure == nil)
    let view =
      "CREATE VIEW \(table) AS SELECT * FROM HIDDEN WHERE (SELECT max(n) FROM endless) > 0"
    #expect(shell.type("sql \"\(view)\"").failure == nil)
  }

  private func restoreReads(of table: String) {
    #expect(shell.type("sql \"DROP VIEW \(table)\"").failure == nil)
    #expect(shell.type("sql \"ALTER TABLE HIDDEN RENAME TO \(table)\"").failure == nil)
  }

  /// Types a line and interrupts it repeatedly.
  private func typeInterrupted(_ line: String) -> CommandFailure? {
    let interruption = shell.engine.interruption
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + 0.2, repeating: 0.1)
    timer.setEventHandler { interruption.request() }
    timer.resume()
    defer { timer.cancel() }
    return shell.type(line).failure
  }

  /// Returns the number that a SQL query returns.
  private func number(_ query: String) throws -> Int {
    let lines = shell.type(".sqlite \(query)").lines
    return try #require(lines.compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }.last)
  }
}
