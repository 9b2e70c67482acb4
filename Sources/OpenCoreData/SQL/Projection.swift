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

  /// What the entity's table is called in every SELECT.
  static let alias = "t0"

  /// The result column of the entity number.
  static let entityColumn: Int32 = 0
  /// The result column of the key.
  static let keyColumn: Int32 = 1
  /// The result column of the version.
  static let versionColumn: Int32 = 2

  /// The entity that is asked for.
  ///
  /// Valid as long as the `SQLModel` is held.
  unowned let entity: SQLEntity

  /// Whether the list has neither version nor values.
  let isIdentifiersOnly: Bool

  /// Whether column 0 tells the entity of the row.
  ///
  /// If not, each row is of `entity` itself.
  let hasEntityNumber: Bool

  /// The columns of the table from result column 2 on, such as `Z_OPT` and `ZDATE`.
  let columns: [String]

  /// The result column with the key of the source, in a query over a to-many relationship.
  private(set) var sourceKeyColumn: Int32?

  /// The result column with the place in the list, in a query over an ordered relationship.
  private(set) var orderColumn: Int32?

  /// What follows `columns`, with its table's alias: `t1.Z_FOK_2TAGS`.
  private var trailing: [String] = []

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
  var columnCount: Int32 { Int32(columns.count + 2 + trailing.count) }

  /// Selects the key of the source as well.
  ///
  /// A column of the entity itself that is selected already is not selected twice.
  mutating func appendSourceKey(_ column: String, alias: String) {
    sourceKeyColumn = append(column, alias: alias)
  }

  /// Selects the place in the list as well.
  mutating func appendOrder(_ column: String, alias: String) {
    orderColumn = append(column, alias: alias)
  }

  private mutating func append(_ column: String, alias: String) -> Int32 {
    if alias == Self.alias, let index = columns.firstIndex(of: column) { return Int32(index + 2) }
    trailing.append("\(alias).\(SQLNames.quoted(column))")
    return columnCount - 1
  }

  /// The list as SQL: `0, t0.Z_PK, t0.Z_OPT, t0.ZDATE`.
  var selectList: String {
    var list = hasEntityNumber ? "\(Self.alias).\(SQLNames.entity)" : "0"
    list += ", \(Self.alias).\(SQLNames.primaryKey)"
    for column in columns { list += ", \(Self.alias).\(SQLNames.quoted(column))" }
    for column in trailing { list += ", \(column)" }
    return list
  }

  /// The result column of each slot of a concrete entity.
  ///
  /// Empty when only identifiers are selected.
  func slotColumns(forEntityNumber number: Int) -> [Int32] { slots[number] ?? [] }

  /// The result column with the destination's entity number for each slot, -1 where none is.
  func entityColumns(forEntityNumber number: Int) -> [Int32] { entities[number] ?? [] }
}
