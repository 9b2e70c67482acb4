import OpenCoreData
import PostgresDriver

import class ManagedModel.NSExpression
import class ManagedModel.NSPredicate

/// One side of a comparison.
enum PredicateOperand {
  /// A value that doesn't depend on the row; nil for nil.
  case constant(Any?)
  /// A list of such values.
  case collection([Any?])
  /// A list of expressions.
  case list([NSExpression])
  /// The column of an attribute, or a computed value.
  case value(SQLText, ValueKind)
  /// The key of an object.
  case object(SQLText, EntityMapping)
  /// The number of an object's entity, which stands for the entity or for its name.
  case entity(SQLText, EntityMapping, isName: Bool)
  /// The objects, or their values, at the end of a path across a to-many relationship.
  case toMany(ToManyPath)

  /// Whether it's the constant nil.
  var isNil: Bool {
    if case .constant(nil) = self { true } else { false }
  }
}

/// The kind of a value that depends on the row.
enum ValueKind {
  case integer
  case boolean
  case real
  case decimal
  case date
  case text
  case uuid
  /// Data, and the bytes of a transformable value with its coder.
  case bytes(TransformableCoder?)

  /// Creates the kind of a column.
  init(_ column: AttributeColumn) {
    switch column.type {
    case .smallint, .int, .bigint: self = .integer
    case .boolean: self = .boolean
    case .single, .double: self = .real
    case .date: self = .date
    case .numeric: self = .decimal
    case .text, .uri: self = .text
    case .uuid: self = .uuid
    case .bytes, .transformable: self = .bytes(column.coder)
    }
  }

  /// Values of one family are compared with each other.
  enum Family: String {
    case number = "a number"
    case text = "a string"
    case data = "data"
  }

  var family: Family {
    switch self {
    case .integer, .boolean, .real, .decimal, .date: .number
    case .text: .text
    case .uuid, .bytes: .data
    }
  }

  var isText: Bool { family == .text }
}

/// A key path up to its first to-many relationship, and the rest.
struct ToManyPath {
  let scope: PredicateScope
  let source: PredicatePosition
  let toMany: ToManyMapping
  let rest: [String]
  /// The whole path, for messages.
  let text: String
  /// The variable and the condition of a `SUBQUERY`.
  var filter: (variable: String, predicate: NSPredicate)?
}

/// An object that a key path has reached.
struct PredicatePosition {
  let mapping: EntityMapping
  /// The object's key as SQL.
  let key: String
  /// The alias of the table with its row; nil if it isn't joined yet.
  let alias: String?

  init(_ mapping: EntityMapping, alias: String) {
    self.mapping = mapping
    self.alias = alias
    key = "\(alias).\(SystemColumn.key)"
  }

  init(_ mapping: EntityMapping, key: String) {
    self.mapping = mapping
    self.key = key
    alias = nil
  }
}

/// One FROM with its joins: that of the statement, or of a subselect.
final class PredicateScope {
  /// The name of a subquery's variable, without `$`.
  let variable: String?
  let start: PredicatePosition
  private let aliases: AliasCounter
  private var known: [String: String] = [:]
  /// The outer joins, in the order in which they were needed.
  private(set) var joins = ""

  init(_ start: PredicatePosition, variable: String?, _ aliases: AliasCounter) {
    self.start = start
    self.variable = variable
    self.aliases = aliases
  }

  /// Returns the alias of a position's table, which is joined if it wasn't.
  func alias(of position: PredicatePosition) -> String {
    if let alias = position.alias ?? known[position.key] { return alias }
    let alias = aliases.next()
    known[position.key] = alias
    joins +=
      " LEFT JOIN \(position.mapping.table.name) \(alias) ON \(alias).\(SystemColumn.key) = \(position.key)"
    return alias
  }
}

/// Assigns `t0`, `t1` … in one statement.
final class AliasCounter {
  private var count = 0

  func next() -> String {
    defer { count += 1 }
    return "t\(count)"
  }
}
