import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Tables, columns, indexes and numbered entities as the file has them.
struct InspectedSchema {
  struct Column {
    let name: String
    let type: String
  }

  struct Entity {
    let number: Int64
    let name: String
    let superNumber: Int64
  }

  /// Columns by the table's name.
  let tables: [String: [Column]]
  /// Names of tables by their name in upper case.
  private let names: [String: String]
  /// Those of the model, in the order of their numbers, without those of the history.
  let entities: [Entity]
  let indexes: [InspectedIndex]
  let hasModelCache: Bool

  /// Entities of the persistent history have numbers from here on.
  private static let firstHistoryEntity: Int64 = 16_000

  /// Reads the schema.
  ///
  /// Four statements.
  init(reading connection: Connection) throws(SQLiteError) {
    var tables: [String: [Column]] = [:]
    for row in try connection.values(
      """
      SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c \
      WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%' ORDER BY m.rowid, c.cid
      """)
    {
      guard case .text(let table) = row[0], case .text(let name) = row[1] else { continue }
      var type = ""
      if case .text(let declared) = row[2] { type = declared.uppercased() }
      tables[table, default: []].append(Column(name: name, type: type))
    }
    self.tables = tables
    names = Dictionary(
      tables.keys.sorted().map { ($0.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
    entities = try connection.values(
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT "
        + "LIMIT \(SQLNames.largestEntityList)"
    ).compactMap { row in
      guard case .integer(let number) = row[0], number < InspectedSchema.firstHistoryEntity,
        case .text(let name) = row[1]
      else { return nil }
      if case .integer(let parent) = row[2] {
        return Entity(number: number, name: name, superNumber: parent)
      }
      return Entity(number: number, name: name, superNumber: 0)
    }
    indexes = try InspectedSchema.indexes(on: connection)
    let isCached = tables.keys.contains { $0.uppercased() == "Z_MODELCACHE" }
    hasModelCache =
      isCached
      ? !(try connection.values(
        "SELECT 1 FROM Z_MODELCACHE WHERE length(Z_CONTENT) > 0 LIMIT 1"
      )).isEmpty
      : false
  }

  /// The table of a root entity's rows, by the rule for its name.
  func table(ofRoot entity: String) -> String? {
    names["Z" + entity.uppercased()]
  }

  /// Rows of each entity itself; an entity without rows or table is left out.
  ///
  /// One SELECT a table.
  /// - Parameter mapping: names entities that the file lists by an older name; nil when the model
  ///   does not fit the tables.
  func ownRows(
    _ mapping: SQLModel?, on connection: Connection
  ) throws(SQLiteError) -> [EntityCount] {
    var names: [Int64: String] = [:]
    for entity in entities {
      names[entity.number] =
        mapping?.entity(number: Int(clamping: entity.number))?.name ?? entity.name
    }
    let roots =
      mapping.map { $0.entities.filter { $0.superentity == nil }.map(\.table) }
      ?? entities.filter { $0.superNumber == 0 }.compactMap { table(ofRoot: $0.name) }
    var counts: [EntityCount] = []
    for table in roots {
      let name = SQLNames.quoted(table)
      for row in try connection.values("SELECT Z_ENT, COUNT(*) FROM \(name) GROUP BY Z_ENT") {
        if case .integer(let number) = row[0], case .integer(let count) = row[1],
          let name = names[number]
        {
          counts.append(EntityCount(name: name, count: Int(clamping: count)))
        }
      }
    }
    return counts
  }

  private static func indexes(on connection: Connection) throws(SQLiteError) -> [InspectedIndex] {
    var indexes: [InspectedIndex] = []
    for row in try connection.values(
      """
      SELECT m.name, m.tbl_name, l."unique", l.partial, i.name FROM sqlite_master m, \
      pragma_index_list(m.tbl_name) l, pragma_index_info(m.name) i \
      WHERE m.type = 'index' AND l.name = m.name ORDER BY m.tbl_name, m.name, i.seqno
      """)
    {
      guard case .text(let name) = row[0], case .text(let table) = row[1] else { continue }
      var column = "(expression)"
      if case .text(let name) = row[4] { column = name }
      if indexes.last?.name == name {
        indexes[indexes.count - 1].columns.append(column)
      } else {
        indexes.append(
          InspectedIndex(
            name: name, table: table, columns: [column], isUnique: row[2] == .integer(1),
            isPartial: row[3] == .integer(1)))
      }
    }
    return indexes
  }
}
