import ManagedModel

// Which of several stores an object is in.

extension NSManagedObjectContext {
  /// Says which store a new object will be saved to.
  ///
  /// Unasked, it goes to the first store that holds its entity and may be written. Objects that are
  /// related are in one store: assign them all before saving. No statement. Traps for an object that has
  /// been saved or has its permanent ID, for a store of another coordinator, and for one whose
  /// configuration lacks the entity.
  public final func assign(_ object: Any, to store: NSPersistentStore) {
    guard let object = object as? NSManagedObject, object.context === self, object.isInserted else {
      preconditionFailure("only a new object of this context is assigned to a store")
    }
    guard let store = requiredCoordinator.rowStores.first(where: { $0 === store }) else {
      preconditionFailure("the store belongs to another coordinator")
    }
    guard store.layouts.holds(object.layout) else {
      preconditionFailure(
        "the store's configuration '\(store.configurationName)' does not have the entity "
          + "'\(object.layout.entity.name ?? "")'")
    }
    guard store.place != object.layout.place else { return }
    precondition(
      object.primaryKey <= 0, "\(object.objectID) has its permanent ID, which names its store")
    registry.remove(object)
    move(object, to: store)
    registry.add(object)
  }

  /// Gives a new object that is not registered yet its store, where that matters.
  final func place(_ object: NSManagedObject) {
    // With no store to go to it stays where it is; saving says so.
    guard let store = try? requiredCoordinator.homeStore(of: object.layout) else { return }
    move(object, to: store)
  }

  /// Moves new objects whose store does not hold them: it may have been added after they were made.
  ///
  /// - Throws: 134030 for an object that no store holds.
  final func settlePlaces() throws {
    for object in changes.inserted.array where object.primaryKey <= 0 && !object.isDeleted {
      if let store = store(at: object.layout.place), store.layouts.holds(object.layout) { continue }
      let home = try requiredCoordinator.homeStore(of: object.layout)
      registry.remove(object)
      move(object, to: home)
      registry.add(object)
    }
  }

  private func move(_ object: NSManagedObject, to store: RowStore) {
    makeRoom(for: store.place)
    object.move(to: object.layout.at(store.place))
  }

  /// Whether all that changed objects lead to is in their own stores.
  ///
  /// - Throws: 134030 for the first that is not, as Apple's refuses it at save.
  final func checkStores(of objects: [NSManagedObject]) throws {
    for object in objects {
      guard let values = object.values else { continue }
      for slot in object.layout.slots where slot.kind.isToOne && values.isChanged(slot.index) {
        guard case .object(let other) = values[slot.index] else { continue }
        guard other.layout.place == object.layout.place else {
          throw NSError.crossStore(slot.name, of: object, to: other)
        }
      }
      for (index, relationship) in object.layout.toMany.enumerated() where !relationship.isTransient
      {
        let place = object.layout.holdingIndex(.toMany(index))
        guard case .toMany(let value) = values[place], value.hasChanges else { continue }
        for other in value.added where other.layout.place != object.layout.place {
          throw NSError.crossStore(relationship.name, of: object, to: other)
        }
      }
    }
  }
}

extension NSManagedObject {
  /// Takes the layout of another store, whose slots lie where those of the present one do.
  fileprivate final func move(to layout: EntityLayout) {
    guard layout !== self.layout else { return }
    if row.base == self.layout.defaultRow.base {
      row = layout.defaultRow
    } else {
      let old = row
      var builder = RowBuilder(layout: layout)
      builder.copy(old)
      row = builder.finish(version: old.version)
      old.release()
    }
    self.layout = layout
  }
}

extension SavePlan {
  /// The objects of one store, in the order of this plan.
  private func part(at place: Int) -> SavePlan {
    func here(_ objects: [NSManagedObject]) -> [NSManagedObject] {
      objects.filter { $0.layout.place == place }
    }
    return SavePlan(
      inserted: here(inserted), updated: here(updated), deleted: here(deleted),
      locked: here(locked))
  }

  /// The plan of each store, in the order of their places.
  var parts: [(place: Int, plan: SavePlan)] {
    let places = Set((written + deleted + locked).map(\.layout.place))
    return places.sorted().map { ($0, part(at: $0)) }
  }
}
