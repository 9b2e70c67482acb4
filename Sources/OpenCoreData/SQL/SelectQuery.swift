import ManagedModel
import SQLiteDriver

/// A SELECT that can be run.
struct SelectQuery: Sendable {
  /// The SQL text, with Core Data's spacing.
  var sql: String

  /// The bound values in order.
  var binds: [SQLiteValue] = []

  /// The contents of `_Z_intarray0`, `_Z_intarray1` … in order.
  var intArrays: [ContiguousArray<Int64>] = []

  /// The contents of the result columns.
  ///
  /// A count has a single column, without a projection.
  var projection: Projection
}

/// Combines the parts of a SELECT with the spaces of Core Data's logs.
///
/// An operand such as `t0.ZDATE` has one space before it, an `IN (SELECT …)` one after it; `LIMIT`
/// has two before it.
struct SelectText {
  var list: String
  var table: String
  var isDistinct = false

  /// The joins, ` JOIN ZCOUNTRY t1 ON …`, each with a space before it.
  var joins = ""

  /// The condition after `WHERE `; empty for all rows.
  var condition = ""

  /// The terms of `GROUP BY ` and `HAVING `; empty for none.
  var grouping = ""
  var having = ""

  /// The terms of `ORDER BY `; empty for none.
  var order = ""

  /// 0 for none.
  var limit = 0
  var offset = 0

  /// Whether the table has no alias, as in `SELECT COUNT(*) FROM ZITEM`.
  var hidesAlias = false

  /// Whether the rows are only counted, after limit and offset.
  var isNested = false

  var sql: String {
    isNested ? "SELECT COUNT(*) FROM (\(plain))" : plain
  }

  private var plain: String {
    var sql = isDistinct ? "SELECT DISTINCT " : "SELECT "
    sql += list + " FROM " + SQLSyntax.quoted(table) + (hidesAlias ? "" : " t0") + joins
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

/// A SELECT of join rows.
///
/// Result column 0 is the source's key, column 1 the destination's, column 2 the order key if the
/// relationship is ordered.
struct JoinQuery: Sendable {
  let sql: String
  let hasOrder: Bool
}

/// A SELECT of a dictionary fetch.
struct DictionaryQuery {
  /// The conversion of one or two result columns.
  enum Source: Sendable {
    /// A value of an attribute type.
    case value(Int32, NSAttributeType)
    /// An object ID: the key, and its entity ID if it may be of several.
    case objectID(key: Int32, entity: SQLEntity, number: Int32?)
  }

  struct Column: Sendable {
    let name: String
    let source: Source
    /// The requested type; `nil` for the value's own.
    let resultType: NSAttributeType?
  }

  let query: SelectQuery
  let columns: [Column]
}

extension NSAttributeType {
  /// Creates the attribute type of a computed value of a stored type.
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

/// The select list of an entity's rows, and the columns of each concrete entity's slots in it.
///
/// Result column 0 is the row's entity ID, or the constant 0 if the table contains only one entity.
/// Column 1 is the key. Column 2, unless only identifiers are selected, is the version; the values
/// follow level by level: attributes by name, then to-one relationships by name, each followed by
/// its column of the concrete entity.
struct Projection: Sendable {
  /// The rows for which a list has columns.
  enum Extent: Sendable {
    /// Only key and entity ID.
    case identifiers
    /// Ancestors, the entity, and its descendants: every column a fetch of the entity can need.
    case entity
    /// Every column of the table.
    case hierarchy
  }

  /// The alias of the entity's table in every SELECT.
  static let alias = "t0"

  /// The result column of the entity ID.
  static let entityColumn: Int32 = 0
  /// The result column of the key.
  static let keyColumn: Int32 = 1
  /// The result column of the version.
  static let versionColumn: Int32 = 2

  /// The requested entity.
  ///
  /// Valid as long as the `SQLModel` is retained.
  unowned let entity: SQLEntity

  /// Whether the list has neither version nor values.
  let isIdentifiersOnly: Bool

  /// Whether column 0 contains the entity ID of the row.
  ///
  /// If not, each row is of `entity` itself.
  let hasEntityNumber: Bool

  /// The columns of the table from result column 2 on, such as `Z_OPT` and `ZDATE`.
  let columns: [String]

  /// The result column with the key of the source, in a query over a to-many relationship.
  private(set) var sourceKeyColumn: Int32?

  /// The result column with the order key, in a query over an ordered relationship.
  private(set) var orderColumn: Int32?

  /// The columns after `columns`, with their table's alias: `t1.Z_FOK_2TAGS`.
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

  /// The number of columns of a result row.
  var columnCount: Int32 { Int32(columns.count + 2 + trailing.count) }

  /// Adds the key of the source.
  ///
  /// A column of the entity itself that is already selected isn't added.
  mutating func appendSourceKey(_ column: String, alias: String) {
    sourceKeyColumn = append(column, alias: alias)
  }

  /// Adds the order key.
  mutating func appendOrder(_ column: String, alias: String) {
    orderColumn = append(column, alias: alias)
  }

  private mutating func append(_ column: String, alias: String) -> Int32 {
    if alias == Self.alias, let index = columns.firstIndex(of: column) { return Int32(index + 2) }
    trailing.append("\(alias).\(SQLSyntax.quoted(column))")
    return columnCount - 1
  }

  /// The list as SQL: `0, t0.Z_PK, t0.Z_OPT, t0.ZDATE`.
  var selectList: String {
    var list = hasEntityNumber ? "\(Self.alias).\(SQLNames.entity)" : "0"
    list += ", \(Self.alias).\(SQLNames.primaryKey)"
    for column in columns { list += ", \(Self.alias).\(SQLSyntax.quoted(column))" }
    for column in trailing { list += ", \(column)" }
    return list
  }

  /// Returns the result column of each slot of a concrete entity.
  ///
  /// Empty if only identifiers are selected.
  func slotColumns(forEntityNumber number: Int) -> [Int32] { slots[number] ?? [] }

  /// Returns the result column with the destination's entity ID for each slot; -1 if there's none.
  func entityColumns(forEntityNumber number: Int) -> [Int32] { entities[number] ?? [] }
}

/// A statement that writes one row, and the meaning of its parameters.
struct RowStatement: Hashable, Sendable {
  enum Parameter: Hashable, Sendable {
    case primaryKey
    case entityNumber
    /// The new version of the row.
    case version
    /// The version that the row must still have; otherwise it isn't changed.
    case lockedVersion
    case slot(Int)
    /// The ID of the concrete entity of a to-one's destination.
    case entity(ofSlot: Int)
    /// The order key of this object in the ordered inverse of a to-one slot.
    case order(ofSlot: Int)
  }

  let sql: String

  /// One for each `?`, in order.
  let parameters: [Parameter]
}

/// The computed columns of a dictionary fetch, which having predicates and orders can name.
struct ComputedColumns {
  /// Their types, by name.
  var types: [String: StoredType] = [:]

  /// The names of those that are sums, which SQL returns as real numbers, even of integers.
  var sums: Set<String> = []

  /// `__var0`, `__var1` …: the aliases assigned so far, by name, in the order in which they were
  /// needed.
  private(set) var aliases: [String: String] = [:]

  /// Returns the alias of a column; `nil` for an unknown name.
  mutating func alias(of name: String) -> String? {
    guard types[name] != nil else { return nil }
    if let alias = aliases[name] { return alias }
    let alias = "__var\(aliases.count)"
    aliases[name] = alias
    return alias
  }
}
