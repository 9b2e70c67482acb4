import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// A copy of a store, to be migrated to other versions of its model.
final class MigratedStore {
  let url: URL

  /// Copies a store of the shared data.
  convenience init(copying path: String) throws {
    try self.init()
    try Data(contentsOf: SharedData.url(path)).write(to: url)
  }

  /// Prepares a folder for a store.
  init() throws {
    url = try ProcessFolder.makeFolder().appendingPathComponent("Store.sqlite")
  }

  deinit {
    try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
  }

  /// The options of a container's description.
  static var automatic: [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
    ]
  }

  /// Opens the store with a version of the model, migrating it if necessary.
  func open(
    _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = automatic,
    sink: (any EventSink)? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    if let sink { coordinator.eventHub.add(sink) }
    try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Migrates the store, and closes it.
  func migrate(to model: NSManagedObjectModel, options: [AnyHashable: Any] = [:]) throws {
    let context = try open(
      model, options: Self.automatic.merging(options, uniquingKeysWith: { $1 }))
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// The rows of a statement.
  func values(_ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    return try connection.values(sql)
  }

  /// All rows of a table by primary key, each as its values by column name.
  func rows(of table: String) throws -> [[String: SQLiteValue]] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let names = try connection.values("SELECT name FROM pragma_table_info('\(table)')")
      .compactMap { row -> String? in if case .text(let name)? = row.first { name } else { nil } }
    return try connection.values("SELECT \(names.joined(separator: ", ")) FROM \(table) ORDER BY 1")
      .map { Dictionary(uniqueKeysWithValues: zip(names, $0)) }
  }

  /// The names and bytes of the files in the store's folder.
  func contents() throws -> [String: Data] {
    let folder = url.deletingLastPathComponent()
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).reduce(into: [:]) {
      $0[$1] = try Data(contentsOf: folder.appendingPathComponent($1))
    }
  }
}

/// The content of a store without its primary keys: for each entity, its objects as text, sorted.
///
/// A destination of a relationship is written as the attributes of the object there.
func content(
  of context: NSManagedObjectContext, leavingOut ignored: Set<String> = []
) throws -> [String: [String]] {
  try context.performAndWait {
    let model = try #require(context.persistentStoreCoordinator).managedObjectModel
    var content: [String: [String]] = [:]
    func digest(_ data: Data) -> String {
      var hasher = Hasher()
      data.withUnsafeBytes { hasher.combine(bytes: $0) }
      return "\(data.count) bytes \(hasher.finalize())"
    }
    func attributes(_ object: NSManagedObject) -> String {
      object.entity.attributesByName.values.filter { !$0.isTransient && !ignored.contains($0.name) }
        .map { attribute in
          let value = object.value(forKey: attribute.name)
          let text =
            (value as? Date).map { "\($0.timeIntervalSinceReferenceDate)" }
            ?? (value as? Data).map(digest)
          return "\(attribute.name): \(text ?? value.map { "\($0)" } ?? "nil")"
        }
        .sorted().joined(separator: ", ")
    }
    for entity in model.entities where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      content[entity.name ?? ""] = try context.fetch(request).map { object in
        let relationships = entity.relationshipsByName.values
          .filter { !ignored.contains($0.name) }.sorted { $0.name < $1.name }
          .map { relationship in
            let others = object.relatedObjects(relationship).map(attributes).sorted()
            return "\(relationship.name): {\(others.joined(separator: "; "))}"
          }
        return ([attributes(object)] + relationships).joined(separator: " | ")
      }.sorted()
    }
    return content
  }
}
