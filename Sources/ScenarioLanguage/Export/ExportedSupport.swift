/// The helper functions of every exported program, for tasks that take several Core Data calls.
enum ExportedSupport {
  /// The lines in the program's type.
  static let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

  /// The declaration that gives Apple's selector the name that `OpenCoreData` has for it.
  static let selectors = [
    "", "#if canImport(CoreData)", "  extension Selector {",
    "    static let localizedStandardCompare =",
    "      #selector(NSString.localizedStandardCompare(_:))", "  }", "#endif", "",
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
      initially value: Any? = nil, isExternal: Bool = false, derived: String? = nil,
      where rules: [String] = []
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
      where predicate: String? = nil
    ) -> NSFetchIndexDescription {
      let elements = keys.compactMap { key, isAscending -> NSFetchIndexElementDescription? in
        guard let property = entity.propertiesByName[key] else { return nil }
        let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
        element.isAscending = isAscending
        return element
      }
      let index = NSFetchIndexDescription(name: name, elements: elements)
      if let predicate { index.partialIndexPredicate = NSPredicate(format: predicate) }
      return index
    }

    // MARK: The rows

    /// Creates rows and keeps their object IDs, by entity.
    final class Rows {
      private let context: NSManagedObjectContext
      private var made: [String: [NSManagedObjectID]] = [:]

      init(in store: URL, of model: NSManagedObjectModel) throws {
        context = makeContext(on: try openStore(store, model))
      }

      func insert(
        _ count: Int, _ entity: String, _ fill: (NSManagedObject, Int) -> Void
      ) throws {
        for start in stride(from: 0, to: count, by: 1_000) {
          let ids = try context.performAndWait {
            let objects = (start..<min(count, start + 1_000)).map { row in
              let object = NSEntityDescription.insertNewObject(
                forEntityName: entity, into: context)
              fill(object, row)
              return object
            }
            try context.save()
            return objects.map(\.objectID)
          }
          made[entity, default: []] += ids
          context.performAndWait { context.reset() }
        }
      }

      /// Visits the rows of an entity again.
      func relate(_ entity: String, _ fill: (NSManagedObject, Int) -> Void) throws {
        try context.performAndWait {
          for (row, id) in (made[entity] ?? []).enumerated() {
            fill(context.object(with: id), row)
          }
          try context.save()
          context.reset()
        }
      }

      /// Sets a to-one relationship to the row with an index, which wraps around.
      func relate(
        _ object: NSManagedObject, _ key: String, to entities: [String], _ choice: UInt64
      ) {
        let ids = entities.flatMap { made[$0] ?? [] }
        guard !ids.isEmpty else { return }
        object.setValue(
          context.object(with: ids[Int(choice % UInt64(ids.count))]), forKey: key)
      }
    }

    static func date(_ seconds: Double) -> Date {
      Date(timeIntervalSinceReferenceDate: 473_299_200 + seconds)
    }

    /// Returns consecutive integers in a range, repeated from the first.
    static func serial(_ row: Int, _ least: Int, _ greatest: Int) -> Int {
      guard least < greatest else { return least }
      let (span, isOver) = greatest.subtractingReportingOverflow(least)
      return isOver ? row : least + row % (span == .max ? span : span + 1)
    }

    /// A random number generator (SplitMix64) that returns the same numbers for the same seed, with
    /// a stream for each property.
    struct Seeded {
      private var state: UInt64

      init(_ seed: UInt64, _ stream: String) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in stream.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        state = seed &* 0x9e37_79b9_7f4a_7c15 ^ hash
      }

      mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
      }

      mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
      }

      mutating func whole(_ least: Int, _ greatest: Int, below bound: Int) -> Int {
        guard least < greatest else { return least }
        let (span, isOver) = greatest.subtractingReportingOverflow(least)
        return least + below(isOver || span == .max ? bound : span + 1)
      }

      mutating func fraction(_ least: Double, _ greatest: Double) -> Double {
        least + Double(next() >> 11) / Double(1 << 53) * max(0, greatest - least)
      }

      mutating func text(_ length: Int, _ row: Int?) -> String {
        let syllables = ["ba", "co", "di", "fu", "ga", "le", "mi", "no", "pu", "ra", "se", "to"]
        var text = ""
        while text.utf8.count < length { text += syllables[below(syllables.count)] }
        text = String(text.prefix(length))
        guard let row else { return text }
        let serial = String(row + 1)
        return String(text.prefix(max(0, length - serial.count))) + serial
      }

      mutating func bytes() -> Data {
        Data((0..<12).map { _ in UInt8(truncatingIfNeeded: next()) })
      }

      mutating func uuid() -> UUID {
        let words = [next(), next()]
        func byte(_ index: Int) -> UInt8 {
          UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(8 * (7 - index % 8)))
        }
        return UUID(
          uuid: (
            byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6) & 0x0f | 0x40, byte(7),
            byte(8) & 0x3f | 0x80, byte(9), byte(10), byte(11), byte(12), byte(13), byte(14),
            byte(15)
          ))
      }
    }
    """#
}
