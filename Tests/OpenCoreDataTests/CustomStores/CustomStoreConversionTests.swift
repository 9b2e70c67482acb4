import OpenCoreData
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Copying a program's own stores")
struct CustomStoreConversionTests {
  /// The types that are copied from and to.
  enum Kind: String, CaseIterable, Sendable {
    case incremental, atomic, sqlite, binary, memory

    var isOwn: Bool { self == .incremental || self == .atomic }

    static let pairs = allCases.flatMap { from in
      allCases.filter { from.isOwn || $0.isOwn }.map { (from, $0) }
    }
  }

  /// A coordinator with one store, and what others are copied to.
  private struct Bed {
    let files: TestStack
    let coordinator: NSPersistentStoreCoordinator
    /// The contents of incremental stores.
    let shelves = [Shelf(), Shelf()]

    init() throws {
      files = try TestStack(model: TestModels.company())
      coordinator = NSPersistentStoreCoordinator(managedObjectModel: files.model)
      NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
      NSPersistentStoreCoordinator.registerStoreClass(JSONStore.self, type: JSONStore.jsonType)
    }

    /// The type, the URL, and the options of the original or the copy.
    func place(
      _ kind: Kind, isCopy: Bool
    ) -> (type: NSPersistentStore.StoreType, url: URL, options: [AnyHashable: Any]?) {
      let file = files.folder.appendingPathComponent(isCopy ? "Copy" : "Original")
      return switch kind {
      case .incremental: (ShelfStore.shelfType, file, ["shelf": shelves[isCopy ? 1 : 0]])
      case .atomic: (JSONStore.jsonType, file, nil)
      case .sqlite: (.sqlite, file, nil)
      case .binary: (.binary, file, nil)
      case .memory: (.inMemory, file, nil)
      }
    }

    func add(_ kind: Kind) throws -> NSPersistentStore {
      let place = place(kind, isCopy: false)
      return try coordinator.addPersistentStore(
        type: place.type, at: place.url, options: place.options)
    }

    func copy(_ store: NSPersistentStore, to kind: Kind) throws -> NSPersistentStore {
      let place = place(kind, isCopy: true)
      return try coordinator.migratePersistentStore(
        store, to: place.url, options: place.options, type: place.type)
    }

    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }

    /// Saves two departments, and three employees.
    func fill() throws {
      let context = context()
      try context.performAndWait {
        let (sales, _) = (
          context.make("Department", ["name": "Sales"]),
          context.make("Department", ["name": "Labs"])
        )
        for name in ["Ada", "Ben"] {
          context.make("Employee", ["name": name]).setValue(sales, forKey: "department")
        }
        _ = context.make("Employee", ["name": "Cleo"])
        try context.save()
      }
    }

    /// The objects by name: the entity, the destinations, and the ID.
    func contents() throws -> [String: (facts: [String], id: NSManagedObjectID)] {
      let context = context()
      return try context.performAndWait {
        var found: [String: (facts: [String], id: NSManagedObjectID)] = [:]
        for (entity, key) in [("Employee", "department"), ("Department", "employees")] {
          for object in try context.fetch(ShelfStack.request(entity)) {
            let value = object.value(forKey: key)
            let others = value as? Set<NSManagedObject> ?? []
            let names = others.compactMap(\.nameValue).sorted()
            let one = (value as? NSManagedObject)?.nameValue
            found[object.nameValue ?? ""] = ([entity, one ?? ""] + names, object.objectID)
          }
        }
        return found
      }
    }
  }

  @Test(
    "A store is copied into a program's own, and such a store into each type, with known IDs",
    arguments: Kind.pairs)
  func storesAreCopied(from: Kind, to: Kind) throws {
    let bed = try Bed()
    let store = try bed.add(from)
    bed.coordinator.setMetadata(["app": "mine"], for: store)
    try bed.fill()
    let before = try bed.contents()
    #expect(before.count == 5)
    let posted = Mutex<[[NSManagedObjectID]]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: bed.coordinator, queue: nil
    ) { note in
      let change = note.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any]
      posted.withLock { $0 = change?.last as? [[NSManagedObjectID]] ?? [] }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let new = try bed.copy(store, to: to)
    #expect(bed.coordinator.persistentStores == [new])
    let removals = bed.shelves[0].takeCalls().filter { $0 == "willRemove" }
    #expect(removals.count == (from == .incremental ? 1 : 0))
    #expect(new.type == bed.place(to, isCopy: true).type.rawValue)
    // The JSON file and the shelf have no place for it.
    if !to.isOwn { #expect(new.metadata["app"] as? String == "mine") }
    let after = try bed.contents()
    #expect(after.mapValues(\.facts) == before.mapValues(\.facts))
    let pairs = posted.withLock { $0 }
    #expect(pairs.count == 5)
    for (name, object) in before {
      #expect(pairs.first { $0[0] == object.id }?[1] == after[name]?.id)
    }
    // New objects don't get the keys of others, and the store is complete.
    let context = bed.context()
    try context.performAndWait {
      _ = context.make("Employee", ["name": "Dan"])
      try context.save()
    }
    #expect(try bed.contents().count == 6)
    if to == .memory { return }
    try bed.coordinator.remove(new)
    let place = bed.place(to, isCopy: true)
    try bed.coordinator.addPersistentStore(type: place.type, at: place.url, options: place.options)
    #expect(try bed.contents().count == 6)
  }

  @Test("A copy that fails leaves the store, and a store that has objects isn't replaced")
  func failedCopiesLeaveTheStore() throws {
    let bed = try Bed()
    let store = try bed.add(.incremental)
    try bed.fill()
    func expectUnchanged() throws {
      #expect(bed.coordinator.persistentStores == [store])
      #expect(!bed.shelves[0].takeCalls().contains("willRemove"))
      #expect(try bed.contents().count == 5)
    }
    bed.shelves[1].failures["save"] = NSError(domain: "shelf", code: 3)
    let failed = #expect(throws: NSError.self) { try bed.copy(store, to: .incremental) }
    #expect((failed?.domain, failed?.code) == ("shelf", 3))
    #expect(bed.shelves[1].items.isEmpty)
    try expectUnchanged()

    bed.shelves[1].failures = [:]
    bed.shelves[1].items["e9"] = Shelf.Item(entity: "Employee", values: ["name": "Zoe"])
    let full = #expect(throws: NSError.self) { try bed.copy(store, to: .incremental) }
    #expect((full?.domain, full?.code) == (NSCocoaErrorDomain, NSPersistentStoreOpenError))
    #expect(bed.shelves[1].items.count == 1)
    try expectUnchanged()

    // What can't be read isn't left out.
    for call in ["fetch", "values", "employees"] {
      bed.shelves[0].failures[call] = NSError(domain: "shelf", code: 4)
      let unread = #expect(throws: NSError.self) { try bed.copy(store, to: .sqlite) }
      #expect((unread?.domain, unread?.code) == ("shelf", 4), "\(call)")
      bed.shelves[0].failures = [:]
      try expectUnchanged()
    }
  }

  @Test("A save that has begun before its store is copied, but isn't written yet, fails")
  func savesAreNotWrittenWhileTheStoreIsCopied() throws {
    let stack = try ShelfStack()
    let store: CachingStore = try #require(stack.store as? NSIncrementalStore)
    let context = stack.context()
    let count = stack.shelf.items.count
    stack.shelf.beforeIDs = {
      do { try store.beginMoving() } catch { Issue.record("\(error)") }
    }
    context.performAndWait {
      _ = context.make("Employee", ["name": "Eve"])
      #expect(context.saveError()?.code == NSPersistentStoreOperationError)
    }
    #expect(stack.shelf.items.count == count)
    stack.shelf.beforeIDs = nil
    store.isMoving = false
    try context.performAndWait { try context.save() }
    #expect(stack.shelf.items.count == count + 1)
  }
}
