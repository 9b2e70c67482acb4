import OpenCoreData
import PostgresDriver
import PostgresStore
import Testing

import class ManagedModel.NSManagedObjectModel

/// A store in a schema of its own, which is removed with it, and any number of coordinators.
final class PostgresStack {
  let schema: String
  let model: NSManagedObjectModel
  /// The first coordinator.
  let coordinator: NSPersistentStoreCoordinator

  init(_ model: NSManagedObjectModel, schema: String? = nil) throws {
    NSPersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
    self.model = model
    self.schema = schema ?? "test_" + UUID().uuidString
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .postgres, at: Self.url(self.schema))
  }

  deinit {
    _ = try? PostgresConnection(TestServer.settings).execute("DROP SCHEMA \(quoted) CASCADE")
  }

  /// The schema's name in quotes.
  var quoted: String { QuotedIdentifier.of(schema) }

  /// Returns the URL of a store in a schema.
  static func url(_ schema: String) throws -> URL {
    try #require(!TestServer.uri.isEmpty, "run test.sh, which starts a server")
    var components = try #require(URLComponents(string: TestServer.uri))
    components.queryItems?.append(URLQueryItem(name: "schema", value: schema))
    return try #require(components.url)
  }

  /// Returns a coordinator that shares nothing but the database.
  func newCoordinator(
    _ model: NSManagedObjectModel? = nil, options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? self.model)
    try coordinator.addPersistentStore(
      type: .postgres, at: Self.url(schema), options: options)
    return coordinator
  }

  /// Returns a new context.
  func context(_ coordinator: NSPersistentStoreCoordinator? = nil) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator ?? self.coordinator
    return context
  }

  /// Returns a context with an empty row cache.
  func coldContext() throws -> NSManagedObjectContext { context(try newCoordinator()) }
}

extension NSManagedObjectContext {
  /// Inserts an object with some values.
  @discardableResult
  func insert(_ entity: String, _ values: [String: Any?] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// Returns the objects of an entity in the order of their names.
  func all(_ entity: String, _ format: String? = nil) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    if let format { request.predicate = NSPredicate(format: format) }
    return try fetch(request)
  }

  /// Returns the object with a name.
  func named(_ name: String, _ entity: String = "Person") throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: "name == %@", name)
    return try #require(try fetch(request).first)
  }
}

extension NSManagedObject {
  var name: String? { value(forKey: "name") as? String }

  /// The sorted names of a to-many relationship's objects.
  func names(_ key: String) -> [String] {
    (value(forKey: key) as? Set<NSManagedObject> ?? []).compactMap(\.name).sorted()
  }

  /// The names of an ordered relationship's objects, in order.
  func listedNames(_ key: String) -> [String] {
    switch value(forKey: key) {
    case let list as [NSManagedObject]: list.compactMap(\.name)
    case let set as NSOrderedSet: set.array.compactMap { ($0 as? NSManagedObject)?.name }
    default: []
    }
  }
}

/// Expects two values to be equal: the macro doesn't take expressions that throw in a closure.
func expectEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(value == expected, sourceLocation: sourceLocation)
}

/// Calls a body on threads of their own, and waits for all of them.
///
/// Tests may block all threads of Swift's tasks and of Dispatch, so that theirs would run one after
/// the other.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    Thread {
      body(index)
      group.leave()
    }.start()
  }
  group.wait()
}
