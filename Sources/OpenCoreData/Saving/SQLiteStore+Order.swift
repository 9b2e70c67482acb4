import ManagedModel
import ProfileEvents
import SQLiteDriver

// What a save writes of ordered relationships: the places of their destinations.

extension SQLiteStore {
  /// The places that change with a save.
  ///
  /// Cost: one SELECT of keys and places for each changed list of a saved owner.
  func placedLinks(
    of plan: SavePlan, on connection: Connection, in scope: ProfileScope
  ) throws -> PlacedLinks {
    var placed = PlacedLinks()
    for owner in plan.written where owner.layout.hasLists {
      for (mapped, value) in changedLists(of: owner) {
        let list = (value.list ?? []).filter { !$0.isDeleted }
        let present =
          owner.isInserted ? [:] : try places(mapped, of: owner, on: connection, in: scope)
        let changes = OrderPlaces.changes(list.map { present[$0.primaryKey] })
        let places = zip(list, changes).compactMap { object, place in
          place.map { (destination: object, place: $0) }
        }
        if let inverse = mapped.relationship.inverseRelationship, !inverse.isToMany {
          for (object, place) in places {
            guard case .slot(let slot)? = object.layout.place(of: inverse.name) else { continue }
            placed.put(object, at: place, ofSlot: slot)
          }
        } else {
          placed.put(.init(relationship: mapped, owner: owner, places: places))
        }
      }
    }
    return placed
  }

  /// Writes the places that no row has taken along.
  func writePlaces(
    _ placed: PlacedLinks, on connection: Connection, in scope: ProfileScope
  ) throws {
    for (object, slot, place) in placed.left {
      let entity = entity(object.layout)
      guard let sql = translator.updatePlace(entity: entity, slot: slot) else { continue }
      try change(
        sql, [.integer(place), .integer(object.primaryKey)], kind: .update, for: entity.name,
        on: connection, in: scope)
    }
    for list in placed.apart {
      let (owner, name) = (
        SQLiteValue.integer(list.owner.primaryKey), list.owner.layout.entity.name
      )
      for (object, place) in list.places {
        let (key, place) = (SQLiteValue.integer(object.primaryKey), SQLiteValue.integer(place))
        if let sql = translator.insertJoinRow(list.relationship) {
          try change(sql, [owner, key, place], kind: .insert, for: name, on: connection, in: scope)
        } else if let sql = translator.updateHiddenInverse(list.relationship) {
          try change(sql, [owner, place, key], kind: .update, for: name, on: connection, in: scope)
        }
      }
    }
  }

  /// The changed ordered relationships of an object.
  private func changedLists(of object: NSManagedObject) -> [(SQLToMany, ToManyValue)] {
    guard let values = object.values else { return [] }
    let layout = object.layout
    return layout.toMany.enumerated().compactMap { index, relationship in
      guard relationship.isOrdered, let mapped = entity(layout).toMany[relationship.name],
        mapped.orderColumn != nil,
        case .toMany(let value) = values[layout.holdingIndex(.toMany(index))], value.hasChanges
      else { return nil }
      return (mapped, value)
    }
  }

  /// The present places of an owner's destinations, by their keys.
  private func places(
    _ mapped: SQLToMany, of owner: NSManagedObject, on connection: Connection,
    in scope: ProfileScope
  ) throws -> [Int64: Int64] {
    var query = translator.places(mapped)
    query.binds = [.integer(owner.primaryKey)]
    var places: [Int64: Int64] = [:]
    try select(query, on: connection, for: mapped.destination.name, in: scope) { statement in
      if !statement.isNull(1) { places[statement.int64(0)] = statement.int64(1) }
    }
    return places
  }
}
