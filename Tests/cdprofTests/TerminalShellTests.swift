import Foundation
import Testing

@Suite("A shell at a terminal")
struct TerminalShellTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  @Test func linesAreEditedCompletedAndKept() throws {
    let session = try TerminalSession(program, ["shell", PackageFiles.faults])
    #expect(session.wait(for: "Tab completes, `help` helps") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("cou\tCoun\t\n")
    #expect(session.wait(for: "60 Country") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("count Moood\n")
    #expect(session.wait(for: "did you mean `Mood`?") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("\u{04}")
    #expect(session.status() == 0, "an error at a terminal is nobody's status")
    let history = program.folder.file("state/cdprof/history")
    #expect(try String(contentsOf: history, encoding: .utf8) == "count Country \ncount Moood\n")
    #expect(program.leftovers.isEmpty)
  }

  @Test func controlCThrowsTheLineAwayNotTheShell() throws {
    let session = try TerminalSession(program, ["shell"])
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("stats and more")
    #expect(session.wait(for: "stats and more") != nil)
    session.type("\u{03}")
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("sql\n")
    #expect(session.wait(for: "SQL log: level 0, nothing") != nil)
    #expect(session.wait(for: "cdprof> ") != nil)
    session.type("quit\n")
    #expect(session.status() == 0)
  }

  @Test func anEndFromOutsideLeavesNoScratchStore() throws {
    let session = try TerminalSession(program, ["shell", PackageFiles.faults])
    #expect(session.wait(for: "cdprof> ") != nil)
    #expect(program.leftovers.count == 1)
    session.send(SIGTERM)
    #expect(session.status() == 128 + SIGTERM)
    #expect(program.leftovers.isEmpty)
  }
}
