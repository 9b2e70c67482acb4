import OpenCoreData
import PostgresDriver

import class ManagedModel.NSAttributeDescription
import class ManagedModel.NSEntityDescription
import class ManagedModel.NSRelationshipDescription

/// A table with the rows of a root entity and of all entities below it.
final class StoreTable {
  /// The qualified name, in quotes.
  let name: String
  /// The root entity's name.
  let entityName: String
  /// The declarations of its columns.
  fileprivate(set) var declarations: [String]
  fileprivate var columnNames = NameAllocator()

  init(_ name: String, entity: String, declarations: [String]) {
    self.name = name
    entityName = entity
    self.declarations = declarations
  }

  /// Adds a column, and returns its name in quotes.
  func addColumn(_ name: String, _ type: String) -> String {
    let column = QuotedIdentifier.of(columnNames.identifier(name))
    declarations.append("\(column) \(type)")
    return column
  }
}

/// The columns that every table of an entity has.
enum SystemColumn {
  static let key = "z_pk"
  static let entity = "z_ent"
  static let version = "z_opt"
}

/// The column of an attribute, or of an element of a composite attribute.
struct AttributeColumn {
  /// The attribute's name, or the names from the composite attribute to the element.
  let path: [String]
  /// The name in quotes.
  let name: String
  let type: ColumnType
  let attribute: NSAttributeDescription
  /// Converts transformable values; nil if values are stored unchanged.
  let coder: TransformableCoder?

  /// The path in predicates.
  var keyPath: String { path.joined(separator: ".") }

  /// Returns a parameter for a value; nil if it isn't of the type.
  func parameter(_ value: Any?) -> PostgresValue? {
    guard let value, !(value is NSNull) else { return .null(type.parameterType) }
    if let coder { return coder.data(value).map { .bytes($0) } }
    return type.parameter(value)
  }

  /// Returns the value of a row; nil for NULL.
  func value(_ result: PostgresResult, _ row: Int, _ column: Int) -> Any? {
    if let coder { return result.data(row, column).flatMap { coder.value($0) } }
    return type.value(result, row, column)
  }
}

/// The column of a to-one relationship, with the destination's key.
struct ToOneColumn {
  /// Nil for the hidden inverse of a to-many without one.
  let relationship: NSRelationshipDescription?
  let destination: String
  /// The name in quotes.
  let column: String
  /// The column with the number of the destination's entity, if there are several.
  let entityColumn: String?
  /// The column with the position in the inverse, if that's ordered.
  let orderColumn: String?
}

/// A to-many relationship: where its destinations' keys are.
struct ToManyMapping {
  enum Storage {
    /// In a column of the destinations' table.
    case column(StoreTable, column: String, order: String?)
    /// In a join table, whose name is in quotes.
    case join(String, source: String, target: String, order: String?)
  }

  let relationship: NSRelationshipDescription
  let destination: String
  let storage: Storage
}

/// An entity's number, table, and columns.
final class EntityMapping {
  let entity: NSEntityDescription
  let name: String
  let table: StoreTable
  /// The value of `z_ent`.
  let number: Int64
  /// The entity and all below it.
  fileprivate(set) var family: [EntityMapping] = []
  fileprivate(set) var attributes: [AttributeColumn]
  fileprivate(set) var toOnes: [ToOneColumn]
  fileprivate(set) var toManys: [String: ToManyMapping] = [:]
  /// The columns to select for rows of the family.
  private(set) lazy var selection = RowSelection(self)
  /// The SELECT of the family's rows with some keys.
  private(set) lazy var selectionByKeys =
    "SELECT \(selection.list("t0")) FROM \(table.name) t0 WHERE t0.\(SystemColumn.key) = ANY($1)"
  /// Whether the table has no other entities.
  fileprivate(set) var isWholeTable = true

  init(
    _ entity: NSEntityDescription, _ table: StoreTable, number: Int64, below parent: EntityMapping?
  ) {
    self.entity = entity
    self.table = table
    self.number = number
    name = entity.name ?? ""
    attributes = parent?.attributes ?? []
    toOnes = parent?.toOnes ?? []
  }

  /// Returns the column of an attribute or of an element of a composite attribute.
  func attribute(_ keyPath: String) -> AttributeColumn? {
    attributes.first { $0.keyPath == keyPath }
  }

  /// Returns the column of a to-one relationship.
  func toOne(_ name: String) -> ToOneColumn? {
    toOnes.first { $0.relationship?.name == name }
  }

  /// The numbers of the entity and of all below it.
  var numbers: [Int64] { family.map(\.number) }
}

extension EntityMapping {
  /// Adds columns; for the builder.
  func add(_ columns: [AttributeColumn]) { attributes += columns }

  /// Adds a column; for the builder.
  func add(_ column: ToOneColumn) { toOnes.append(column) }

  /// Adds a relationship; for the builder.
  func add(_ mapping: ToManyMapping) { toManys[mapping.relationship.name] = mapping }

  /// Sets the entities below; for the builder.
  func set(family: [EntityMapping], isWholeTable: Bool) {
    self.family = family
    self.isWholeTable = isWholeTable
  }
}
