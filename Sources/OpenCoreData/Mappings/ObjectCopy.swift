import ManagedModel

/// Copies the saved objects of a store into an empty one, through a context of each store's
/// coordinator.
///
/// For a program's own stores, which only their classes can read and write. The objects of the copy
/// are plain and aren't validated; its coordinator has no other store.
struct ObjectCopy {
  let source: RowStore
  let destination: RowStore

  /// An object in both stores.
  struct Copied {
    let entity: String
    let former: Int64
    /// The ID in the copy.
    let new: NSManagedObjectID
  }

  /// Copies all objects with one save.
  ///
  /// **Cost:** memory for all objects; a fetch for each entity, and what the store reads for each
  /// relationship.
  /// - Throws: The errors of both stores.
  func run() throws -> [Copied] {
    let (reader, writer) = (context(of: source), context(of: destination))
    writer.validatesOnSave = false
    return try reader.performAndWait {
      try writer.performAndWait {
        defer {
          reader.reset()
          writer.reset()
        }
        let pairs = try objects(in: reader).map { object in
          (
            object,
            NSEntityDescription.insertNewObject(
              forEntityName: object.entity.name ?? "", into: writer)
          )
        }
        try copyValues(pairs)
        if let error = reader.faultFailures.last { throw error }
        try writer.save()
        return pairs.map { object, copy in
          Copied(
            entity: object.entity.name ?? "", former: object.objectID.primaryKey,
            new: copy.objectID)
        }
      }
    }
  }

  private func context(of store: RowStore) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = store.persistentStoreCoordinator
    context.name = "migration"
    return context
  }

  /// Returns all objects of the source, in the order of their entities.
  private func objects(in reader: NSManagedObjectContext) throws -> [NSManagedObject] {
    let model = reader.persistentStoreCoordinator?.managedObjectModel
    let entities = model?.entities(forConfigurationName: source.configuration) ?? []
    return try entities.filter { !$0.isAbstract }.flatMap { entity in
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.returnsObjectsAsFaults = false
      request.affectedStores = [source]
      // A program's own store may return those of subentities too.
      return try reader.fetch(request).filter { $0.entity === entity }
    }
  }

  private func copyValues(_ pairs: [(NSManagedObject, NSManagedObject)]) throws {
    let copies = Dictionary(
      pairs.map { ($0.0.objectID, $0.1) }, uniquingKeysWith: { first, _ in first })
    func copied(_ objects: some Sequence<NSManagedObject>) -> [NSManagedObject] {
      objects.compactMap { copies[$0.objectID] }
    }
    for (object, copy) in pairs {
      for (name, attribute) in object.entity.attributesByName
      where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
        copy.setValue(object.value(forKey: name), forKey: name)
      }
      for (name, relationship) in object.entity.relationshipsByName
      where !relationship.isTransient && !relationship.isOrdered {
        switch object.value(forKey: name) {
        case let other as NSManagedObject: copy.setValue(copies[other.objectID], forKey: name)
        case let others as Set<NSManagedObject>
        where relationship.inverseRelationship?.isToMany != false:
          copy.setValue(Set(copied(others)), forKey: name)
        default: break
        }
      }
    }
    // After their inverses, which append.
    for (object, copy) in pairs {
      for (name, relationship) in object.entity.relationshipsByName
      where relationship.isOrdered && !relationship.isTransient {
        guard let others = object.value(forKey: name) as? NSOrderedSet else { continue }
        copy.setValue(
          NSOrderedSet(array: copied(others.array.compactMap { $0 as? NSManagedObject })),
          forKey: name)
      }
    }
  }
}

extension StoreConversion {
  /// Copies the objects of an incremental store into a new in-memory store, then converts that.
  func convertIncremental(in folder: URL) throws -> Result {
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: ModelLayouts.plainCopy(of: model))
    let added = try coordinator.add(.inMemory, store.configuration, at: nil, options: nil)
    guard let memory = added as? MemoryStore else {
      throw NSError.store("The store \(store) can't be copied.")
    }
    let copied = try ObjectCopy(source: store, destination: memory).run().map {
      Pair(entity: $0.entity, former: $0.former, new: $0.new.primaryKey)
    }
    memory.metadata = store.metadata
    let result = try convert(memory, in: folder)
    return Result(document: result.document, pairs: Self.joined(copied, result.pairs))
  }
}

extension NSPersistentStoreCoordinator {
  /// Copies a store into one of a registered type, which must have no objects, and opens it instead
  /// of the store.
  func convertToRegistered(
    _ store: NSPersistentStore, to url: URL, _ options: [AnyHashable: Any]?,
    _ type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    guard let former = store as? RowStore, store.persistentStoreCoordinator === self else {
      throw NSError.store("The store \(store) isn't one of this coordinator's.")
    }
    postWillRemove(store)
    return try whileMoving(former) {
      let copied = try copyObjects(of: former, to: url, options, type)
      return try replace(former) {
        try add(type, former.configuration, at: url, options: options)
      } pairs: { new in
        guard let new = new as? RowStore, let references = new.handle.references else { return [] }
        return copied.compactMap { entity, former, reference in
          new.layouts.byName[entity].map { layout in
            StoreConversion.Pair(
              entity: entity, former: former, new: references.key(for: reference, layout))
          }
        }
      }
    }
  }

  /// Writes the objects of a store to a new store of a registered type, which is closed again.
  ///
  /// - Returns: The entity, the former key, and the new reference object of each object.
  private func copyObjects(
    of former: RowStore, to url: URL, _ options: [AnyHashable: Any]?,
    _ type: NSPersistentStore.StoreType
  ) throws -> [(entity: String, former: Int64, reference: Any)] {
    let temporary = NSPersistentStoreCoordinator(
      managedObjectModel: ModelLayouts.plainCopy(of: managedObjectModel))
    let added = try temporary.add(type, former.configuration, at: url, options: options)
    defer { try? temporary.remove(added) }
    guard let new = added as? RowStore, let references = new.handle.references else {
      throw NSError.store("The type '\(type.rawValue)' isn't registered.")
    }
    try checkIsEmpty(new, url)
    temporary.setMetadata(former.metadata, for: new)
    return try ObjectCopy(source: former, destination: new).run().map { copied in
      (copied.entity, copied.former, references.object(for: RowKey(copied.new.identity)))
    }
  }

  /// - Throws: 134080 if the store has objects: only its class could remove them.
  private func checkIsEmpty(_ store: RowStore, _ url: URL) throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = store.persistentStoreCoordinator
    let entities = context.requiredCoordinator.managedObjectModel.entities(
      forConfigurationName: store.configuration)
    try context.performAndWait {
      for entity in entities ?? [] where !entity.isAbstract {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        guard try context.count(for: request) == 0 else {
          throw NSError.coreData(
            NSPersistentStoreOpenError,
            "The store of the type '\(store.type)' at \(url.relativePath) has objects already: copy to "
              + "an empty one.", [NSFilePathErrorKey: url.path])
        }
      }
    }
  }
}
