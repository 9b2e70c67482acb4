import ManagedModel

/// One fixed place in a row.
struct RowSlot: @unchecked Sendable {  // descriptions are frozen before layouts are made
  /// Not counted: the layout holds the entity, which holds its properties.
  unowned(unsafe) let property: NSPropertyDescription
  /// Its number among the row's slots, which is its bit among the nils.
  let index: Int
  /// Bytes from the row's base.
  let offset: Int
  let kind: Kind

  /// How the bytes of a slot are read.
  enum Kind: Sendable, Equatable {
    case int16, int32, int64, bool
    case double, float, date
    /// UTF-8 behind the fixed part.
    case string, uri, decimal
    /// Bytes behind the fixed part.
    case data, uuid, transformable
    /// Bytes that begin with where the value is: in the row, or in a file beside the store.
    case external
    /// The destination's primary key.
    case toOne
    /// The destination's primary key and entity number, for a destination with subentities.
    case toOnePolymorphic

    /// Bytes in the fixed part.
    var width: Int {
      self == .toOnePolymorphic ? 16 : 8
    }

    /// Whether a value that was set and its raw form follow from each other.
    ///
    /// Not so for a float of more digits than it keeps, or a true that was set as 2.
    var isExact: Bool {
      switch self {
      case .int16, .int32, .int64, .double, .date, .string, .data, .uuid: true
      case .bool, .float, .uri, .decimal, .transformable, .external, .toOne,
        .toOnePolymorphic:
        false
      }
    }

    /// Whether the row's bytes are the value, so that nothing is decoded and kept beside it.
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

  /// The property's; not held, so that copying a slot counts nothing.
  var name: String { property.name }

  init(property: NSPropertyDescription, index: Int, offset: Int) {
    self.property = property
    self.index = index
    self.offset = offset
    if let relationship = property as? NSRelationshipDescription {
      self.kind = SlotGeometry.needsEntity(relationship) ? .toOnePolymorphic : .toOne
    } else if let attribute = property as? NSAttributeDescription {
      self.kind =
        attribute.isKeptOutside ? .external : Kind(attribute.attributeType)
    } else {
      preconditionFailure("'\(property.name)' is neither an attribute nor a relationship")
    }
  }
}

extension NSAttributeDescription {
  /// Whether large values may be in files beside the store, so that each says where it is.
  fileprivate var isKeptOutside: Bool {
    allowsExternalBinaryDataStorage
      && (attributeType == .binaryDataAttributeType || attributeType == .transformableAttributeType)
  }
}

extension RowSlot.Kind {
  /// The kind of an attribute of that type; composite and object-ID attributes are kept as bytes.
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

/// Where a slot is in a row: its number, which is its bit among the nils, and its offset.
public struct SlotPosition: Sendable, Hashable {
  @usableFromInline let index: Int
  /// Bytes from the row's base.
  @usableFromInline let offset: Int

  @inlinable
  init(index: Int, offset: Int) {
    self.index = index
    self.offset = offset
  }
}

extension Row {
  /// Whether a place's value is nil.
  @inlinable @inline(__always)
  func isNull(_ place: SlotPosition) -> Bool {
    check(place)
    let word = base.load(fromByteOffset: 24 + (place.index >> 6) * 8, as: UInt64.self)
    return word & (1 << UInt64(place.index & 63)) != 0
  }

  /// A place's 8 bytes as an integer; 0 for nil.
  @inlinable @inline(__always)
  func int64(_ place: SlotPosition) -> Int64 {
    check(place)
    return base.load(fromByteOffset: place.offset, as: Int64.self)
  }

  /// A place's 8 bytes as a number; 0 for nil.
  @inlinable @inline(__always)
  func double(_ place: SlotPosition) -> Double {
    check(place)
    return base.load(fromByteOffset: place.offset, as: Double.self)
  }
}

extension RowSlot {
  /// The relationship of a to-one slot; traps for an attribute's.
  var relationship: NSRelationshipDescription {
    guard let relationship = property as? NSRelationshipDescription else {
      preconditionFailure("'\(name)' is an attribute")
    }
    return relationship
  }
}
