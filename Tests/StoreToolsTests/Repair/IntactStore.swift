import OpenCoreData
import SQLiteDriver
import WorkbenchFixtures

@testable import StoreTools

/// What SQLite reads from an intact store, and the pages that each row needs.
struct IntactStore {
  /// The rows of a table by rowid, each as values by column.
  typealias Rows = [Int64: [String: SQLiteValue]]

  /// The pages of a row, according to SQLite's table `dbstat`.
  struct Location {
    let leaf: Int
    var overflow: Set<Int> = []
  }

  /// A column with the primary key of a row of another table.
  struct Reference {
    let column: String
    /// The columns that are NULL if the reference is.
    let others: [String]
    let destination: String
  }

  private(set) var tables: [String: Rows] = [:]
  private(set) var columns: [String: [String]] = [:]
  private(set) var locations: [String: [Int64: Location]] = [:]
  private(set) var references: [String: [Reference]] = [:]
  /// The columns with the primary keys of both ends, by join table, and the tables of the ends.
  private(set) var joins: [String: [(column: String, destination: String)]] = [:]
  private(set) var derived: Set<String> = []
  let pageSize: Int
  /// The pages that aren't free.
  private(set) var used: [Int] = []
  let model: NSManagedObjectModel

  /// Reads a store with SQLite.
  init(_ url: URL) throws {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    try StoreFunctions.register(on: connection)
    let anatomy = try StoreAnatomy(reading: connection)
    model = anatomy.source.model
    pageSize = try Self.integer("PRAGMA page_size", connection)
    tables = try Self.tables(on: connection)
    for name in tables.keys {
      columns[name] = try Self.columns(of: name, on: connection)
      try locate(name, on: connection)
    }
    for row in try connection.values("SELECT DISTINCT pageno FROM dbstat ORDER BY pageno") {
      if case .integer(let page) = row[0] { used.append(Int(page)) }
    }
    readReferences(anatomy)
  }

  private static func integer(_ sql: String, _ connection: Connection) throws -> Int {
    guard case .integer(let value)? = try connection.values(sql).first?.first else { return 0 }
    return Int(value)
  }

  /// Returns the rows of the tables of entities, join tables included.
  static func tables(on connection: Connection) throws -> [String: Rows] {
    var tables: [String: Rows] = [:]
    for case .text(let table) in try connection.values(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name LIKE 'Z%' "
        + "AND name NOT IN ('Z_METADATA', 'Z_MODELCACHE', 'Z_PRIMARYKEY')"
    ).compactMap(\.first) {
      let columns = try columns(of: table, on: connection)
      tables[table] = [:]
      for row in try connection.values("SELECT rowid, * FROM \(SQLSyntax.quoted(table))") {
        guard case .integer(let key) = row[0] else { continue }
        tables[table, default: [:]][key] = Dictionary(
          zip(columns, row.dropFirst()), uniquingKeysWith: { first, _ in first })
      }
    }
    return tables
  }

  private static func columns(of table: String, on connection: Connection) throws -> [String] {
    try connection.values(
      "SELECT name FROM pragma_table_info(?) ORDER BY cid", [.text(table)]
    ).compactMap { row in
      if case .text(let name) = row[0] { name } else { nil }
    }
  }

  static func tables(_ url: URL) throws -> [String: Rows] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    return try tables(on: connection)
  }

  /// Assigns rows in the order of rowids to leaf pages in the order of their paths.
  private mutating func locate(_ table: String, on connection: Connection) throws {
    var keys = (tables[table] ?? [:]).keys.sorted()[...]
    var cells: [String: [Int64]] = [:]
    let pages = try connection.values(
      "SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ? "
        + "ORDER BY pagetype = 'overflow', path", [.text(table)])
    for page in pages {
      guard case .text(let path) = page[0], case .integer(let number) = page[1],
        case .text(let type) = page[2], case .integer(let count) = page[3]
      else { continue }
      if type == "leaf" {
        cells[path] = Array(keys.prefix(Int(count)))
        for key in keys.prefix(Int(count)) {
          locations[table, default: [:]][key] = Location(leaf: Int(number))
        }
        keys = keys.dropFirst(Int(count))
      } else if type == "overflow" {
        // The path of the leaf page, the index of the cell, and that of the overflow page.
        let cell = path.split(separator: "+").first ?? ""
        let leaf = String(path[...(path.lastIndex(of: "/") ?? path.startIndex)])
        guard let index = Int(cell.dropFirst(leaf.count), radix: 16),
          let key = cells[leaf]?[index]
        else { continue }
        locations[table]?[key]?.overflow.insert(Int(number))
      }
    }
    precondition(keys.isEmpty, "\(table) has rows on unknown pages")
  }

  private mutating func readReferences(_ anatomy: StoreAnatomy) {
    for entity in anatomy.mapping.entities {
      for column in entity.ownColumns {
        guard let relationship = column.property as? NSRelationshipDescription,
          let destination = relationship.destinationEntity
        else { continue }
        references[entity.table, default: []].append(
          Reference(
            column: column.name,
            others: [column.entityColumn, column.orderColumn].compactMap(\.self),
            destination: anatomy.mapping.entity(for: destination).table))
      }
      for toMany in entity.toMany.values {
        guard case .joinTable(let table, let source, let destination, _) = toMany.storage else {
          continue
        }
        joins[table] = [(source, entity.table), (destination, toMany.destination.table)]
      }
    }
    derived = Set(anatomy.derivedColumns.map { "\($0.entity.table).\($0.column)" })
  }

  /// What a repair must recover if some pages are corrupt: all rows on other pages, without their
  /// values on corrupt overflow pages, without references to lost rows, and join rows of which both
  /// ends are recovered.
  ///
  /// A value is `nil` if it isn't known: it's derived, or on a corrupt overflow page, whose content
  /// nothing confirms if the chain remains valid.
  func recoverable(without corrupt: Set<Int>) -> [String: [Int64: [String: SQLiteValue?]]] {
    var result: [String: [Int64: [String: SQLiteValue?]]] = [:]
    for (table, rows) in tables {
      result[table] = rows.filter { key, _ in
        guard let leaf = locations[table]?[key]?.leaf else { return true }
        return !corrupt.contains(leaf)
      }
    }
    for (table, ends) in joins {
      result[table] = result[table]?.filter { _, row in
        ends.allSatisfy { column, destination in
          guard case .integer(let key)?? = row[column] else { return false }
          return result[destination]?[key] != nil
        }
      }
    }
    let kept = result.mapValues { Set($0.keys) }
    for (table, rows) in result {
      for (key, var row) in rows {
        for reference in references[table] ?? [] {
          guard case .integer(let destination)?? = row[reference.column],
            kept[reference.destination]?.contains(destination) == false
          else { continue }
          for column in [reference.column] + reference.others { row[column] = .some(.null) }
        }
        let overflow = locations[table]?[key]?.overflow ?? []
        if !overflow.isDisjoint(with: corrupt) {
          // The values from the first long one on.
          for column in (columns[table] ?? []).drop(while: { row[$0]??.isLong != true }) {
            row[column] = .some(nil)
          }
        }
        for column in row.keys where derived.contains("\(table).\(column)") {
          row[column] = .some(nil)
        }
        result[table]?[key] = row
      }
    }
    return result
  }
}

extension SQLiteValue {
  /// Whether part of the value can be on overflow pages.
  fileprivate var isLong: Bool {
    switch self {
    case .text(let text): text.utf8.count > 100
    case .blob(let bytes): bytes.count > 100
    default: false
    }
  }
}
