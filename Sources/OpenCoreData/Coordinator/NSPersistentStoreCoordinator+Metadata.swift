import ManagedModel
import SQLiteDriver

// Metadata of stores: the book's chapter 12, with Core Data's names.

extension NSPersistentStoreCoordinator {
  /// Returns the metadata of a store, including values that were set and aren't saved yet.
  ///
  /// No statements.
  public func metadata(for store: NSPersistentStore) -> [String: Any] {
    store.metadata
  }

  /// Replaces the metadata of a store; the next save of a context writes it.
  ///
  /// The store's type and UUID don't change, and the framework's own keys are kept if the new values
  /// lack them. Copy the old dictionary before you add keys.
  /// - Parameters:
  ///   - metadata: Property-list values; nil removes all keys of the app.
  ///   - store: A store of this coordinator.
  public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    store.metadata = metadata ?? [:]
  }

  /// Returns the metadata of a store file, as it is on disk.
  ///
  /// Requires no stack, and modifies no file. Two statements, four for a store with Core Data's
  /// version hashes: digests of the model that it contains are included, so that
  /// `isConfiguration(withName:compatibleWithStoreMetadata:)` can compare any model. The document of
  /// an XML or binary store is read as a whole.
  /// - Throws: 134000 for a type without a file, 134080 with a message if the file isn't a usable
  ///   store.
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if let file = try documentFile(type, at: url) {
      let document = try file.read().document
      return StoreMetadata(uuid: document.uuid, values: document.metadata).publicValues
    }
    return try NSManagedObjectModel.inspecting(at: url) { connection, metadata in
      var values = metadata.publicValues
      if !metadata.hasOwnDigests, let model = try? ModelArchive.readModel(on: connection) {
        values[NSManagedObjectModel.storedModelDigestsKey] = model.entityDigestsByName
      }
      return values
    }
  }

  /// The older spelling of `metadataForPersistentStore(type:at:)`.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(
      type: NSPersistentStore.StoreType(rawValue: storeType), at: url, options: options)
  }

  /// Returns the model in a SQLite store: the one that the store was created with or migrated to.
  ///
  /// Its entities have the version hashes of the store. Two statements and those of the metadata; no file is
  /// modified.
  /// - Throws: 134080 with a message if the file isn't a usable SQLite store, or contains no model.
  public class func cachedModelForPersistentStore(
    at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.inStoreWithVersionHashes(at: url)
  }

  /// Writes the metadata of a store file immediately.
  ///
  /// Open stores of this file aren't notified. One transaction; the document of an XML or binary
  /// store is written as a whole, and a coordinator that has it open can no longer save.
  /// - Throws: The errors of reading; 134080 also if the file can't be written.
  public class func setMetadata(
    _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    if let file = try documentFile(type, at: url) {
      return try setMetadata(metadata ?? [:], in: file)
    }
    if let problem = StoreFileProblem.examine(path: url.path) {
      throw NSError.unusableStore(problem, url)
    }
    do {
      let connection = try Connection(
        path: url.path, access: .writing,
        options: SQLiteStore.connectionOptions(options, isNew: false))
      defer { connection.close() }
      try connection.execute("BEGIN IMMEDIATE")
      var stored = try StoreMetadata(reading: connection)
      stored.values = StoreMetadata.replacing(stored.publicValues, with: metadata ?? [:])
      try stored.write(to: connection)
      try connection.execute("COMMIT")
    } catch let error as SQLiteError {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "The store \(url.path) could not be written: \(error)",
        [NSFilePathErrorKey: url.path])
    } catch let problem as StoreMetadata.Problem {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "\(url.path): \(problem)", [NSFilePathErrorKey: url.path])
    } catch {
      throw error as NSError
    }
  }

  /// The older spelling of `setMetadata(_:type:at:)`.
  public class func setMetadata(
    _ metadata: [String: Any]?, ofType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(
      metadata, type: NSPersistentStore.StoreType(rawValue: storeType), at: url, options: options)
  }

  /// The name of `setMetadata(_:type:at:)` before `ofType`.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, ofType: storeType, at: url, options: options)
  }

  private class func setMetadata(_ metadata: [String: Any], in file: AtomicStoreFile) throws {
    var document = try file.read().document
    let old = StoreMetadata(uuid: document.uuid, values: document.metadata).publicValues
    document.metadata = StoreMetadata.replacing(old, with: metadata)
      .filter { $0.key != StoreMetadata.uuidKey }
    _ = try file.create(document)
  }

  /// Returns the document of an XML or binary store; nil for a SQLite store.
  ///
  /// - Throws: 134000 for a type without a file.
  class func documentFile(
    _ type: NSPersistentStore.StoreType, at url: URL
  ) throws -> AtomicStoreFile? {
    if type == .sqlite { return nil }
    guard let form = AtomicStoreForm(type) else {
      throw NSError.coreData(
        NSPersistentStoreInvalidTypeError,
        "There are no store files of the type '\(type.rawValue)'.")
    }
    return AtomicStoreFile(url: url, form: form)
  }
}

extension NSPersistentStore {
  /// Returns the metadata of a store file, as it is on disk.
  ///
  /// The same as the coordinator's `metadataForPersistentStore(type:at:)` for SQLite.
  public class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
  }

  /// Writes the metadata of a store file immediately.
  ///
  /// The same as the coordinator's `setMetadata(_:type:at:)` for SQLite.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
  }
}
