import ManagedModel
import ProfileEvents
import SQLiteDriver

/// The two stacks of a migration: copies of the models with plain managed objects, and a context
/// each.
///
/// Used on the migration's thread.
final class MigrationStacks {
  /// The copies of both models.
  let models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)
  /// The context of the source instances.
  let source = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  /// The context of the destination instances.
  let destination = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  private let coordinators:
    (source: NSPersistentStoreCoordinator, destination: NSPersistentStoreCoordinator)
  /// The configuration of the models that both stores contain; `nil` for all entities, as of a
  /// model that doesn't have it.
  var configuration: String?
  /// Whether a new destination gets the UUID of the source.
  var preservesIdentifier = true
  /// The file of a new destination store.
  private var created: (url: URL, type: NSPersistentStore.StoreType)?

  init(from before: NSManagedObjectModel, to after: NSManagedObjectModel) {
    models = (ModelLayouts.plainCopy(of: before), ModelLayouts.plainCopy(of: after))
    coordinators = (
      NSPersistentStoreCoordinator(managedObjectModel: models.source),
      NSPersistentStoreCoordinator(managedObjectModel: models.destination)
    )
    source.persistentStoreCoordinator = coordinators.source
    destination.persistentStoreCoordinator = coordinators.destination
    for context in [source, destination] { context.name = "migration" }
    destination.validatesOnSave = false
  }

  /// The hubs of the events of the source and the destination.
  var eventHubs: [EventHub] { [coordinators.source.eventHub, coordinators.destination.eventHub] }

  /// Opens the source read-only, and opens or creates the destination.
  ///
  /// - Throws: 134150 or 134160 with the cause.
  func open(
    _ sourceURL: URL, _ sourceType: NSPersistentStore.StoreType,
    _ sourceOptions: [AnyHashable: Any]?,
    _ destinationURL: URL, _ destinationType: NSPersistentStore.StoreType,
    _ destinationOptions: [AnyHashable: Any]?
  ) throws {
    guard sourceURL.standardizedFileURL != destinationURL.standardizedFileURL else {
      throw Self.error(
        NSMigrationManagerDestinationStoreError, destinationURL,
        "it's the source itself: migrate to another file")
    }
    try Self.removeIncomplete(destinationURL, destinationType, by: coordinators.destination)
    var options = sourceOptions ?? [:]
    options[NSReadOnlyPersistentStoreOption] = true
    let opened = try add(
      to: coordinators.source, sourceURL, sourceType, options, NSMigrationManagerSourceStoreError)
    created =
      Self.isVacant(destinationURL, destinationType) ? (destinationURL, destinationType) : nil
    do {
      let store = try add(
        to: coordinators.destination, destinationURL, destinationType, destinationOptions,
        NSMigrationManagerDestinationStoreError)
      if created != nil { try prepare(store, from: opened, destinationURL) }
    } catch {
      close(removingNew: true)
      throw error
    }
  }

  /// Gives a new destination the UUID and the app's metadata of the source, and marks it as
  /// incomplete.
  private func prepare(
    _ new: NSPersistentStore, from former: NSPersistentStore, _ url: URL
  ) throws {
    do {
      if preservesIdentifier {
        new.identifier = former.identifier
        if let former = former as? SQLiteStore {
          try (new as? SQLiteStore)?.skipTransactions(of: former)
        }
      }
      // The version is that of the destination.
      var metadata = former.metadata.filter { !StoreMetadata.versionKeys.contains($0.key) }
      metadata[StoreMetadata.incompleteMigrationKey] = true
      new.metadata = metadata
      try (new as? RowStore)?.saveMetadata()
    } catch {
      let cause =
        (error as? SQLiteError).map {
          NSError.opening(url, $0, isReadOnly: false, isInMemory: url.isNullDevice)
        } ?? error as NSError
      throw Self.error(
        NSMigrationManagerDestinationStoreError, url, cause.localizedDescription, cause)
    }
  }

  /// Marks a new destination as complete when its metadata is saved.
  func complete() {
    guard created != nil, let new = coordinators.destination.persistentStores.first else { return }
    new.metadata.removeValue(forKey: StoreMetadata.incompleteMigrationKey)
  }

  /// Returns whether there's no store at a URL: no file, or one without a table, of a SQLite store
  /// whose creation was interrupted.
  private static func isVacant(_ url: URL, _ type: NSPersistentStore.StoreType) -> Bool {
    guard FileStamp.exists(path: url.path, followsLinks: true) else { return true }
    guard type == .sqlite, let stamp = FileStamp(path: url.path) else { return false }
    if stamp.size == 0 { return true }
    guard let connection = try? Connection(path: url.path, access: .inspecting) else {
      return false
    }
    defer { connection.close() }
    return (try? SchemaBuilder.isBlank(connection)) == true
  }

  /// Removes a destination that a migration has created, but not completed, because the process was
  /// killed: the instances that it has would be there twice.
  private static func removeIncomplete(
    _ url: URL, _ type: NSPersistentStore.StoreType, by coordinator: NSPersistentStoreCoordinator
  ) throws {
    guard FileStamp.exists(path: url.path, followsLinks: true),
      let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: type, at: url),
      metadata[StoreMetadata.incompleteMigrationKey] != nil
    else { return }
    do {
      try coordinator.destroyPersistentStore(at: url, type: type, options: nil)
    } catch {
      let error = error as NSError
      throw Self.error(
        NSMigrationManagerDestinationStoreError, url, error.localizedDescription, error)
    }
  }

  /// Closes both stores.
  ///
  /// - Parameter removesNew: Whether to remove the destination if `open` created it.
  func close(removingNew removesNew: Bool) {
    for context in [source, destination] { context.performAndWait { context.reset() } }
    for coordinator in [coordinators.source, coordinators.destination] {
      for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
    guard removesNew, let created else { return }
    try? coordinators.destination.destroyPersistentStore(
      at: created.url, type: created.type, options: [NSPersistentStoreForceDestroyOption: true])
  }

  private func add(
    to coordinator: NSPersistentStoreCoordinator, _ url: URL, _ type: NSPersistentStore.StoreType,
    _ options: [AnyHashable: Any]?, _ code: Int
  ) throws -> NSPersistentStore {
    do {
      return try coordinator.addPersistentStore(
        type: type, configuration: coordinator.managedObjectModel.known(configuration), at: url,
        options: options)
    } catch {
      let error = error as NSError
      throw Self.error(code, url, error.localizedDescription, error)
    }
  }

  private static func error(
    _ code: Int, _ url: URL, _ reason: String, _ cause: NSError? = nil
  ) -> NSError {
    let role = code == NSMigrationManagerSourceStoreError ? "source" : "destination"
    var info: [String: Any] = [NSFilePathErrorKey: url.path, "reason": reason]
    info[NSUnderlyingErrorKey] = cause
    return NSError.coreData(
      code, "The \(role) store of the migration, \(url.relativePath), can't be used: \(reason)",
      info)
  }
}
