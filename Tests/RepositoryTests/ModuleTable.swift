import Foundation

/// The module table of ARCHITECTURE.md: the imports that each module may have.
///
/// A row is `| `Module` | what it holds | `Import`, `Import` |`; every word in backticks in the
/// last column may be imported. A module may import only modules of the rows below it.
struct ModuleTable {
  struct Row {
    let module: String
    /// The second column.
    let contents: String
    let imports: Set<String>
  }

  let rows: [Row]

  /// System modules, which any module may import.
  static let system: Set<String> = [
    "Foundation", "FoundationXML", "Dispatch", "Synchronization", "Glibc", "Musl", "Darwin",
    "PackagePlugin",
  ]

  /// Modules whose `public` declarations are the product's API; all others use `package`.
  static let withPublicAPI: Set<String> = [
    "OpenCoreData", "ManagedModel", "CoreDataCosts", "EngineInterface", "WorkbenchCommands",
  ]

  init() throws {
    let lines = try Repository.lines(of: "ARCHITECTURE.md")
    rows = lines.drop { !$0.hasPrefix("| module |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
      .flatMap { line -> [Row] in
        let cells = line.split(separator: "|").map(String.init)
        guard let first = cells.first, let last = cells.last, cells.count == 3 else { return [] }
        return Self.words(of: first).map {
          Row(module: $0, contents: cells[1], imports: Set(Self.words(of: last)))
        }
      }
  }

  /// Returns the modules that a module may import; `nil` if the table doesn't contain it.
  func imports(of module: String) -> Set<String>? {
    rows.first { $0.module == module }?.imports
  }

  /// Returns the dependencies of each target in Package.swift except test targets.
  static func declared() throws -> [String: Set<String>] {
    let text = try Repository.text(of: "Package.swift")
    let target = /\.(target|executableTarget|systemLibrary|testTarget|plugin)\(\s*name: "(\w+)"/
    let section = text.firstRange(of: "  targets: [")?.upperBound ?? text.startIndex
    let starts = text[section...].matches(of: target)
    var targets: [String: Set<String>] = [:]
    for (index, start) in starts.enumerated() where start.1 != "testTarget" {
      let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : text.endIndex
      // Targets that only tests use aren't in the table.
      if text[start.range.upperBound..<end].contains("path: \"Tests/") { continue }
      let names = text[start.range.upperBound..<end].firstMatch(of: /dependencies: \[([^\]]*)\]/)
      targets[String(start.2)] = Set(
        names.map { $0.1.replacing(/package: "[^"]*"/, with: "") }
          .map { $0.matches(of: /"(\w+)"/).map { String($0.1) } } ?? [])
    }
    return targets
  }

  static func words(of cell: String) -> [String] {
    cell.matches(of: /`(\w+)`/).map { String($0.1) }
  }
}
