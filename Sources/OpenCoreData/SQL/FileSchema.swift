import ManagedModel
import SQLiteDriver

/// The tables, columns, and entity IDs of a file.
struct FileSchema: Sendable {
  struct Column: Hashable, Sendable {
    let name: String
    let type: String
  }

  struct Table: Hashable, Sendable {
    let name: String
    let columns: [Column]
  }

  struct NumberedEntity: Hashable, Sendable {
    let number: Int
    let name: String
    let superNumber: Int
  }

  /// The first entity ID of the persistent history.
  static let firstHistoryEntity = 16_000

  /// Greater IDs, and those below 1, are corrupt: such an entity is ignored.
  private static let greatestNumber = Int64(Int32.max)

  /// By uppercase name: SQLite's names are case-insensitive.
  let tables: [String: Table]
  let entities: [NumberedEntity]

}

extension FileSchema {
  /// Reads the schema.
  ///
  /// Two statements.
  init(reading connection: Connection) throws(SQLiteError) {
    let rows = try connection.values(
      """
      SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c \
      WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%' ORDER BY m.rowid, c.cid
      """)
    var columns: [String: [Column]] = [:]
    var names: [String: String] = [:]
    for row in rows {
      guard row.count == 3, case .text(let table) = row[0], case .text(let name) = row[1] else {
        continue
      }
      var type = ""
      if case .text(let declared) = row[2] { type = declared.uppercased() }
      names[table.uppercased()] = table
      columns[table.uppercased(), default: []].append(Column(name: name, type: type))
    }
    tables = names.reduce(into: [:]) { tables, name in
      tables[name.key] = Table(name: name.value, columns: columns[name.key] ?? [])
    }
    guard tables[HousekeepingTables.entities] != nil else {
      entities = []
      return
    }
    let limit = HousekeepingTables.largestEntityList
    let listed = try connection.values(
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT LIMIT \(limit + 1)")
    guard listed.count <= limit else {
      throw SQLiteError(
        code: .corrupt, message: "Z_PRIMARYKEY lists too many entities; the limit is \(limit)")
    }
    entities = listed.compactMap { row in
      guard row.count == 3, case .integer(let number) = row[0], case .text(let name) = row[1],
        (1...Self.greatestNumber).contains(number)
      else { return nil }
      var superNumber = 0
      if case .integer(let value) = row[2] { superNumber = Int(value) }
      return NumberedEntity(number: Int(number), name: name, superNumber: superNumber)
    }
  }
}

/// The type of a column in an entity's table.
///
/// The cases are in the order of the columns' groups.
enum StoredType: Int, Comparable, Sendable {
  case integer
  case real
  case timestamp
  case decimal
  case text
  case uuid
  case transformable
  case binary

  init(_ type: NSAttributeType) {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .booleanAttributeType:
      self = .integer
    case .doubleAttributeType, .floatAttributeType: self = .real
    case .dateAttributeType: self = .timestamp
    case .decimalAttributeType: self = .decimal
    case .stringAttributeType, .URIAttributeType, .objectIDAttributeType: self = .text
    case .UUIDAttributeType: self = .uuid
    case .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType:
      self = .transformable
    case .binaryDataAttributeType: self = .binary
    }
  }

  /// The type in `CREATE TABLE`.
  var declaration: String {
    switch self {
    case .integer: "INTEGER"
    case .real: "FLOAT"
    case .timestamp: "TIMESTAMP"
    case .decimal: "DECIMAL"
    case .text: "VARCHAR"
    case .uuid, .transformable, .binary: "BLOB"
    }
  }

  static func < (left: StoredType, right: StoredType) -> Bool { left.rawValue < right.rawValue }
}

/// A table or column that the model requires and the file lacks.
struct SchemaMismatch: Error, Hashable, Sendable, CustomStringConvertible {
  let entity: String
  let property: String?

  /// The missing table, or the table that lacks the column.
  let table: String

  /// The missing column; `nil` if the table is missing.
  let column: String?

  /// Whether the file lacks an ID for the entity; its table isn't checked then.
  var isUnnumbered = false

  var description: String {
    if isUnnumbered {
      return "The model has the entity \(entity), which the file's table "
        + "\(HousekeepingTables.entities) doesn't list."
    }
    let wanted = property.map { "\(entity).\($0)" } ?? "the entity \(entity)"
    guard let column else {
      return "The model has \(wanted), but the file has no table \(table) for it."
    }
    return "The model has \(wanted), but the file's table \(table) has no column \(column)."
  }
}
