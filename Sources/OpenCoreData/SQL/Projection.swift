/// The select list of an entity's rows, and where in it the slots of each concrete entity are.
///
/// Result column 0 is the row's entity number, or the constant 0 where the table holds one entity
/// only. Column 1 is the key. Column 2, unless only identifiers are selected, is the version; the
/// values follow level by level: attributes by name, then to-one relationships by name, each
/// with its column of the concrete entity behind it.
struct Projection: Sendable {
  /// Which rows' columns a list has.
  enum Extent: Sendable {
    /// Key and entity number alone.
    case identifiers
    /// Ancestors, the entity and its descendants: every column a fetch of the entity can need.
    case entity
    /// Every column of the table.
    case hierarchy
  }

  /// The result column of the entity number.
  static let entityColumn: Int32 = 0
  /// The result column of the key.
  static let keyColumn: Int32 = 1
  /// The result column of the version.
  static let versionColumn: Int32 = 2

  /// The entity that is asked for. Valid as long as the `SQLModel` is held.
  unowned let entity: SQLEntity

  /// Whether the list has neither version nor values.
  let isIdentifiersOnly: Bool

  /// Whether column 0 tells the entity of the row. If not, each row is of `entity` itself.
  let hasEntityNumber: Bool

  /// The columns of the table from result column 2 on: `Z_OPT`, `ZDATE` …
  let columns: [String]

  private let slots: [Int: [Int32]]
  private let entities: [Int: [Int32]]

  init(entity: SQLEntity, extent: Extent) {
    self.entity = entity
    hasEntityNumber = entity.hasHierarchy
    isIdentifiersOnly = extent == .identifiers
    guard extent != .identifiers else {
      columns = []
      slots = [:]
      entities = [:]
      return
    }
    let levels =
      extent == .hierarchy
      ? entity.root.family : entity.lineage.dropLast() + entity.family
    var columns = [SQLNames.version]
    var positions: [ObjectIdentifier: (slot: Int32, entity: Int32)] = [:]
    for level in levels {
      for column in level.ownColumns {
        let slot = Int32(columns.count + 2)
        columns.append(column.name)
        if let entityColumn = column.entityColumn { columns.append(entityColumn) }
        positions[ObjectIdentifier(column.property)] = (
          slot, column.entityColumn == nil ? -1 : slot + 1
        )
      }
    }
    self.columns = columns
    let rows = extent == .hierarchy ? entity.root.family : entity.family
    slots = rows.reduce(into: [:]) { slots, row in
      slots[row.number] = row.columns.map { positions[ObjectIdentifier($0.property)]?.slot ?? -1 }
    }
    entities = rows.reduce(into: [:]) { entities, row in
      entities[row.number] = row.columns.map {
        positions[ObjectIdentifier($0.property)]?.entity ?? -1
      }
    }
  }

  /// How many columns a result row has.
  var columnCount: Int32 { Int32(columns.count + 2) }

  /// The list as SQL: `0, t0.Z_PK, t0.Z_OPT, t0.ZDATE`.
  func selectList(alias: String = "t0") -> String {
    var list = hasEntityNumber ? "\(alias).\(SQLNames.entity)" : "0"
    list += ", \(alias).\(SQLNames.primaryKey)"
    for column in columns { list += ", \(alias).\(SQLNames.quoted(column))" }
    return list
  }

  /// The result column of each slot of a concrete entity. Empty when only identifiers are selected.
  func slotColumns(forEntityNumber number: Int) -> [Int32] { slots[number] ?? [] }

  /// The result column with the destination's entity number for each slot, -1 where none is.
  func entityColumns(forEntityNumber number: Int) -> [Int32] { entities[number] ?? [] }
}
