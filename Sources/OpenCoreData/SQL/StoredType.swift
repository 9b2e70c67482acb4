import ManagedModel

/// What a column of an entity's table holds.
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

  /// The type as `CREATE TABLE` says it.
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
