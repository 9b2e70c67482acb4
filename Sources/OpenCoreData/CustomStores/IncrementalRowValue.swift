import ManagedModel

/// A value of an object, in the form in which rows have it.
///
/// Apple counterpart: none.
public enum IncrementalRowValue {
  case null
  /// Integers of every width, and Booleans as 0 or 1.
  case integer(Int64)
  /// Doubles, floats, and dates in seconds since 2001.
  case real(Double)
  /// Strings, and absolute strings of URIs.
  case text(String)
  /// Data, and the 16 bytes of a UUID.
  case bytes(Data)
  /// The destination of a to-one relationship, by its reference object.
  case destination(Int64, NSEntityDescription)
  /// What has another form in rows: a decimal number, a transformable value, data that may be
  /// stored externally, and the object ID of a destination whose reference object isn't a positive
  /// integer.
  case other(Any)
}

/// The persistent properties of an object whose values differ from the saved ones; equal for
/// objects of one entity with the same properties.
///
/// Apple counterpart: the keys of `changedValues()`.
public struct ChangedProperties: Hashable {
  private let layout: EntityLayout
  /// Those of the values: slots, then to-many relationships.
  private let positions: [Int]

  init(_ object: NSManagedObject) {
    layout = object.layout
    positions = object.changedPositions()
  }

  /// The names of the properties.
  public var names: Set<String> {
    let slotCount = layout.slots.count
    return Set(
      positions.map { position in
        position < slotCount
          ? layout.propertyName(layout.slots[position])
          : layout.toMany[position - slotCount].name
      })
  }

  /// Returns whether the entity and the properties are equal.
  public static func == (one: ChangedProperties, other: ChangedProperties) -> Bool {
    one.layout === other.layout && one.positions == other.positions
  }

  /// Adds the entity and the properties.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(layout))
    for position in positions { hasher.combine(position) }
  }
}

extension NSIncrementalStore {
  /// Returns the changed properties of an object, without their values.
  ///
  /// **Cost:** no statement: a to-many relationship that was changed without being read isn't
  /// fired. Apple counterpart: none.
  public final func changedProperties(of object: NSManagedObject) -> ChangedProperties {
    ChangedProperties(object)
  }

  /// Returns the value that a save writes for a property of an object.
  ///
  /// It's what `primitiveValue(forKey:)` returns, without a box and without looking for the key.
  /// It's a programmer error to pass a position of another entity. Apple counterpart: none.
  public final func rowValue(
    of object: NSManagedObject, at position: IncrementalRowPosition
  ) -> IncrementalRowValue {
    let slot = position.slot(in: object.layout)
    switch slot.kind {
    case .int16, .int32, .int64, .bool, .double, .float, .date, .string, .uri, .data, .uuid:
      switch object.rawValue(slot) {
      case .int64(let value): return .integer(value)
      case .double(let value): return .real(value)
      case .text(let value): return .text(value)
      case .bytes(let value): return .bytes(value)
      case .null, .toOne: return .null
      }
    case .decimal, .transformable, .external:
      return object.attribute(slot).map { .other($0) } ?? .null
    case .toOne, .toOnePolymorphic:
      guard case .toOne(let key, let number) = object.rawValue(slot) else { return .null }
      guard key > 0, key < ObjectReferences.firstKey else {
        let id = object.objectIDs(forRelationshipNamed: slot.name).first
        return id.map { .other($0) } ?? .null
      }
      let layout = layouts.layout(entityNumber: Int(truncatingIfNeeded: number))
      guard let entity = layout?.entity ?? slot.relationship.destinationEntity else { return .null }
      return .destination(key, entity)
    }
  }
}
