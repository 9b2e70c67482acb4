import Foundation
import Testing

@Suite("The security page")
struct SecurityPageTests {
  /// Returns the rows of the table below a heading, by their first cell.
  private func rows(below heading: String) throws -> [String: [String]] {
    let lines = try Repository.lines(of: "SECURITY.md")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    var rows: [String: [String]] = [:]
    for line in section where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let name = cells[0].trimmingCharacters(in: ["`"])
      #expect(rows[name] == nil, "\(name) is listed twice")
      rows[name] = Array(cells.dropFirst())
    }
    return rows
  }

  @Test("The table of reads and writes lists all commands of the command page")
  func tableListsAllCommands() throws {
    let commands = try Repository.text(of: "Documentation/cli.md")
      .matches(of: /(?m)^## `cdprof ([a-z]+)`$/).map { String($0.1) }
    let rows = try rows(below: "What each command reads and writes")
    #expect(Set(rows.keys) == Set(commands))
    #expect(rows.values.allSatisfy { $0.count == 2 && !$0.contains("") })
  }

  @Test("The table of dependencies lists those of the package, with their minimum versions")
  func tableListsAllDependencies() throws {
    let declared = try dependencies(of: ["Package.swift"])
    let rows = try rows(below: "Dependencies")
    #expect(Set(rows.keys) == Set(declared.map(\.name)) && !rows.isEmpty)
    for (name, version) in declared {
      #expect(rows[name]?.first == version && rows[name]?.count == 2, "\(name)")
    }
  }

  @Test("The table of the integrations' dependencies lists those of their packages and examples")
  func tableListsAllDependenciesOfIntegrations() throws {
    let declared = try dependencies(of: [
      "Integrations/PostgresStore/Package.swift", "Integrations/Observability/Package.swift",
      "Integrations/Observability/Examples/MoodService/Package.swift",
    ])
    let rows = try rows(below: "Dependencies of Integrations")
    #expect(Set(rows.keys) == Set(declared.map(\.name)) && !rows.isEmpty)
    for (name, version) in declared {
      #expect(rows[name]?.first == version && rows[name]?.count == 3, "\(name)")
    }
  }

  /// Returns the names and minimum versions of the packages that manifests declare with a URL.
  private func dependencies(of manifests: [String]) throws -> [(name: String, version: String)] {
    try manifests.flatMap { manifest in
      let text = try Repository.text(of: manifest)
      let declared = text.matches(of: /\.package\(url: "[^"]*\/([^"\/]+)", from: "([^"]+)"\)/)
      #expect(declared.count == text.matches(of: /\.package\(url:/).count, "\(manifest)")
      return declared.map { (String($0.1), String($0.2)) }
    }
  }
}
