import ManagedModel
import ProfileEvents
import SQLiteDriver

// Writes of to-many relationships: join rows of a many-to-many, and the columns of a to-many
// without an inverse.

extension SQLiteStore {
  /// Deletes join rows of a many-to-many, and clears columns of a to-many without an inverse.
  func removeJoinRows(
    of object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws {
    for (mapped, value) in changedJoinRows(of: object) {
      for other in value.removed {
        if let sql = translator.clearHiddenInverse(mapped) {
          guard !other.isDeleted else { continue }
          try change(
            sql, [.integer(other.primaryKey), .integer(object.primaryKey)], kind: .update,
            for: other.layout.entityName, on: connection, in: scope)
        } else {
          try writeJoinRow(
            translator.deleteJoinRow(mapped), .delete, object, other, connection, scope)
        }
      }
    }
  }

  /// Inserts join rows of a many-to-many, and sets columns of a to-many without an inverse.
  func addJoinRows(
    of object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws {
    for (mapped, value) in changedJoinRows(of: object) where mapped.orderColumn == nil {
      for other in value.added {
        if let sql = translator.updateHiddenInverse(mapped) {
          try setHiddenInverse(other, object, mapped, sql, connection, scope)
        } else {
          try writeJoinRow(
            translator.insertJoinRow(mapped), .insert, object, other, connection, scope)
        }
      }
    }
  }

  /// Clears the columns of a deleted object's to-many relationships without an inverse.
  ///
  /// **Cost:** one UPDATE for each.
  func clearHiddenInverses(
    of object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws {
    for mapped in entity(object.layout).toMany.values {
      guard let sql = translator.clearHiddenInverses(mapped) else { continue }
      try change(
        sql, [.integer(object.primaryKey)], kind: .update, for: mapped.destination.name,
        on: connection, in: scope)
    }
  }

  /// Returns the changed to-many relationships of an object that aren't written with the other
  /// end's row.
  private func changedJoinRows(of object: NSManagedObject) -> [(SQLToMany, ToManyValue)] {
    let layout = object.layout
    guard let values = object.values else { return [] }
    return layout.toMany.enumerated().compactMap { index, relationship in
      guard case .toMany(let value) = values[layout.valueIndex(.toMany(index))],
        value.hasChanges, let mapped = entity(layout).toMany[relationship.name],
        mapped.isManyToMany ? relationship.writesPairs : relationship.inverseRelationship == nil
      else { return nil }
      return (mapped, value)
    }
  }

  private func writeJoinRow(
    _ sql: String?, _ kind: StatementKind, _ object: NSManagedObject, _ other: NSManagedObject,
    _ connection: Connection, _ scope: ProfileScope
  ) throws {
    guard let sql, !(kind == .insert && other.isDeleted) else { return }
    try change(
      sql, [.integer(object.primaryKey), .integer(other.primaryKey)], kind: kind,
      for: object.layout.entityName, on: connection, in: scope)
  }

  private func setHiddenInverse(
    _ other: NSManagedObject, _ object: NSManagedObject, _ mapped: SQLToMany, _ sql: String,
    _ connection: Connection, _ scope: ProfileScope
  ) throws {
    guard !other.isDeleted else { return }
    var binds: [SQLiteValue] = [.integer(object.primaryKey)]
    if mapped.orderColumn != nil { binds.append(.null) }
    try change(
      sql, binds + [.integer(other.primaryKey)], kind: .update, for: other.layout.entityName,
      on: connection, in: scope)
  }
}

// Writes of ordered relationships: the order keys of their destinations.

extension SQLiteStore {
  /// Returns the order keys that a save changes.
  ///
  /// **Cost:** one SELECT of primary keys and order keys for each changed list of a saved owner,
  /// and for each owner that doesn't record an object that gets into its list.
  func orderKeyChanges(
    of plan: SavePlan, on connection: Connection, in scope: ProfileScope
  ) throws -> OrderKeyChanges {
    var changed = OrderKeyChanges()
    for owner in plan.written(where: \.hasLists) {
      for (mapped, value) in changedLists(of: owner) {
        let present =
          owner.isInserted
          ? [:] : try orderKeys(mapped, of: owner.primaryKey, on: connection, in: scope)
        let list = savedList(value, of: mapped, owner, present: present)
        if let inverse = mapped.relationship.inverseRelationship, !inverse.isToMany {
          let changes = OrderKeyAllocator.changes(list.map { present[$0.primaryKey] ?? nil })
          for (object, orderKey) in zip(list, changes) {
            guard let orderKey, case .slot(let slot)? = object.layout.position(of: inverse.name)
            else { continue }
            changed.put(object, at: orderKey, ofSlot: slot)
          }
          continue
        }
        let keys =
          list.map(\.primaryKey)
          + unknownKeys(value, of: mapped, owner, except: list, plan, present: present)
        let changes = OrderKeyAllocator.changes(keys.map { present[$0] ?? nil })
        let orderKeys = zip(keys, changes).compactMap { key, orderKey in
          orderKey.map { (destination: key, orderKey: $0) }
        }
        changed.put(.init(relationship: mapped, owner: owner, orderKeys: orderKeys))
      }
    }
    try appendUnrecorded(of: plan, to: &changed, on: connection, in: scope)
    return changed
  }

  /// Adds the order keys of objects that get into lists which their owners don't record: they
  /// follow those of the others.
  private func appendUnrecorded(
    of plan: SavePlan, to changed: inout OrderKeyChanges, on connection: Connection,
    in scope: ProfileScope
  ) throws {
    var last: [ToManyKey: Int64] = [:]
    var layout: EntityLayout?
    var slots: [RowSlot] = []
    for object in plan.written(where: { !$0.slotsInLists.isEmpty }) {
      if layout !== object.layout { (layout, slots) = (object.layout, object.layout.slotsInLists) }
      for (slot, owner) in object.unrecordedLists(slots)
      where changed.orderKey(of: object, slot: slot.index) == nil {
        guard let destination = slot.relationship.destinationEntity,
          let name = slot.relationship.inverseRelationship?.name,
          let mapped = storedEntity(EntityLayout.of(destination))?.toMany[name]
        else { continue }
        let key = ToManyKey(
          rootIndex: EntityLayout.of(destination).rootIndex, primaryKey: owner, relationship: name)
        var orderKey = last[key]
        if orderKey == nil {
          let present = try orderKeys(mapped, of: owner, on: connection, in: scope)
          orderKey = present.values.compactMap { $0 }.max()
        }
        let next = OrderKeyAllocator.next(after: orderKey ?? 0)
        last[key] = next
        changed.put(object, at: next, ofSlot: slot.index)
      }
    }
  }

  /// Writes the order keys that weren't written with a row.
  func writeOrderKeys(
    _ changed: OrderKeyChanges, on connection: Connection, in scope: ProfileScope
  ) throws {
    for (object, slot, orderKey) in changed.remaining {
      let entity = entity(object.layout)
      guard let sql = translator.updateOrderKey(entity: entity, slot: slot) else { continue }
      try change(
        sql, [.integer(orderKey), .integer(object.primaryKey)], kind: .update, for: entity.name,
        on: connection, in: scope)
    }
    for list in changed.byRelationship {
      let (owner, name) = (
        SQLiteValue.integer(list.owner.primaryKey), list.owner.layout.entityName
      )
      for (key, orderKey) in list.orderKeys {
        let (key, orderKey) = (SQLiteValue.integer(key), SQLiteValue.integer(orderKey))
        if let sql = translator.insertJoinRow(list.relationship) {
          try change(
            sql, [owner, key, orderKey], kind: .insert, for: name, on: connection, in: scope)
        } else if let sql = translator.updateHiddenInverse(list.relationship) {
          try change(
            sql, [owner, orderKey, key], kind: .update, for: name, on: connection, in: scope)
        }
      }
    }
  }

  /// Returns the changed ordered relationships of an object.
  private func changedLists(of object: NSManagedObject) -> [(SQLToMany, ToManyValue)] {
    guard let values = object.values else { return [] }
    let layout = object.layout
    return layout.toMany.enumerated().compactMap { index, relationship in
      guard relationship.isOrdered, let mapped = entity(layout).toMany[relationship.name],
        mapped.orderColumn != nil,
        case .toMany(let value) = values[layout.valueIndex(.toMany(index))], value.hasChanges
      else { return nil }
      return (mapped, value)
    }
  }

  /// Returns the destinations of a changed list that are in the store or that this save adds.
  ///
  /// The others were removed elsewhere after the list was read. Rows and join rows that are written
  /// regardless of the store restore them.
  private func savedList(
    _ value: ToManyValue, of mapped: SQLToMany, _ owner: NSManagedObject,
    present: [Int64: Int64?]
  ) -> [NSManagedObject] {
    let list = (value.list ?? []).filter { !$0.isDeleted }
    guard !owner.isInserted else { return list }
    let isInRows = mapped.relationship.inverseRelationship?.isToMany == false
    return list.filter { object in
      let written = isInRows ? object : owner
      return present.keys.contains(object.primaryKey) || value.added.contains(object)
        || !written.state.isDisjoint(with: .rewritten)
    }
  }

  /// Returns the keys of the destinations in the store that an overwritten owner doesn't know,
  /// because others have added them, in their order: they follow the others.
  ///
  /// One that this save adds to another owner of the same column isn't among them.
  private func unknownKeys(
    _ value: ToManyValue, of mapped: SQLToMany, _ owner: NSManagedObject,
    except list: [NSManagedObject], _ plan: SavePlan, present: [Int64: Int64?]
  ) -> [Int64] {
    guard owner.state.contains(.overwritten),
      let destination = mapped.relationship.destinationEntity
    else { return [] }
    let rootIndex = EntityLayout.of(destination).rootIndex &+ owner.layout.rootOffset
    let deleted = plan.deleted.filter { $0.layout.rootIndex == rootIndex }
    var known = Set((list + Array(value.removed) + deleted).map(\.primaryKey))
    guard present.keys.contains(where: { !known.contains($0) }) else { return [] }
    if let sql = translator.updateHiddenInverse(mapped) {
      for other in plan.written(where: \.hasLists) where other !== owner {
        for (list, value) in changedLists(of: other)
        where translator.updateHiddenInverse(list) == sql {
          known.formUnion(value.added.map(\.primaryKey))
        }
      }
    }
    return present.keys.filter { !known.contains($0) }
      .sorted { ((present[$0] ?? nil) ?? 0, $0) < ((present[$1] ?? nil) ?? 0, $1) }
  }

  /// Returns the current order keys of an owner's destinations, by primary key; `nil` for a
  /// destination without one.
  private func orderKeys(
    _ mapped: SQLToMany, of owner: Int64, on connection: Connection, in scope: ProfileScope
  ) throws -> [Int64: Int64?] {
    var query = translator.orderKeys(mapped)
    query.binds = [.integer(owner)]
    var orderKeys: [Int64: Int64?] = [:]
    try select(query, on: connection, for: mapped.destination.name, in: scope) { statement in
      let orderKey: Int64? = statement.isNull(1) ? nil : statement.int64(1)
      orderKeys.updateValue(orderKey, forKey: statement.int64(0))
    }
    return orderKeys
  }
}

/// The order keys in ordered relationships that one save writes.
struct OrderKeyChanges {
  /// An owner's ordered relationship that isn't stored in its destinations' slots: join rows of a
  /// many-to-many, or columns of a relationship without an inverse.
  struct RelationshipKeys {
    let relationship: SQLToMany
    let owner: NSManagedObject
    let orderKeys: [(destination: Int64, orderKey: Int64)]
  }

  /// An order key in the column of a to-one slot.
  private struct SlotKey: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  private var bySlot: [SlotKey: (object: NSManagedObject, slot: Int, orderKey: Int64)] = [:]
  private var taken: Set<SlotKey> = []
  private(set) var byRelationship: [RelationshipKeys] = []

  /// Records the order key of an object in the inverse of one of its to-ones.
  mutating func put(_ object: NSManagedObject, at orderKey: Int64, ofSlot slot: Int) {
    bySlot[SlotKey(object: ObjectIdentifier(object), slot: slot)] = (object, slot, orderKey)
  }

  /// Records the order keys of the destinations of one owner's relationship.
  mutating func put(_ orderKeys: RelationshipKeys) {
    byRelationship.append(orderKeys)
  }

  /// Returns the order key of an object in the inverse of one of its to-ones; `nil` if it has none.
  func orderKey(of object: NSManagedObject, slot: Int) -> Int64? {
    bySlot[SlotKey(object: ObjectIdentifier(object), slot: slot)]?.orderKey
  }

  /// Removes and returns the order key that is written with an object's own row, which then needs
  /// no separate statement.
  mutating func take(_ object: NSManagedObject, slot: Int) -> Int64? {
    let key = SlotKey(object: ObjectIdentifier(object), slot: slot)
    guard let orderKey = bySlot[key]?.orderKey else { return nil }
    taken.insert(key)
    return orderKey
  }

  /// The order keys that weren't written with a row, in the order of the objects' primary keys.
  var remaining: [(object: NSManagedObject, slot: Int, orderKey: Int64)] {
    bySlot.filter { !taken.contains($0.key) }.values
      .sorted { ($0.object.primaryKey, $0.slot) < ($1.object.primaryKey, $1.slot) }
  }
}

extension EntityLayout {
  /// The to-one relationships whose inverse is ordered.
  fileprivate var slotsInLists: [RowSlot] {
    slots.filter { $0.kind.isToOne && $0.relationship.inverseRelationship?.isOrdered == true }
  }
}
