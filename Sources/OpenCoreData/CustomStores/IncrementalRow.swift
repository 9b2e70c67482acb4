import ManagedModel

/// A row made from a node of an incremental store, and the destinations of its to-many
/// relationships.
struct IncrementalRow {
  /// Retained for the creator.
  let fetched: FetchedRow
  /// By relationship; only those that the node has.
  private(set) var links: [String: [FetchedIdentity]] = [:]

  /// Creates the row of an object.
  ///
  /// - Parameter toOne: Returns the destination of a to-one that the node doesn't have.
  /// - Throws: 134070 for a value that isn't of its property's type; the errors of `toOne`.
  init(
    _ node: NSIncrementalStoreNode, _ layout: EntityLayout, of store: NSIncrementalStore,
    toOne: (NSRelationshipDescription) throws -> NSManagedObjectID?
  ) throws {
    for relationship in layout.toMany {
      guard let value = node.value(for: relationship) else { continue }
      links[relationship.name] = try IncrementalRow.destinations(value, relationship, store)
    }
    let row = try NodeRow.row(
      layout, version: Int64(bitPattern: node.version),
      value: { name in node.value(named: name) },
      destination: { slot in
        guard let value = node.value(for: slot.property) else {
          return try toOne(slot.relationship)
        }
        return try IncrementalRow.destination(value, slot.relationship, store)
      }, in: store)
    fetched = FetchedRow(layout: layout, primaryKey: node.objectID.primaryKey, row: row)
  }

  /// Returns the object ID that a store gave for a to-one; `nil` for none.
  static func destination(
    _ value: Any, _ relationship: NSRelationshipDescription, _ store: NSIncrementalStore
  ) throws -> NSManagedObjectID? {
    if value is NSNull { return nil }
    return try NodeRow.checked(value, relationship, store)
  }

  /// Returns the identities that a store gave for a to-many.
  static func destinations(
    _ value: Any, _ relationship: NSRelationshipDescription, _ store: NSIncrementalStore
  ) throws -> [FetchedIdentity] {
    let list: [Any] =
      switch value {
      case is NSNull: []
      case let ids as [NSManagedObjectID]: ids
      case let ids as Set<NSManagedObjectID>: Array(ids)
      case let ids as NSArray: Array(ids)
      case let ids as NSSet: ids.allObjects
      case let ids as NSOrderedSet: ids.array
      default: [value]
      }
    return try list.map { try NodeRow.checked($0, relationship, store).identity }
  }
}

/// Creates rows from the values that a program's own store returns.
enum NodeRow {
  /// Returns a row, retained for the caller.
  ///
  /// - Parameters:
  ///   - value: Returns the value of an attribute by name; `NSNull` is `nil`.
  ///   - destination: Returns the destination of a to-one.
  /// - Throws: 134070 for a value that isn't of its attribute's type; the errors of `destination`.
  static func row(
    _ layout: EntityLayout, version: Int64, value: (String) -> Any?,
    destination: (RowSlot) throws -> NSManagedObjectID?, in store: CachingStore
  ) throws -> Row {
    var builder = RowBuilder(layout: layout)
    for (index, composite) in layout.composites.enumerated() {
      guard let group = value(composite.name) else { continue }
      do {
        for (slot, value) in try layout.spread(group, over: index) {
          builder.set(try raw(value, slot, layout), at: slot)
        }
      } catch let error as CompositeValueError {
        throw NSError.store("\(error)")
      }
    }
    for slot in layout.slots where layout.propertyName(slot) == slot.name {
      guard slot.kind.isToOne else {
        builder.set(try raw(value(slot.name), slot, layout), at: slot)
        continue
      }
      guard let id = try destination(slot) else { continue }
      let number = Int64(store.layouts.entityNumber(id.layout))
      builder.set(.toOne(primaryKey: id.primaryKey, entityNumber: number), at: slot)
    }
    return builder.finish(version: version)
  }

  /// Returns an attribute's value in a row.
  ///
  /// - Throws: 134070 if it isn't of the attribute's type.
  static func raw(
    _ value: Any?, _ slot: RowSlot, _ layout: EntityLayout
  ) throws -> RowValue {
    guard let raw = RowValue(value, slot, of: layout) else {
      throw NSError.store(
        "The store's value for '\(slot.name)' of '\(layout.entityName)' is of the type "
          + "\(value.map { "\(type(of: $0))" } ?? "nil"), which isn't the attribute's.")
    }
    return raw
  }

  /// Returns the object ID that a store gave for a destination.
  ///
  /// - Throws: 134070 if it isn't an ID of this store, for the relationship's destination entity.
  static func checked(
    _ value: Any, _ relationship: NSRelationshipDescription, _ store: CachingStore
  ) throws -> NSManagedObjectID {
    guard let id = value as? NSManagedObjectID, id.handle === store.handle, !id.isTemporaryID,
      let destination = relationship.destinationEntity, id.entity.isKind(of: destination)
    else {
      throw NSError.store(
        "A destination of '\(relationship.name)' must be of this store and of the entity "
          + "'\(relationship.destinationEntity?.name ?? "")', not \(type(of: value)) \(value).")
    }
    return id
  }
}
