import Foundation
import Testing

@Suite("cdprof doctor --repair")
struct RepairCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  private struct Report: Decodable {
    let complete: Bool
    let corruptPages: [String: Int]
  }

  @Test func exitStatusStatesWhetherSomethingIsLost() throws {
    let outcome = try program.bash(
      BuiltProgram.smallStore + """
        cdprof doctor s.sqlite --repair whole.sqlite > /dev/null; echo $?
        cdprof doctor whole.sqlite > /dev/null; echo $?
        cdprof doctor s.sqlite --repair whole.sqlite 2>> errors; echo $?
        cdprof doctor s.sqlite --model s.yml 2> /dev/null; echo $?
        cdprof doctor s.yml --repair other.sqlite 2>> errors; echo $?
        cdprof doctor s.sqlite --repair absent/o.sqlite 2>> errors; echo $?
        dd if=/dev/zero of=s.sqlite bs=4096 seek=2 count=1 conv=notrunc 2> /dev/null
        cksum s.sqlite > before; ls -A > names
        cdprof doctor s.sqlite --repair part.sqlite --json > report.json; echo $?
        cksum s.sqlite | diff before - && ls -A | diff names - | grep -v report.json
        """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(Array(lines.prefix(7)) == ["0", "0", "65", "64", "65", "66", "3"], "\(outcome)")
    #expect(lines.filter { $0.hasPrefix("> ") || $0.hasPrefix("< ") } == ["> part.sqlite"])
    let errors = try String(contentsOf: program.folder.file("errors"), encoding: .utf8)
    #expect(errors.contains("whole.sqlite already exists"))
    #expect(errors.contains("s.yml isn't a SQLite database"))
    #expect(errors.contains("there's no folder absent for the new file"))
    let report = try JSONDecoder().decode(
      Report.self, from: Data(contentsOf: program.folder.file("report.json")))
    #expect(!report.complete && report.corruptPages.count == 1)
  }

  @Test func modelOfAnotherStoreIsNamedInsteadOfTheNewFile() throws {
    let outcome = try program.bash(
      BuiltProgram.smallStore + """
        cdprof doctor s.sqlite --repair new.sqlite --model '\(PackageFiles.articles)'; echo $?
        ls new.sqlite 2> /dev/null
        """)
    #expect(outcome.output == "65\n", "\(outcome)")
    #expect(outcome.errors.hasPrefix("\(PackageFiles.articles) can't be used: "))
    #expect(outcome.errors.contains("these entities differ: Article, Author, Continent, "))
    #expect(!outcome.errors.contains("new.sqlite"))
  }
}
