import ManagedModel
import ProfileEvents

// How a child's save reaches its parent.

extension NSManagedObjectContext {
  /// Makes the changes of this child the parent's, whatever the parent has changed meanwhile.
  ///
  /// No statement. New objects keep their temporary IDs here, and are known by them in the parent.
  /// - Throws: 133000 when the parent has lost or is going to delete an updated object; nothing is
  ///   changed then.
  final func push(_ plan: SavePlan) throws {
    guard let parent else { return }
    try parent.performAndWait {
      try parent.scope.working(for: scope) { try parent.take(plan) }
    }
    let rows =
      try plan.written.isEmpty ? [] : requiredCoordinator.anyStore().newRows(of: plan.written)
    for (object, row) in zip(plan.written, rows) { object.settle(on: row) }
    for object in plan.deleted { detach(object) }
  }

  /// Takes over what a child has changed.
  ///
  /// The child waits, so that its objects may be read here.
  private func take(_ plan: SavePlan) throws {
    var updated: [NSManagedObject] = []
    for object in plan.updated {
      guard let mine = counterpart(of: object.identity), !mine.isDeleted,
        try !mine.isFault || fill(mine)
      else { throw NSError.missingObject(object.objectID) }
      updated.append(mine)
    }
    let inserted = plan.inserted.map { insertCounterpart(of: $0) }
    for (object, mine) in zip(plan.written, inserted + updated) { mine.take(from: object) }
    for object in plan.deleted {
      if let mine = counterpart(of: object.identity) { delete(mine) }
    }
    processPendingChanges()
  }

  /// A new object for one that was inserted in a child, under the same key.
  private func insertCounterpart(of object: NSManagedObject) -> NSManagedObject {
    makeRoom(for: object.layout.place)
    let mine = object.layout.makeObject()
    mine.context = self
    mine.primaryKey = object.primaryKey
    registry.add(mine)
    if mine.primaryKey > 0 {
      store(for: mine)?.own(
        rootIndex: mine.layout.rootIndex, keys: CollectionOfOne(mine.primaryKey))
    }
    noteInsertion(of: mine)
    return mine
  }
}

extension NSManagedObject {
  /// Sets what a child's object has changed; the other sides of relationships follow.
  fileprivate final func take(from object: NSManagedObject) {
    if object.state.contains(.transientOnly) { noteTransientChange() } else { noteChange() }
    takeTransients(from: object)
    let slots = object.isInserted ? layout.slots : object.changedSlots()
    for slot in slots {
      if slot.kind.isToOne {
        setDestination(counterpart(of: object.destination(slot)), slot)
      } else {
        change(.raw(object.rawValue(slot)), at: slot.index)
      }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      let place = layout.holdingIndex(.toMany(index))
      if relationship.isOrdered, case .toMany(let changed)? = object.values?[place],
        changed.hasChanges, let list = changed.list
      {
        // The order is the child's; what comes and goes says so itself on the other side.
        storeDestinations(
          list.filter { !$0.isDeleted }.compactMap { counterpart(of: $0) }, relationship)
        continue
      }
      // Where the other side is a to-one it was changed as well, and this side follows it.
      guard relationship.inverseRelationship?.isToMany != false,
        case .toMany(let changed)? = object.values?[place], changed.hasChanges
      else { continue }
      let value = toManyValue(at: place)
      for destination in changed.removed.compactMap({ counterpart(of: $0) }) {
        value.remove(destination)
      }
      for destination in changed.added where !destination.isDeleted {
        if let mine = counterpart(of: destination) { value.insert(mine) }
      }
    }
  }

  /// Sets the transient properties that were set in the child since its last save.
  private func takeTransients(from object: NSManagedObject) {
    guard let values = object.values else { return }
    for index in layout.transients.indices {
      let place = layout.holdingIndex(.transient(index))
      guard values.isChanged(place) else { continue }
      if let destination = object.heldValue(.transient(index)) as? NSManagedObject {
        setTransient(counterpart(of: destination), at: index)
      } else {
        storage.change(values[place], at: place)
      }
    }
  }

  private func counterpart(of destination: NSManagedObject?) -> NSManagedObject? {
    guard let destination, let context else { return nil }
    return context.counterpart(of: destination.identity)
  }
}
