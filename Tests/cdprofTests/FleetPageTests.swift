import Foundation
import Testing

/// `make fleet` runs the SQL of the page in databases; this suite checks what needs none.
@Suite("The page about fleets matches the program")
struct FleetPageTests {
  private let page: String
  private let schema: [String: Any]

  init() throws {
    let folder = PackageFiles.documentation
    page = try String(contentsOf: folder.appendingPathComponent("fleet.md"), encoding: .utf8)
    let document = try Data(contentsOf: folder.appendingPathComponent("report-lines.schema.json"))
    schema = try #require(JSONSerialization.jsonObject(with: document) as? [String: Any])
  }

  private func blocks(_ language: String) throws -> [String] {
    let pattern = try Regex("(?ms)^```\(language)\n(.*?)^```$", as: (Substring, Substring).self)
    return page.matches(of: pattern).map { String($0.1) }
  }

  /// Runs the commands that write lines, on two logs, one of which can't be read, and a scenario.
  @Test func commandsWriteLines() throws {
    let program = try BuiltProgram()
    let log = "CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0\n"
    _ = try program.folder.write(log, to: "fleet/1.10/a b.log")
    _ = try program.folder.write("no log\n", to: "fleet/1.9/b.log")
    let scenario = "name: One\nmodel: \(PackageFiles.model)\nsteps: [{count: Mood}]\n"
    _ = try program.folder.write(scenario, to: "Scenarios/one.yml")
    let commands = try blocks("sh").filter { $0.contains("cdprof ") }
    #expect(commands.count == 2)
    let outcomes = try commands.map { try program.bash("PATH=${CDPROF%/*}:$PATH\n\($0)") }
    #expect(outcomes.map(\.status) == [123, 0], "\(outcomes)")
    #expect(outcomes[0].errors.contains("fleet/1.9/b.log"))
    for (file, origin) in [("a b", "log"), ("runs/one", "scenario")] {
      let text = try String(
        contentsOf: program.folder.file("fleet/1.10/\(file).jsonl"), encoding: .utf8)
      let lines = try text.split(separator: "\n").map {
        try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      #expect(
        lines.count > 1
          && lines.allSatisfy {
            $0[origin] is String && ($0["labels"] as? [String: String]) == ["release": "1.10"]
          })
    }
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("fleet/1.9/b.jsonl").path))
  }

  /// Both databases read the same keys, which are in the schema, as are the version and the kinds.
  @Test func databasesReadKeysOfTheSchema() throws {
    let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
    let common = try #require(schema["properties"] as? [String: [String: Any]])
    let declared = definitions.values.compactMap { $0["properties"] as? [String: Any] }
      .reduce(into: Set(common.keys)) { $0.formUnion($1.keys) }
    let loads = try blocks("sql").filter { $0.contains("'statement-totals', 'finding')") }
    #expect(loads.count == 2)
    let columns = try #require(
      loads.first?.firstMatch(of: /columns = \{(.*?)\}/.dotMatchesNewlines()))
    let duck = Set(columns.1.matches(of: /(\w+): '/).map { String($0.1) })
    let postgres = Set(try #require(loads.last).matches(of: /line->>?'(\w+)'/).map { String($0.1) })
    #expect(duck == postgres && duck.count > 10 && duck.isSubset(of: declared))
    for load in loads {
      let kinds = try #require(load.firstMatch(of: /kind'? IN \((.*?)\)/)).1
        .matches(of: /'([\w-]+)'/).map { String($0.1) }
      #expect(Set(kinds).isSubset(of: definitions.keys), "\(kinds)")
      let version = load.firstMatch(of: /version'? = '?(\d+)/).flatMap { Int($0.1) }
      #expect((common["version"]?["enum"] as? [Int]) == version.map { [$0] })
    }
  }
}
