import OpenCoreData
import ProfileEvents

@testable import OpenCoreData

/// A store, with the workshop's model by default, and its contexts.
final class ContextBed {
  let kind: StoreKind
  let coordinator: NSPersistentStoreCoordinator
  let events = EventList()
  private let stack: TestStack

  init(_ kind: StoreKind, model: NSManagedObjectModel = WorkshopModel.make()) throws {
    self.kind = kind
    stack = try TestStack(model: model)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    try coordinator.addPersistentStore(
      type: kind.type, at: kind.url(stack.storeURL) ?? stack.storeURL)
  }

  /// Another coordinator for the same store file, with its own model or the first one's.
  func secondCoordinator(sharingModel: Bool = false) throws -> NSPersistentStoreCoordinator {
    let second = NSPersistentStoreCoordinator(
      managedObjectModel: sharingModel ? stack.model : WorkshopModel.make())
    try second.addPersistentStore(
      type: kind.type, at: kind.url(stack.storeURL) ?? stack.storeURL)
    return second
  }

  /// A root context.
  func context(
    _ coordinator: NSPersistentStoreCoordinator? = nil
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator ?? self.coordinator
    return context
  }

  /// A child context.
  func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    return child
  }

  /// The store of all contexts.
  var store: RowStore? {
    coordinator.firstStore
  }

  /// Saves people named p1, p2, … with numbers 1, 2, … in one team, t; returns their IDs.
  @discardableResult
  func addPeople(_ count: Int) throws -> [NSManagedObjectID] {
    let context = context()
    return try context.performAndWait {
      let team = context.make("Team", ["name": "t", "serial": Int64(0)])
      let people = (1...count).map { index in
        context.make(
          "Person",
          ["name": "p\(index)", "number": Int64(index), "serial": Int64(index), "team": team])
      }
      try context.save()
      return people.map(\.objectID)
    }
  }

  /// The expected SELECTs: 0 for a store that doesn't run SQL.
  func selects(_ count: Int) -> Int {
    kind.runsSQL ? count : 0
  }
}

extension NSManagedObjectContext {
  /// Fetches the people, sorted by number.
  func people() throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    return try fetch(request)
  }
}

extension NSManagedObject {
  var label: String? {
    get { value(forKey: "name") as? String }
    set { setValue(newValue, forKey: "name") }
  }

  var number: Int64? {
    get { value(forKey: "number") as? Int64 }
    set { setValue(newValue, forKey: "number") }
  }
}

/// Notifications of one context, in order.
final class NoteList {
  private(set) var notes: [Notification] = []
  private var token: (any NSObjectProtocol)?

  /// Observes one notification of a context, or all of them.
  ///
  /// They're posted on the context's queue while the test waits.
  init(
    _ context: NSManagedObjectContext,
    _ name: Notification.Name? = .NSManagedObjectContextObjectsDidChange,
    _ body: @escaping (Notification) -> Void = { _ in }
  ) {
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) weak let list = self
    // Another test's context can have the address of one that was released.
    weak let observed = context
    token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
      guard let observed, $0.object as? NSManagedObjectContext === observed else { return }
      list?.notes.append($0)
      body($0)
    }
  }

  /// The names of the objects under a key of the last notification, sorted.
  func names(_ key: String) -> [String] {
    (notes.last?.userInfo?[key] as? Set<NSManagedObject> ?? []).compactMap(\.label).sorted()
  }

  /// The objects under a key in all notifications.
  func union(_ key: String) -> Set<NSManagedObject> {
    notes.reduce(into: []) { set, note in
      set.formUnion(note.userInfo?[key] as? Set<NSManagedObject> ?? [])
    }
  }

  deinit {
    token.map(NotificationCenter.default.removeObserver)
  }
}

extension Counters {
  /// Faults of objects, fulfilled from the row cache or from the store.
  var objectFaults: Int { objectFaultHits + objectFaultMisses }
  /// Faults of to-many relationships.
  var relationshipFaults: Int { relationshipFaultHits + relationshipFaultMisses }
}
