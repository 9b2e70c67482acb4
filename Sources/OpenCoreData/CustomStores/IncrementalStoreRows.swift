import ManagedModel

/// The rows of objects that an incremental store has read, in the form in which the row cache keeps
/// them.
///
/// `execute(_:with:)` may return them for a fetch of objects, in the order of the request, instead
/// of the objects: the framework registers the objects and caches the rows, so that faults fire
/// without a call. It's what updating a node for each object does, without a dictionary for each
/// row and a box for each value. Written by one thread, with an `IncrementalRowWriter` for each
/// entity. Apple counterpart: none.
public final class IncrementalStoreRows {
  /// Each is owned until it's taken.
  private var rows: [FetchedRow] = []

  /// Creates an empty list with room for a number of rows.
  public init(capacity: Int = 0) {
    rows.reserveCapacity(capacity)
  }

  deinit {
    for row in rows { row.row.release() }
  }

  /// The number of rows.
  public var count: Int { rows.count }

  func append(_ row: FetchedRow) { rows.append(row) }

  /// The identities of the rows.
  var identities: some Collection<FetchedIdentity> { rows.lazy.map(\.identity) }

  /// Returns the rows, whose reference counts are the caller's then.
  func take() -> [FetchedRow] {
    defer { rows = [] }
    return rows
  }
}

/// The position of a property's value in the rows of one entity.
///
/// Apple counterpart: none.
public struct IncrementalRowPosition {
  let slot: RowSlot
  /// The layout of the rows.
  let layoutNumber: UInt32

  /// Creates the position of an attribute, of an element of a composite attribute as a path, or of
  /// a to-one relationship.
  ///
  /// - Returns: `nil` for other properties, and for transient ones.
  public init?(_ name: String, of entity: NSEntityDescription, in store: NSIncrementalStore) {
    let layout = EntityLayout.of(entity).at(store.storeIndex)
    guard case .slot(let index)? = layout.position(of: name) else { return nil }
    (slot, layoutNumber) = (layout.slots[index], layout.number)
  }

  /// Returns the slot; it's a programmer error to use it for objects of another entity.
  @inline(__always)
  func slot(in layout: EntityLayout) -> RowSlot {
    guard layoutNumber == layout.number else { fatalError("the position is of another entity") }
    return slot
  }
}

/// Writes rows of one entity for an incremental store: set the values, then finish the row.
///
/// A value that isn't set is `nil`. Used by one thread, and not after its store. Apple counterpart:
/// none.
public final class IncrementalRowWriter {
  private let layout: EntityLayout
  private unowned let store: NSIncrementalStore
  private let isOfRootEntity: Bool
  /// By the index of the slot; `nil` for attributes.
  private let destinations: [Destination?]
  @exclusivity(unchecked) private var builder: RowBuilder

  /// The entity of a relationship's destinations.
  private struct Destination {
    unowned(unsafe) let layout: EntityLayout
    let isOfRootEntity: Bool
    let number: Int64
  }

  /// Creates a writer of rows of an entity of the store.
  public init(entity: NSEntityDescription, of store: NSIncrementalStore) {
    layout = EntityLayout.of(entity).at(store.storeIndex)
    self.store = store
    isOfRootEntity = entity.superentity == nil
    destinations = layout.slots.map { slot in
      guard slot.kind.isToOne, let entity = slot.relationship.destinationEntity else { return nil }
      // The store retains its layouts.
      let layout = EntityLayout.of(entity).at(store.storeIndex)
      return Destination(
        layout: layout, isOfRootEntity: entity.superentity == nil,
        number: Int64(store.layouts.entityNumber(layout)))
    }
    builder = RowBuilder(layout: layout)
  }

  /// Sets an integer or a Boolean; it's a programmer error to pass the position of another type.
  public func set(_ integer: Int64, at position: IncrementalRowPosition) {
    let slot = position.slot(in: layout)
    switch slot.kind {
    case .int16, .int32, .int64, .bool: builder.set(integer, at: slot)
    default: fatalError("'\(slot.name)' isn't an integer or a Boolean")
    }
  }

  /// Sets a floating-point number, or a date in seconds since 2001; it's a programmer error to pass
  /// the position of another type.
  public func set(_ number: Double, at position: IncrementalRowPosition) {
    let slot = position.slot(in: layout)
    switch slot.kind {
    case .double, .float, .date: builder.set(number, at: slot)
    default: fatalError("'\(slot.name)' isn't a floating-point number or a date")
    }
  }

  /// Sets the UTF-8 of a string or a URI, the bytes of data that isn't stored externally, or the 16
  /// bytes of a UUID; it's a programmer error to pass the position of another type.
  public func set(_ bytes: UnsafeRawBufferPointer, at position: IncrementalRowPosition) {
    let slot = position.slot(in: layout)
    switch slot.kind {
    case .string, .uri, .data, .uuid: builder.set(bytes: bytes, at: slot)
    default: fatalError("'\(slot.name)' isn't a string, a URI, data, or a UUID")
    }
  }

  /// Sets an attribute's value, as a node has it; `nil` or `NSNull` for `nil`.
  ///
  /// - Throws: 134070 for a value that isn't of the attribute's type.
  public func set(_ value: Any?, at position: IncrementalRowPosition) throws {
    let slot = position.slot(in: layout)
    guard !slot.kind.isToOne else { fatalError("'\(slot.name)' is a relationship") }
    builder.set(try NodeRow.raw(value, slot, layout), at: slot)
  }

  /// Sets the destination of a to-one relationship by its reference object.
  ///
  /// It's a programmer error to pass the position of an attribute.
  ///
  /// - Parameters:
  ///   - referenceObject: The destination's reference object.
  ///   - entity: The destination's entity; `nil` for that of the relationship.
  ///   - position: The position of the relationship.
  /// - Throws: 134070 if no destination can be of the entity.
  public func setDestination(
    _ referenceObject: Int64, _ entity: NSEntityDescription? = nil,
    at position: IncrementalRowPosition
  ) throws {
    let slot = position.slot(in: layout)
    guard let declared = destinations[slot.index] else {
      fatalError("'\(slot.name)' is an attribute")
    }
    guard let entity, entity !== declared.layout.entity else {
      builder.set(
        key(of: referenceObject, declared.layout, isOfRootEntity: declared.isOfRootEntity),
        at: slot)
      if slot.kind == .toOnePolymorphic { builder.set(entityNumber: declared.number, at: slot) }
      return
    }
    guard entity.isKind(of: declared.layout.entity) else {
      throw NSError.store(
        "A destination of '\(slot.name)' is of the entity '\(entity.name ?? "")', but must be of "
          + "'\(declared.layout.entityName)'.")
    }
    let layout = EntityLayout.of(entity).at(self.layout.storeIndex)
    builder.set(store.key(of: referenceObject, layout), at: slot)
    if slot.kind == .toOnePolymorphic {
      builder.set(entityNumber: Int64(store.layouts.entityNumber(layout)), at: slot)
    }
  }

  /// Appends the row with the values that were set, and begins the next one.
  ///
  /// - Parameters:
  ///   - referenceObject: The object's reference object, as for
  ///     `newObjectID(for:referenceObject:)`.
  ///   - version: The version that optimistic locking compares.
  ///   - rows: The rows to append to.
  public func finish(
    _ referenceObject: Int64, version: UInt64, into rows: IncrementalStoreRows
  ) {
    let row = builder.finish(version: Int64(bitPattern: version))
    let key = key(of: referenceObject, layout, isOfRootEntity: isOfRootEntity)
    rows.append(FetchedRow(layout: layout, primaryKey: key, row: row))
    builder.reset()
  }

  /// Returns the key for a reference object; the store records the entity only for objects that
  /// aren't of a root entity.
  @inline(__always)
  private func key(
    of referenceObject: Int64, _ layout: EntityLayout, isOfRootEntity: Bool
  ) -> Int64 {
    guard isOfRootEntity, referenceObject > 0, referenceObject < ObjectReferences.firstKey else {
      return store.key(of: referenceObject, layout)
    }
    return referenceObject
  }
}
