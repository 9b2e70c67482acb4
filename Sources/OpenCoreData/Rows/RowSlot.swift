import ManagedModel

/// A fixed position in a row.
struct RowSlot: @unchecked Sendable {  // descriptions are frozen before layouts are made
  /// Not retained: the layout retains the entity, which retains its properties.
  unowned(unsafe) let property: NSPropertyDescription
  /// The index among the row's slots, and of its `nil` bit.
  let index: Int
  /// The offset in bytes from the start of the row.
  let offset: Int
  let kind: Kind

  /// The format of a slot's bytes.
  enum Kind: Sendable, Equatable {
    case int16, int32, int64, bool
    case double, float, date
    /// UTF-8 after the fixed part.
    case string, uri, decimal
    /// Bytes after the fixed part.
    case data, uuid, transformable
    /// Bytes that begin with the external-storage marker.
    case external
    /// The destination's primary key.
    case toOne
    /// The destination's primary key and entity ID, for a destination with subentities.
    case toOnePolymorphic

    /// The number of bytes in the fixed part.
    var width: Int {
      self == .toOnePolymorphic ? 16 : 8
    }

    /// Whether a value that was set and its raw form can be converted without loss.
    ///
    /// Not for a float with too many digits, or `true` as 2, that was read from a store.
    var isExact: Bool {
      switch self {
      case .int16, .int32, .int64, .double, .date, .string, .data, .uuid: true
      case .bool, .float, .uri, .decimal, .transformable, .external, .toOne,
        .toOnePolymorphic:
        false
      }
    }

    /// Whether the row's bytes are the value, so that no decoded value is cached.
    var isNumber: Bool {
      switch self {
      case .int16, .int32, .int64, .bool, .double, .float, .date: true
      case .string, .uri, .decimal, .data, .uuid, .transformable, .external, .toOne,
        .toOnePolymorphic:
        false
      }
    }

    var isToOne: Bool {
      self == .toOne || self == .toOnePolymorphic
    }
  }

  /// The property's name; not stored, so that copying a slot retains nothing.
  var name: String { property.name }

  init(property: NSPropertyDescription, index: Int, offset: Int) {
    self.property = property
    self.index = index
    self.offset = offset
    if let relationship = property as? NSRelationshipDescription {
      self.kind = SlotGeometry.needsEntity(relationship) ? .toOnePolymorphic : .toOne
    } else if let attribute = property as? NSAttributeDescription {
      self.kind =
        attribute.hasExternalValues ? .external : Kind(attribute.attributeType)
    } else {
      fatalError("'\(property.name)' is neither an attribute nor a relationship")
    }
  }
}

extension RowSlot.Kind {
  /// Creates the kind of an attribute's type; composite and object ID attributes are stored as
  /// bytes.
  init(_ type: NSAttributeType) {
    switch type {
    case .integer16AttributeType: self = .int16
    case .integer32AttributeType: self = .int32
    case .integer64AttributeType: self = .int64
    case .booleanAttributeType: self = .bool
    case .doubleAttributeType: self = .double
    case .floatAttributeType: self = .float
    case .dateAttributeType: self = .date
    case .stringAttributeType: self = .string
    case .URIAttributeType: self = .uri
    case .decimalAttributeType: self = .decimal
    case .UUIDAttributeType: self = .uuid
    case .transformableAttributeType: self = .transformable
    default: self = .data
    }
  }
}

/// The position of a slot in a row: its index, which is that of its `nil` bit, and its offset.
public struct SlotPosition: Sendable, Hashable {
  @usableFromInline let index: Int
  /// The offset in bytes from the start of the row.
  @usableFromInline let offset: Int

  @inlinable
  init(index: Int, offset: Int) {
    self.index = index
    self.offset = offset
  }
}

extension Row {
  /// Returns whether a slot's value is `nil`.
  @inlinable @inline(__always)
  func isNull(_ position: SlotPosition) -> Bool {
    check(position)
    let word = base.load(fromByteOffset: 24 + (position.index >> 6) * 8, as: UInt64.self)
    return word & (1 << UInt64(position.index & 63)) != 0
  }

  /// Returns a slot's 8 bytes as an integer; 0 for `nil`.
  @inlinable @inline(__always)
  func int64(_ position: SlotPosition) -> Int64 {
    check(position)
    return base.load(fromByteOffset: position.offset, as: Int64.self)
  }

  /// Returns a slot's 8 bytes as a number; 0 for `nil`.
  @inlinable @inline(__always)
  func double(_ position: SlotPosition) -> Double {
    check(position)
    return base.load(fromByteOffset: position.offset, as: Double.self)
  }
}

extension RowSlot {
  /// The relationship of a to-one slot; it's a programmer error to read it for an attribute.
  var relationship: NSRelationshipDescription {
    guard let relationship = property as? NSRelationshipDescription else {
      fatalError("'\(name)' is an attribute")
    }
    return relationship
  }
}
