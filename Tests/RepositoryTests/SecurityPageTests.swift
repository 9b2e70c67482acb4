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
    let package = try Repository.text(of: "Package.swift")
    let declared = package.matches(of: /\.package\(url: "[^"]*\/([^"\/]+)", from: "([^"]+)"\)/)
      .map { (String($0.1), String($0.2)) }
    let rows = try rows(below: "Dependencies")
    #expect(declared.count == package.matches(of: /\.package\(url:/).count && !declared.isEmpty)
    #expect(Set(rows.keys) == Set(declared.map(\.0)))
    for (name, version) in declared {
      #expect(rows[name]?.first == version && rows[name]?.count == 2, "\(name)")
    }
  }
}
