import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// The tables, columns, indexes, and entity IDs of a store file.
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

  /// The columns, by the name of their table.
  let tables: [String: [Column]]
  /// The names of the tables, by their name in uppercase.
  private let names: [String: String]
  /// The entities of the model, sorted by entity ID, without those of the history.
  let entities: [Entity]
  let indexes: [InspectedIndex]
  let hasModelCache: Bool

  /// The lower bound of the entity IDs of persistent history.
  private static let firstHistoryEntity: Int64 = 16_000

  /// Reads the schema.
  ///
  /// **Cost:** up to four SELECTs.
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
        + "LIMIT \(HousekeepingTables.largestEntityList)"
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

  /// Returns the table of a root entity, according to the naming rule, or `nil` if it doesn't
  /// exist.
  func table(ofRoot entity: String) -> String? {
    names["Z" + entity.uppercased()]
  }

  /// Returns the number of each entity's own rows; entities without rows or a table are omitted,
  /// and unmappable rows aren't counted.
  ///
  /// **Cost:** one SELECT per table.
  ///
  /// - Parameters:
  ///   - mapping: The mapping of the model, which has the current names of entities that the file
  ///     lists by a former name, or `nil` if the model doesn't match the tables.
  ///   - connection: The store's connection.
  func ownRows(
    _ mapping: SQLModel?, on connection: Connection
  ) throws(SQLiteError) -> [EntityCount] {
    var names: [Int64: String] = [:]
    for entity in entities {
      names[entity.number] =
        mapping?.entity(number: Int(clamping: entity.number))?.name ?? entity.name
    }
    let roots: [(table: String, condition: String)] =
      if let mapping {
        mapping.roots.map {
          (table: $0.table, condition: "Z_PK >= 1 AND Z_ENT IN \($0.numberList)")
        }
      } else {
        entities.filter { $0.superNumber == 0 }.compactMap { table(ofRoot: $0.name) }
          .map { (table: $0, condition: "Z_PK >= 1") }
      }
    var counts: [EntityCount] = []
    for (table, condition) in roots {
      let name = SQLSyntax.quoted(table)
      for row in try connection.values(
        "SELECT Z_ENT, COUNT(*) FROM \(name) WHERE \(condition) GROUP BY Z_ENT")
      {
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
      SELECT m.name, m.tbl_name, l."unique", l.partial, i.name \(IndexColumns.source) \
      ORDER BY m.tbl_name, m.name, i.seqno
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
