import Foundation
import Testing

@Suite("cdprof log --follow")
struct LiveLogTests {
  private static let select =
    "CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.Z_PK = ? \n"

  @Test func interruptEndsWithTheSummary() throws {
    let program = try BuiltProgram()
    let log = try program.folder.write(Self.select, to: "app.log")
    let outcome = try program.bash(
      """
      "$CDPROF" log '\(log)' --follow > out.txt & process=$!
      until grep -q '^1 line: 1 SELECT' out.txt; do sleep 0.1; done
      mv app.log app.log.1; cat app.log.1 > app.log
      until grep -q '^2 lines: 2 SELECTs' out.txt; do sleep 0.1; done
      kill -INT $process; wait $process; echo "status $?"; cat out.txt
      """)
    #expect(outcome.output.hasPrefix("status 0\n"), "\(outcome.output) \(outcome.errors)")
    #expect(outcome.output.contains("app.log   2 lines: 2 from Core Data"))
  }

  @Test func pipeEndsWithTheSummaryOrOnlyTheResult() throws {
    let program = try BuiltProgram()
    _ = try program.folder.write(Self.select, to: "app.log")
    let text = try program.bash("cat app.log | cdprof log - --every 5")
    #expect(text.status == 0 && text.output.hasPrefix("-   1 line: "), "\(text.errors)")
    let json = try program.bash("cat app.log | cdprof log - --follow --json")
    #expect(json.output.hasPrefix("{"))
    #expect(try program.run(["log", "app.log", "--every", "0"]).status == 64)
  }

  @Test func terminalShowsATableUntilControlC() throws {
    let program = try BuiltProgram()
    let log = try program.folder.write(Self.select, to: "app.log")
    let terminal = try TerminalSession(
      program, ["log", log, "--follow"], environment: ["TERM": "xterm"])
    terminal.resize(rows: 24, columns: 80)
    #expect(terminal.wait(for: "Ctrl-C ends") != nil)
    // The next table replaces the first one.
    #expect(terminal.wait(for: "A\u{1B}[J") != nil)
    terminal.type("\u{3}")
    #expect(terminal.wait(for: "1 line: 1 from Core Data") != nil)
    #expect(terminal.status() == 0)
  }
}
