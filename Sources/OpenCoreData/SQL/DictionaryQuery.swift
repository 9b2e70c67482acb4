import ManagedModel
import SQLiteDriver

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
