/// The helper functions of every exported program, for tasks that take several Core Data calls.
enum ExportedSupport {
  /// The lines in the program's type.
  static let lines = (text + "\n\n" + rows)
    .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

  /// The declaration that gives Apple's selector the name that `OpenCoreData` has for it.
  static let selectors = [
    "", "#if canImport(CoreData)", "  extension Selector {",
    "    static var localizedStandardCompare: Selector {",
    "      #selector(NSString.localizedStandardCompare(_:))", "    }", "  }", "#endif", "",
  ]

  private static let text = #"""
    // MARK: Steps

    /// The result of a batched fetch, whose objects are loaded a batch at a time when they're
    /// accessed.
    #if canImport(CoreData)
      typealias Batches = [NSManagedObject]
    #else
      typealias Batches = BatchedFetchResult<NSManagedObject>
    #endif

    /// Runs a batched fetch. Call it on the context's queue.
    static func fetchBatches(
      _ request: NSFetchRequest<NSManagedObject>, in context: NSManagedObjectContext
    ) throws -> Batches {
      #if canImport(CoreData)
        // The request's own method returns the array without reading it.
        return try request.execute()
      #else
        return try context.fetchBatched(request)
      #endif
    }

    /// Runs a step in a block of a context. Released objects are deallocated when the block ends.
    static func step(_ context: NSManagedObjectContext, _ body: () throws -> Void) rethrows {
      #if canImport(ObjectiveC)
        try autoreleasepool { try context.performAndWait(body) }
      #else
        try context.performAndWait(body)
      #endif
    }

    /// Runs a step that must fail with an error code.
    static func failing(_ code: Int, _ location: String, _ body: () throws -> Void) {
      do {
        try body()
        say("cdprof: \(location) was expected to fail with \(code) but succeeded")
      } catch {
        guard (error as NSError).code != code else { return }
        say("cdprof: \(location) was expected to fail with \(code), but failed with \((error as NSError).code): \(error)")
      }
    }

    /// Waits for the work that contexts do on each other's behalf.
    static func waitFor(_ contexts: [NSManagedObjectContext]) {
      for context in contexts + contexts.reversed() { context.performAndWait {} }
    }

    /// Reads a key path, through every object of a to-many relationship. With `@count` at the end,
    /// reads only the number of destinations.
    static func read(_ object: NSManagedObject, _ keys: String...) {
      read(object, keys[...])
    }

    private static func read(_ object: NSManagedObject, _ keys: ArraySlice<String>) {
      guard let key = keys.first else { return }
      let value = object.value(forKey: key)
      guard let next = keys.dropFirst().first else { return }
      // Listing the objects fires the relationship fault, also on a Mac.
      let objects = related(value)
      if next == "@count" { return }
      for object in objects { read(object, keys.dropFirst()) }
    }

    /// Visits the destinations of a path of relationships without reading their properties.
    static func walk(_ object: NSManagedObject, _ keys: String...) {
      walk(object, keys[...])
    }

    private static func walk(_ object: NSManagedObject, _ keys: ArraySlice<String>) {
      guard let key = keys.first else { return }
      for next in related(object.value(forKey: key)) { walk(next, keys.dropFirst()) }
    }

    private static func related(_ value: Any?) -> [NSManagedObject] {
      if let object = value as? NSManagedObject { return [object] }
      if let objects = value as? Set<NSManagedObject> { return Array(objects) }
      if let objects = value as? NSOrderedSet {
        return objects.compactMap { $0 as? NSManagedObject }
      }
      return []
    }

    /// Returns objects sorted by descriptors.
    static func sorted(
      _ objects: some Sequence<NSManagedObject>, by descriptors: [NSSortDescriptor]
    ) -> [NSManagedObject] {
      #if canImport(CoreData)
        let list = (Array(objects) as NSArray).sortedArray(using: descriptors)
        return list.compactMap { $0 as? NSManagedObject }
      #else
        return objects.sorted(using: descriptors)
      #endif
    }

    /// Returns the range of objects for an offset and a limit. A limit of 0 means no limit.
    static func part(of count: Int, offset: Int, limit: Int) -> Range<Int> {
      let start = min(offset, count)
      return start..<(limit == 0 ? count : min(count, start + min(limit, count)))
    }

    /// Returns an element of a list that repeats, or `nil` if the list is empty.
    static func cycling<List: RandomAccessCollection>(
      _ list: List, _ position: Int
    ) -> List.Element? where List.Index == Int {
      list.isEmpty ? nil : list[position % list.count]
    }

    /// Returns the object IDs of objects, read on their context's queue.
    static func ids(
      of objects: [NSManagedObject], in context: NSManagedObjectContext
    ) -> [NSManagedObjectID] {
      context.performAndWait { objects.map(\.objectID) }
    }

    /// Returns the object IDs of the same rows in a context's coordinator.
    static func adopt(
      _ ids: [NSManagedObjectID], for context: NSManagedObjectContext
    ) -> [NSManagedObjectID] {
      guard let coordinator = context.persistentStoreCoordinator else { return ids }
      return ids.compactMap {
        coordinator.managedObjectID(forURIRepresentation: $0.uriRepresentation())
      }
    }

    /// Saves, and returns the did-save notification, which is also posted for a save without
    /// changes.
    static func notificationOfSave(_ context: NSManagedObjectContext) throws -> Notification? {
      nonisolated(unsafe) var notification: Notification?
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { notification = $0 }
      defer { NotificationCenter.default.removeObserver(token) }
      try context.save()
      return notification
    }

    /// Returns the changes of a save as object ID URIs, as for a save in another process.
    static func changes(
      of save: Notification, in context: NSManagedObjectContext
    ) -> [AnyHashable: Any] {
      var changes: [AnyHashable: Any] = [:]
      context.performAndWait {
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
          let objects = save.userInfo?[key] as? Set<NSManagedObject> ?? []
          changes[key] = objects.map { $0.objectID.uriRepresentation() }
        }
      }
      return changes
    }

    // MARK: Stores and contexts

    static func openStore(
      _ store: URL, _ model: NSManagedObjectModel
    ) throws -> NSPersistentStoreCoordinator {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        type: .sqlite, configuration: nil, at: store, options: nil)
      return coordinator
    }

    static func makeContext(
      on coordinator: NSPersistentStoreCoordinator, isMain: Bool = false
    ) -> NSManagedObjectContext {
      let context = NSManagedObjectContext(
        concurrencyType: isMain ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }

    static func makeContext(
      below parent: NSManagedObjectContext, isMain: Bool = false
    ) -> NSManagedObjectContext {
      let context = NSManagedObjectContext(
        concurrencyType: isMain ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
      context.parent = parent
      return context
    }

    /// Writes a line to standard error, like the SQL log.
    static func say(_ line: String) {
      try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Runs a variant cold, with a new coordinator and its own copy of the data.
    static func variant(
      _ name: String, _ data: URL, _ model: NSManagedObjectModel,
      _ body: (NSPersistentStoreCoordinator, URL, NSManagedObjectModel) throws -> Void
    ) throws {
      let store = data.deletingLastPathComponent().appendingPathComponent("\(UUID()).sqlite")
      try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
        at: store, destinationOptions: nil, withPersistentStoreFrom: data, sourceOptions: nil,
        type: .sqlite)
      let coordinator = try openStore(store, model)
      say("cdprof: begin \(name)")
      try body(coordinator, store, model)
      say("cdprof: end")
    }

    // MARK: The model

    static func entity(_ name: String) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      entity.managedObjectClassName = "NSManagedObject"
      return entity
    }

    static func attribute(
      _ name: String, _ type: NSAttributeType, isOptional: Bool = true, isTransient: Bool = false,
      initially value: Any? = nil, isExternal: Bool = false, transformer: String? = nil,
      derived: String? = nil, where rules: [String] = []
    ) -> NSAttributeDescription {
      var attribute = NSAttributeDescription()
      if let derived {
        let made = NSDerivedAttributeDescription()
        made.derivationExpression = NSExpression(format: derived)
        attribute = made
      }
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = isOptional
      attribute.isTransient = isTransient
      attribute.defaultValue = value
      attribute.allowsExternalBinaryDataStorage = isExternal
      attribute.valueTransformerName = transformer
      if !rules.isEmpty {
        attribute.setValidationPredicates(
          rules.map { NSPredicate(format: $0) }, withValidationWarnings: rules)
      }
      return attribute
    }

    static func relationship(
      _ name: String, to destination: NSEntityDescription, most: Int, _ rule: NSDeleteRule,
      least: Int = 0, isOptional: Bool = true, isOrdered: Bool = false
    ) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.minCount = least
      relationship.maxCount = most
      relationship.deleteRule = rule
      relationship.isOptional = isOptional
      relationship.isOrdered = isOrdered
      return relationship
    }

    static func index(
      _ name: String, of entity: NSEntityDescription, _ keys: [(String, Bool)],
      computed: [String: NSAttributeType] = [:], as type: NSFetchIndexElementType = .binary,
      where predicate: String? = nil
    ) -> NSFetchIndexDescription {
      let elements = keys.compactMap { key, isAscending -> NSFetchIndexElementDescription? in
        var property = entity.propertiesByName[key]
        if let resultType = computed[key] {
          let expression = NSExpressionDescription()
          expression.name = key
          expression.expression = NSExpression(format: key)
          expression.expressionResultType = resultType
          property = expression
        }
        guard let property else { return nil }
        let element = NSFetchIndexElementDescription(property: property, collationType: type)
        element.isAscending = isAscending
        return element
      }
      let index = NSFetchIndexDescription(name: name, elements: elements)
      if let predicate { index.partialIndexPredicate = NSPredicate(format: predicate) }
      return index
    }
    """#
}
