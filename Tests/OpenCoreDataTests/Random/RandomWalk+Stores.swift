import OpenCoreData

@testable import OpenCoreData

// Steps that read or write the store.

extension RandomWalk {
  // MARK: Saving

  func save() throws {
    process()
    // Validation reads new objects before the store is written.
    reference.fireInserted()
    let conflicts = reference.conflicts
    let policy = policy(for: conflicts)
    context.mergePolicy = NSMergePolicy(merge: policy)
    log.append("save \(policy)\(conflicts.isEmpty ? "" : " conflicts \(conflicts.sorted())")")
    // A merge can have registered objects whose relationships the store reads.
    if !bed.kind.isOwn { adoptRegistered() }
    do {
      try context.save()
    } catch let error as NSError where !reference.dangling.isEmpty {
      let codes = [NSManagedObjectValidationError, NSValidationMultipleErrorsError]
      try expect(codes.contains(error.code), true, "the error of the save \(error)")
      return rollback()
    } catch let error as NSError {
      let found = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?
        .map { serial($0.sourceObject) }
      try expect(
        policy == .errorMergePolicyType && found.map { Set($0).isSubset(of: conflicts) } ?? false
          && found?.isEmpty == false, true, "the error of the save \(error)")
      readWhatTheStoreRead()
      return resolveByHand(conflicts)
    }
    try expect(reference.dangling, [], "objects that refer to deleted ones")
    try expect(
      conflicts.isEmpty || policy != .errorMergePolicyType, true, "the save detects its conflicts")
    reference.resolve(policy)
    readWhatTheStoreRead()
    noteSave()
  }

  /// Reads the to-many relationships that a program's own store has read to save them, before they
  /// are saved in the reference.
  private func readWhatTheStoreRead() {
    guard !bed.kind.isOwn else { return }
    for (serial, object) in here.retained {
      let expected = reference[serial]
      guard object.managedObjectContext != nil, !object.isFault,
        expected.hasChanges || !expected.isFault
      else { continue }
      for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? []
      where side.isToMany && !object.hasFault(forRelationshipNamed: side.name) {
        _ = reference.destinations(side, of: serial)
      }
    }
  }

  /// A random policy, or the error policy if a conflict involves relationships or deletions.
  private func policy(for conflicts: Set<Int>) -> NSMergePolicyType {
    let isSimple = conflicts.allSatisfy { serial in
      let object = reference[serial]
      guard let stored = store.records[serial] else { return false }
      return !object.isDeleted && object.changes.toOne.isEmpty
        && !object.toMany.values.contains(where: \.hasChanges)
        && !hasOtherPartner(serial, in: stored)
    }
    guard isSimple else { return .errorMergePolicyType }
    return [
      .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
      .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
      .rollbackMergePolicyType,
    ][int(5)]
  }

  /// Returns whether a one-to-one relationship of an object differs in the store: the overwrite
  /// policy changes the other side, too.
  private func hasOtherPartner(_ serial: Int, in stored: ReferenceStore.Record) -> Bool {
    (WorkshopModel.sidesOfRoots[store.root(serial)] ?? []).contains { side in
      !side.isToMany && WorkshopModel.sides[side.inverse]?.isToMany == false
        && stored.toOne[side.name] != reference[serial].base.toOne[side.name]
    }
  }

  private func resolveByHand(_ conflicts: Set<Int>) {
    if int(2) == 0, conflicts.allSatisfy({ store.records[$0] != nil }) {
      log.append("refresh conflicts merging")
      for serial in conflicts {
        context.refresh(object(serial), mergeChanges: true)
        reference.refresh(serial, merging: true)
      }
    } else {
      rollback()
    }
  }

  func rollback() {
    log.append("rollback")
    context.rollback()
    reference.rollback()
    here.retained = here.retained.filter { $0.value.managedObjectContext != nil }
  }

  private func noteSave() {
    let note = reference.save()
    for serial in note.inserted {
      guard let object = here.retained[serial] else { continue }
      serials[RowName(object)] = serial
      ids[serial] = object.objectID
    }
    for serial in note.deleted { here.retained[serial] = nil }
    guard let lastSave = here.lastSave,
      !(note.inserted.isEmpty && note.updated.isEmpty)
        || !note.deleted.isEmpty
    else { return }
    if other.context.automaticallyMergesChangesFromParent {
      // Waits for the merge on the other context's queue.
      other.context.performAndWait {}
      other.reference.merge(note)
      other.retained = other.retained.filter { $0.value.managedObjectContext != nil }
    } else {
      other.unmerged.append((lastSave, note))
    }
  }

  /// Merges some or all saves of the other context.
  func merge() {
    guard !here.unmerged.isEmpty else { return }
    let count = 1 + int(here.unmerged.count)
    log.append("merge \(count)")
    for (note, saved) in here.unmerged.prefix(count) {
      if int(3) == 0 {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: note.userInfo ?? [:], into: [context])
      } else {
        context.mergeChanges(fromContextDidSave: note)
      }
      reference.process()
      reference.merge(saved)
      here.retained = here.retained.filter { $0.value.managedObjectContext != nil }
      // The next merge can deregister what this one has registered.
      adoptRegistered()
    }
    here.unmerged.removeFirst(count)
  }

  // MARK: Reading

  func fault() throws {
    guard let serial = living() else { return }
    if int(3) == 0 {
      log.append("read \(serial)")
      return try readAll(serial)
    }
    let sides = WorkshopModel.sidesOfRoots[store.root(serial)] ?? []
    let side = sides[int(sides.count)]
    log.append("read \(serial).\(side.name)")
    read(side, of: serial)
  }

  func lookUp() throws {
    guard let serial = ids.keys.sorted().randomElement(using: &random), let id = ids[serial]
    else { return }
    log.append("existing \(serial)")
    let found = try? context.existingObject(with: id)
    let isThere =
      !reference[serial].isMissing
      && (reference.objects[serial]?.isFault == false || store.records[serial] != nil)
    try expect(found != nil, isThere, "\(serial) exists")
    if isThere { reference.fire(serial) }
  }

  func count() throws {
    let (request, result, _) = request()
    let expected = result()
    log.append("count \(request.entityName ?? "")")
    try expect(try context.count(for: request), expected.count, "the count")
  }

  /// Fetches with random options.
  func fetch() throws {
    let (request, result, matching) = request()
    request.includesPropertyValues = int(3) > 0
    request.returnsObjectsAsFaults = int(2) == 0
    request.shouldRefreshRefetchedObjects = int(3) == 0
    request.fetchBatchSize = [0, 0, 2][int(3)]
    if request.entityName == "Worker", int(3) == 0 {
      request.relationshipKeyPathsForPrefetching =
        [["team"], ["boss.tags", "gadgets"], ["minions", "pupil"]][int(3)]
    }
    log.append(
      "fetch \(request.entityName ?? "") values \(request.includesPropertyValues) faults "
        + "\(request.returnsObjectsAsFaults) again \(request.shouldRefreshRefetchedObjects) "
        + "batch \(request.fetchBatchSize)")
    let found = try context.fetch(request)
    let refreshes = request.includesPropertyValues && request.shouldRefreshRefetchedObjects
    // A single SELECT refreshes the objects of all rows before unsaved changes are merged, also of
    // those that no longer match because of them; a batch is read later, and has only results.
    if refreshes, request.fetchBatchSize == 0 { refresh(matching) }
    let expected = result()
    try expect(Set(found.map { serial($0) }), expected, "the result")
    try expect(found.count, expected.count, "the number of results")
    if refreshes, request.fetchBatchSize > 0 { refresh(expected) }
    for object in found {
      let serial = serial(object)
      here.retained[serial] = object
      // Which objects a fetch realizes depends on its options, so all are read.
      _ = object.value(forKey: "serial")
      reference.fire(serial)
    }
  }

  private func refresh(_ serials: Set<Int>) {
    for serial in serials.sorted()
    where !reference[serial].isFault && !reference[serial].isInserted {
      reference.refresh(serial, merging: true)
      reference.fire(serial)
    }
  }

  /// A request, its expected result at the time of the call, which is the saved objects merged with
  /// the context's changes, and the objects whose rows match.
  private func request() -> (
    NSFetchRequest<NSManagedObject>, result: () -> Set<Int>, rows: Set<Int>
  ) {
    let entity = ["Worker", "Person", "Team", "Gadget", "Tag"][int(5)]
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    if int(2) == 0 {
      request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
    }
    let bound = int(2) == 0 ? Int64(int(5)) : nil
    if let bound { request.predicate = NSPredicate(format: "number >= %@", NSNumber(value: bound)) }
    func matches(_ record: ReferenceStore.Record?) -> Bool {
      guard let record else { return false }
      guard let bound else { return true }
      if case .integer(let number)? = record.attributes["number"] { return number >= bound }
      return false
    }
    request.includesPendingChanges = true
    let candidates = Set(reference.objects.keys).union(store.records.keys).filter {
      store.entities[$0] == entity || store.root($0) == entity
    }
    // The predicate is evaluated on new objects, which reads them.
    if bound != nil {
      reference.fireInserted { candidates.contains($0) }
    }
    func isFound(_ serial: Int) -> Bool {
      let object = reference[serial]
      if object.isDeleted || object.isMissing { return false }
      if object.isInserted || object.isUpdated { return matches(object.present) }
      return matches(store.records[serial])
    }
    return (
      request, { candidates.filter(isFound) }, candidates.filter { matches(store.records[$0]) }
    )
  }
}
