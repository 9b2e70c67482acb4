import ManagedModel

// The associations of source and destination instances.

extension NSMigrationManager {
  /// Returns the destination instances of source instances, of several mappings.
  final func found(of sources: [NSManagedObject]?, in names: [String]) -> [NSManagedObject] {
    destinationContext.objects(identities(of: sources, in: names))
  }

  /// Returns the IDs of the destination instances of source instances, of several mappings, in the
  /// order of the source instances.
  final func identities(of sources: [NSManagedObject]?, in names: [String]) -> [FetchedIdentity] {
    recordAssociations()
    let known = names.compactMap { associations[$0] }
    guard let sources else {
      return present(known.flatMap { $0.destinations(in: 0..<$0.count) })
    }
    return present(
      sources.flatMap { source in known.flatMap { $0.destinations(of: source.identity) } })
  }

  /// Loads the destination instances in a range of a mapping's associations, those that aren't
  /// associated at an earlier position, too.
  ///
  /// **Cost:** that of `NSManagedObjectContext.load(_:prefetching:)`.
  final func loadDestinations(
    of known: MigrationAssociations, in range: Range<Int>
  ) throws -> [NSManagedObject] {
    let instances = present(known.newDestinations(in: range))
    return try destinationContext.load(instances[...]).filter { !$0.isDeleted }
  }

  /// Returns the instances that no policy has deleted.
  private func present(_ instances: [FetchedIdentity]) -> [FetchedIdentity] {
    guard !deleted.isEmpty || !unsaved.isEmpty else { return instances }
    return instances.filter { instance in
      let key = InstanceKey(instance)
      if let object = unsaved[key], object.context == nil { return false }
      return !deleted.contains(key)
    }
  }

  /// Notes the instances that policies have deleted, before a save.
  final func noteDeletions() {
    deleted.formUnion(destinationContext.deletedObjects.map { InstanceKey($0.identity) })
    // Delete rules apply to more.
    destinationContext.processPendingChanges()
    deleted.formUnion(destinationContext.deletedObjects.map { InstanceKey($0.identity) })
    deleted.formUnion(unsaved.filter { $0.value.context == nil }.keys)
    unsaved = [:]
  }

  /// Stops with a fatal error if no mapping model has an entity mapping.
  final func checkName(_ name: String) {
    guard isKnown(name) else { fatalError("the mapping model has no entity mapping '\(name)'") }
  }

  /// Returns whether the mapping model, or one that was used before, has an entity mapping.
  final func isKnown(_ name: String) -> Bool {
    associations[name] != nil || mappingModel.entityMappingsByName[name] != nil
  }

  /// The names of the entity mappings, then those of mapping models that were used before for the
  /// same stores.
  final var knownNames: [String] {
    let names = (mappingModel.entityMappings ?? []).map { $0.name ?? "" }
    return names + Set(associations.keys).subtracting(names).sorted()
  }

  /// Returns the associations of a mapping whose instances are saved.
  final func associations(of mapping: NSEntityMapping) -> MigrationAssociations {
    associations[mapping.name ?? ""] ?? MigrationAssociations()
  }

  /// Records the pending associations by permanent IDs.
  ///
  /// An instance that was deleted in the meantime is omitted.
  final func recordAssociations() {
    guard !pending.isEmpty else { return }
    let added = pending.filter { !$0.destination.isDeleted && $0.destination.context != nil }
    pending = []
    let temporary = added.map(\.destination).filter { $0.objectID.isTemporaryID }
    if !temporary.isEmpty {
      do {
        try destinationContext.obtainPermanentIDs(for: temporary)
      } catch {
        return report.cancel(error)
      }
    }
    for (name, source, destination) in added {
      associations[name, default: MigrationAssociations()]
        .add(source.identity, destination.identity)
      if destination.isInserted { unsaved[InstanceKey(destination.identity)] = destination }
    }
  }

  /// Removes all associations.
  final func removeAssociations() {
    (associations, pending) = ([:], [])
    (unsaved, deleted) = ([:], [])
  }
}

extension NSManagedObjectContext {
  /// Returns the objects of rows that aren't deleted, registered ones or faults.
  final func objects(_ identities: [FetchedIdentity]) -> [NSManagedObject] {
    var seen: Set<InstanceKey> = []
    return identities.compactMap { identity in
      guard identities.count == 1 || seen.insert(InstanceKey(identity)).inserted else { return nil }
      let object = registered(identity.layout, identity.primaryKey)
      return object.isDeleted ? nil : object
    }
  }
}

extension NSPersistentStore {
  /// Returns the class of the manager that migrates stores object by object.
  ///
  /// It's `NSMigrationManager` for every type of store. Core Data's stores can have others.
  public class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }
}
