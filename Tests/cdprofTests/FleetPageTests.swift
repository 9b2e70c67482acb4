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

  /// Both databases read the same keys and kinds, which the schema declares, and its version.
  @Test func databasesReadKeysOfTheSchema() throws {
    let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
    let common = try #require(schema["properties"] as? [String: [String: Any]])
    let declared = definitions.values.compactMap { $0["properties"] as? [String: Any] }
      .reduce(into: Set(common.keys)) { $0.formUnion($1.keys) }
    let duck = try #require(blocks("sql").first { $0.contains("read_json") })
    let postgres = try #require(blocks("sql").first { $0.contains("jsonb") })
    let columns = try #require(duck.firstMatch(of: /columns = \{([^}]*)\}/)).1
    let keys = Set(columns.matches(of: /(\w+): '/).map { String($0.1) })
    #expect(keys == Set(postgres.matches(of: /line->>?'(\w+)'/).map { String($0.1) }))
    #expect(keys.count > 10 && keys.isSubset(of: declared), "\(keys.subtracting(declared))")
    let known = try #require((common["version"]?["enum"] as? [Int])?.first)
    for load in [duck, postgres] {
      #expect(load.firstMatch(of: /version'? = '?(\d+)/).flatMap { Int($0.1) } == known)
    }
    let load = try #require(blocks("sh").first { $0.contains("psql") })
    let loaded = try #require(load.firstMatch(of: /"kind":"\(([\w|-]+)\)"/)).1
    let kinds = Set(loaded.split(separator: "|").map(String.init))
    let filter = try #require(duck.firstMatch(of: /kind IN \((.*?)\)/)).1
    #expect(kinds == Set(filter.matches(of: /'([\w-]+)'/).map { String($0.1) }))
    #expect(kinds.isSubset(of: definitions.keys), "\(kinds)")
  }
}
