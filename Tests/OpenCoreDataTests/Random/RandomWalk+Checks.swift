import OpenCoreData

@testable import OpenCoreData

extension RandomWalk {
  /// Retains all registered objects, so that the reference has the same faults.
  ///
  /// The context doesn't retain an unchanged object whose row was deleted: if it was released
  /// during a step, the next reference to it creates a new fault, which hasn't read the store yet.
  /// So does the next lookup of an object that left the context while a stale to-one refers to it:
  /// a change of the to-one fires the object that left.
  func adoptRegistered() {
    context.registry.forEach { object in
      let serial = serial(object)
      here.retained[serial] = object
      if reference.objects[serial] == nil { reference.objects[serial] = ReferenceObject() }
    }
    for (serial, object) in reference.objects where object.isMissing && !object.hasChanges {
      if let retained = here.retained[serial] {
        guard retained.isFault, here.left.contains(serial) else { continue }
        reference.objects[serial] = ReferenceObject()
      } else {
        reference.objects[serial] = nil
      }
    }
  }

  /// Compares every registered object, without firing any.
  func compare() throws {
    for (serial, object) in here.retained {
      guard let expected = reference.objects[serial] else {
        throw Disagreement(
          description: "\(serial) is registered; seed \(seed), after \(log.suffix(60))")
      }
      try compare(object, serial, expected)
    }
    for (serial, object) in reference.objects where object.hasChanges || !object.isFault {
      guard !object.isMissing || object.hasChanges else { continue }
      try expect(here.retained[serial] != nil, true, "\(serial) is registered")
    }
    try expect(context.hasChanges, reference.hasChanges, "hasChanges")
    // Reading to-one relationships has registered their destinations.
    adoptRegistered()
  }

  private func compare(
    _ object: NSManagedObject, _ serial: Int, _ expected: ReferenceObject
  ) throws {
    try expect(object.isFault, expected.isFault, "\(serial).isFault")
    try expect(object.isInserted, expected.isInserted, "\(serial).isInserted")
    try expect(object.isUpdated, expected.isUpdated, "\(serial).isUpdated")
    try expect(object.isDeleted, expected.isDeleted || expected.isMissing, "\(serial).isDeleted")
    guard !expected.isFault, !expected.isMissing else { return }
    let present = expected.present
    for name in object.entity.attributesByName.keys {
      try expect(
        AttributeValue(object.value(forKey: name)), present.attributes[name], "\(serial).\(name)")
    }
    for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? [] {
      if !side.isToMany {
        let destination = object.value(forKey: side.name) as? NSManagedObject
        let found = destination.map { self.serial($0) }
        try expect(found, present.toOne[side.name], "\(serial).\(side.name)")
        if let found, destination?.managedObjectContext == nil { here.left.insert(found) }
        continue
      }
      let shown = reference.toMany(side.name, of: serial).shown
      try expect(
        object.hasFault(forRelationshipNamed: side.name), shown == nil,
        "\(serial).\(side.name) is a fault")
      guard let shown else { continue }
      // Reading fires the relationship fault of a new object.
      _ = reference.destinations(side, of: serial)
      let found = object.value(forKey: side.name) as? Set<NSManagedObject> ?? []
      try expect(Set(found.map { self.serial($0) }), shown, "\(serial).\(side.name)")
    }
    let keys = Set(object.changedSlots().map(\.name))
    let changed = Set(expected.changes.attributes.keys).union(expected.changes.toOne.keys).filter {
      present.attributes[$0] != expected.base.attributes[$0]
        || present.toOne[$0] != expected.base.toOne[$0]
    }
    if !expected.isInserted { try expect(keys, changed, "the changed values of \(serial)") }
  }

  /// Checks that the other context hasn't changed.
  func compareOther() throws {
    here = other
    log.append("[\(isFirst ? "A" : "B") unchanged]")
    try context.performAndWait {
      adoptRegistered()
      try compare()
    }
  }

  /// Checks that between blocks, only rows of registered objects are cached.
  func compareRest() throws {
    var registered = 0
    for walked in contexts {
      walked.context.performAndWait {
        _ = walked.context.registeredObjects
        walked.context.registry.forEach { if $0.primaryKey > 0 { registered += 1 } }
      }
    }
    guard let rows = bed.store else { return }
    let prefetched = contexts.contains { walked in
      walked.retained.values.contains { $0.prefetched != nil }
    }
    let owners = rows.withShared { $0.rows.ownerCount }
    if !prefetched { try expect(owners, registered, "the owners of cached rows") }
  }

  // MARK: Reading

  /// Reads every property of an object, in the context and in the reference.
  func readAll(_ serial: Int) throws {
    let object = object(serial)
    for name in object.entity.attributesByName.keys.sorted() {
      _ = object.value(forKey: name)
    }
    reference.fire(serial)
    for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? [] { read(side, of: serial) }
  }

  func read(_ side: WorkshopModel.Side, of serial: Int) {
    _ = object(serial).value(forKey: side.name)
    if side.isToMany {
      _ = reference.destinations(side, of: serial)
    } else {
      _ = reference.destination(side.name, of: serial)
    }
  }
}
