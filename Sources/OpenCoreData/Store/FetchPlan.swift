import ManagedModel

/// A fetch request, read once: the entity is found, the options are plain values.
struct FetchPlan {
  private(set) var layout: EntityLayout
  let entity: NSEntityDescription
  let predicate: NSPredicate?
  var sort: [NSSortDescriptor]
  var limit: Int
  var offset: Int
  var batchSize: Int
  let includesSubentities: Bool
  let includesPendingChanges: Bool
  var includesPropertyValues: Bool
  let returnsObjectsAsFaults: Bool
  let refreshes: Bool
  var prefetchPaths: [String]
  /// What dictionaries hold, nil for other results.
  let dictionary: DictionaryPlan?
  /// The stores that are asked; nil is all.
  let affectedStores: [NSPersistentStore]?
  /// Told now and then how many rows have been read; for an asynchronous fetch.
  var rowsRead: ((Int) -> Void)?

  init<T>(_ request: NSFetchRequest<T>, model: NSManagedObjectModel) throws {
    // An entity of another instance of the model stands for the one of that name here.
    let given = request.entity.flatMap { $0.managedObjectModel === model ? $0 : nil }
    let entity = try given ?? FetchPlan.entity(named: request.entityName, in: model)
    self.entity = entity
    if request.entity == nil { request.entity = entity }
    layout = EntityLayout.of(entity)
    predicate = try FetchPlan.predicate(request.predicate, entity)
    sort =
      try request.swiftSort?(entity)
      ?? request.sortDescriptors?.map { try $0.named(in: entity) } ?? []
    limit = request.fetchLimit
    offset = request.fetchOffset
    batchSize = request.fetchBatchSize
    includesSubentities = request.includesSubentities
    includesPendingChanges = request.includesPendingChanges
    includesPropertyValues = request.includesPropertyValues
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    refreshes = request.shouldRefreshRefetchedObjects
    affectedStores = request.affectedStores
    prefetchPaths = request.relationshipKeyPathsForPrefetching ?? []
    dictionary = try FetchPlan.dictionary(request, entity)
  }

  private static func predicate(
    _ given: NSPredicate?, _ entity: NSEntityDescription
  ) throws -> NSPredicate? {
    do {
      try given?.checkDepth()
    } catch {
      throw NSError.fetch("The predicate can't be evaluated: \(error).")
    }
    guard let translated = try given?.withoutSwiftPredicates(for: entity) else { return nil }
    do {
      return try translated.withFetchesRun()
    } catch {
      throw NSError.unanswerable(translated, error)
    }
  }

  private static func dictionary<T>(
    _ request: NSFetchRequest<T>, _ entity: NSEntityDescription
  ) throws -> DictionaryPlan? {
    if request.resultType == .dictionaryResultType {
      return try DictionaryPlan(request, entity: entity)
    }
    guard request.propertiesToGroupBy?.isEmpty ?? true, request.havingPredicate == nil else {
      throw NSError.fetch(
        "Objects are not grouped: propertiesToGroupBy and havingPredicate need "
          + "resultType = .dictionaryResultType.")
    }
    return nil
  }

  /// Whether an object satisfies the predicate, in memory.
  ///
  /// Cost: the faults of the properties that the predicate reads.
  /// - Throws: 134060 when it can't be evaluated for the object.
  func matches(_ object: NSManagedObject) throws -> Bool {
    guard let predicate else { return true }
    if case .subclass = predicate.kind { return predicate.evaluate(with: object as Any?) }
    do {
      return try predicate.evaluation(ofRecord: object)
    } catch {
      throw NSError.unanswerable(predicate, error)
    }
  }

  /// Whether an object of that layout is among those the request asks for.
  func covers(_ candidate: EntityLayout) -> Bool {
    guard
      candidate.modelIndex == layout.modelIndex
        || (includesSubentities && candidate.entity.isKind(of: entity))
    else { return false }
    guard let affectedStores else { return true }
    return affectedStores.contains { ($0 as? RowStore)?.place == candidate.place }
  }

  /// The same, for the rows of one of several stores.
  func at(_ store: RowStore) -> FetchPlan {
    guard store.place != layout.place else { return self }
    var plan = self
    plan.layout = layout.at(store.place)
    return plan
  }

  /// Whether a store leaves the order to the objects: one in memory whose rows are to be sorted by a
  /// transient property, which no row has.
  func isSortedByObjects(of store: RowStore) -> Bool {
    !sort.isEmpty && store is MemoryStore && sort.contains(where: isTransient)
  }

  /// Whether a descriptor's key path leads over to-ones to a transient attribute.
  func isTransient(_ descriptor: NSSortDescriptor) -> Bool {
    guard var names = descriptor.key?.split(separator: ".").map(String.init),
      let last = names.popLast()
    else { return false }
    var entity: NSEntityDescription? = entity
    for name in names {
      let relationship = entity?.relationshipsByName[name]
      let leadsToOne = relationship.map { !$0.isToMany && !$0.isTransient } ?? false
      entity = leadsToOne ? relationship?.destinationEntity : nil
    }
    return entity?.attributesByName[last]?.isTransient == true
  }

  /// The classes of the objects the request may give.
  var classes: [NSManagedObject.Type] {
    let entities = includesSubentities ? entity.withSubentities : [entity]
    return entities.map { EntityLayout.of($0).objectClass }
  }

  private static func entity(
    named name: String?, in model: NSManagedObjectModel
  ) throws -> NSEntityDescription {
    guard let name else {
      throw NSError.fetch("A fetch request must have an entity; this one names none.")
    }
    guard let entity = model.entitiesByName[name] else {
      throw NSError.fetch(
        "The model has no entity '\(name)'. It has: "
          + model.entitiesByName.keys.sorted().joined(separator: ", ") + ".")
    }
    return entity
  }
}
