import Foundation

/// The module table of ARCHITECTURE.md: who may import whom.
///
/// A row is `| `Module` | what it holds | `Import`, `Import` |`; every word in backticks in the last
/// column may be imported. The rows stand from the top of the graph down.
struct ModuleTable {
  struct Row {
    let module: String
    let imports: Set<String>
  }

  let rows: [Row]

  /// The system's own modules, which any module may import.
  static let system: Set<String> = [
    "Foundation", "FoundationXML", "Dispatch", "Synchronization", "Glibc", "Musl", "Darwin",
  ]

  /// Modules whose `public` declarations are the product's API; all others say `package`.
  static let withPublicAPI: Set<String> = [
    "OpenCoreData", "ManagedModel", "CoreDataCosts", "Moody",
  ]

  init() throws {
    let lines = try Repository.lines(of: "ARCHITECTURE.md")
    rows = lines.drop { !$0.hasPrefix("| module |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
      .flatMap { line -> [Row] in
        let cells = line.split(separator: "|").map(String.init)
        guard let first = cells.first, let last = cells.last else { return [] }
        return Self.words(of: first).map { Row(module: $0, imports: Set(Self.words(of: last))) }
      }
  }

  /// What a module may import, itself left out; nil for a module that the table lacks.
  func imports(of module: String) -> Set<String>? {
    rows.first { $0.module == module }?.imports
  }

  private static func words(of cell: String) -> [String] {
    cell.matches(of: /`(\w+)`/).map { String($0.1) }
  }
}
