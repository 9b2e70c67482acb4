import ManagedModel
import SQLiteDriver

/// A SELECT that is ready to run.
struct SelectQuery: Sendable {
  /// The text, spaced as Apple's.
  var sql: String

  /// The values of the `?`s in order.
  var binds: [SQLiteValue] = []

  /// The contents of `_Z_intarray0`, `_Z_intarray1` … in order.
  var intArrays: [ContiguousArray<Int64>] = []

  /// What the result columns hold.
  ///
  /// A count has the one column and no projection's.
  var projection: Projection
}

/// Puts the parts of a SELECT together with the blanks that Apple's logs show.
///
/// An operand such as `t0.ZDATE` brings one blank before it, an `IN (SELECT …)` one behind it;
/// `LIMIT` has two before it.
struct SelectText {
  var list: String
  var table: String
  var isDistinct = false

  /// ` JOIN ZCOUNTRY t1 ON …`, each with its blank before it.
  var joins = ""

  /// What follows `WHERE `, empty for all rows.
  var condition = ""

  /// What follows `GROUP BY ` and `HAVING `, empty for none.
  var grouping = ""
  var having = ""

  /// What follows `ORDER BY `, empty for none.
  var order = ""

  /// 0 for none.
  var limit = 0
  var offset = 0

  /// Whether the table goes without its alias, as in `SELECT COUNT(*) FROM ZITEM`.
  var hidesAlias = false

  /// Whether the rows are only counted, after limit and offset.
  var isNested = false

  var sql: String {
    isNested ? "SELECT COUNT(*) FROM (\(plain))" : plain
  }

  private var plain: String {
    var sql = isDistinct ? "SELECT DISTINCT " : "SELECT "
    sql += list + " FROM " + SQLNames.quoted(table) + (hidesAlias ? "" : " t0") + joins
    if !condition.isEmpty { sql += " WHERE " + condition }
    if !grouping.isEmpty { sql += " GROUP BY " + grouping }
    if !having.isEmpty { sql += " HAVING " + having }
    if !order.isEmpty { sql += " ORDER BY " + order }
    if limit > 0 {
      sql += "  LIMIT \(limit)"
    } else if offset > 0 {
      sql += "  LIMIT -1"
    }
    if offset > 0 { sql += " OFFSET \(offset)" }
    while sql.last == " " { sql.removeLast() }
    return sql
  }
}

/// A SELECT of pairs of keys from a join table.
///
/// Result column 0 is the source's key, column 1 the destination's, column 2 the place in the list
/// when the relationship is ordered.
struct JoinQuery: Sendable {
  let sql: String
  let hasOrder: Bool
}

/// A SELECT whose rows become dictionaries.
struct DictionaryQuery {
  /// What a result column, or two of them, become.
  enum Source: Sendable {
    /// A value of the type of an attribute.
    case value(Int32, NSAttributeType)
    /// An object ID: the key, and the number of its entity where it may be of several.
    case objectID(key: Int32, entity: SQLEntity, number: Int32?)
  }

  struct Column: Sendable {
    let name: String
    let source: Source
    /// The type asked for, nil for the value's own.
    let resultType: NSAttributeType?
  }

  let query: SelectQuery
  let columns: [Column]
}

extension NSAttributeType {
  /// What a computed value of a stored type stands for.
  init(_ type: StoredType) {
    self =
      switch type {
      case .integer: .integer64AttributeType
      case .real: .doubleAttributeType
      case .timestamp: .dateAttributeType
      case .decimal: .decimalAttributeType
      case .text: .stringAttributeType
      case .uuid: .UUIDAttributeType
      case .binary: .binaryDataAttributeType
      case .transformable: .transformableAttributeType
      }
  }
}

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

/// A statement that writes one row, and what its `?`s stand for.
struct RowStatement: Hashable, Sendable {
  enum Parameter: Hashable, Sendable {
    case primaryKey
    case entityNumber
    /// The version the row gets.
    case version
    /// The version the row must still have; no row is touched otherwise.
    case lockedVersion
    case slot(Int)
    /// The concrete entity number of the object a to-one slot refers to.
    case entity(ofSlot: Int)
    /// The place of this object in the ordered inverse of a to-one slot.
    case order(ofSlot: Int)
  }

  let sql: String

  /// One for each `?`, in order.
  let parameters: [Parameter]
}

/// The computed columns of a dictionary fetch, which conditions on groups and orders may name.
struct ComputedColumns {
  /// Their types, by name.
  var types: [String: StoredType] = [:]

  /// `__var0`, `__var1` …: the aliases handed out, by name, in the order in which they were needed.
  private(set) var aliases: [String: String] = [:]

  /// The alias of a column, nil for a name that none has.
  mutating func alias(of name: String) -> String? {
    guard types[name] != nil else { return nil }
    if let alias = aliases[name] { return alias }
    let alias = "__var\(aliases.count)"
    aliases[name] = alias
    return alias
  }
}
