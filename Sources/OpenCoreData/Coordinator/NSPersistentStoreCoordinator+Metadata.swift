import ManagedModel
import SQLiteDriver

// What stores say of themselves: the book's chapter 12, and Apple's names.

extension NSPersistentStoreCoordinator {
  /// What a store says of itself, with what was set and is not saved yet.
  ///
  /// No statement.
  public func metadata(for store: NSPersistentStore) -> [String: Any] {
    store.metadata
  }

  /// Replaces what a store says of itself; the next save of a context writes it.
  ///
  /// The type and the UUID of the store stay as they are, and the framework's own keys stay where
  /// the new values lack them. Copy the old dictionary before adding keys.
  /// - Parameters:
  ///   - metadata: Values of a property list; nil takes all keys of the app away.
  ///   - store: A store of this coordinator.
  public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    store.metadata = metadata ?? [:]
  }

  /// What the store in a file says of itself, as it is on disk.
  ///
  /// No stack is needed, and no byte changes. Two statements, four for a store with hashes of Core
  /// Data's: digests of the model that it contains are included, so that
  /// `isConfiguration(withName:compatibleWithStoreMetadata:)` can compare any model. A store that is
  /// one document is read whole.
  /// - Throws: 134000 for a type that has no file, 134080 with a sentence when the file is no
  ///   usable store.
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if let file = try documentFile(type, at: url) {
      let document = try file.read().document
      return StoreMetadata(uuid: document.uuid, values: document.metadata).publicValues
    }
    return try NSManagedObjectModel.looking(at: url) { connection in
      let metadata = try StoreMetadata(reading: connection)
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

  /// Writes what the store in a file says of itself, at once.
  ///
  /// Stores of this file that are open do not hear of it. One transaction; a store that is one
  /// document is written whole, and one that has it open saves no more.
  /// - Throws: As reading does; 134080 too when the file cannot be written.
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

  /// The file of a store that is one document; nil for one of SQLite's.
  ///
  /// - Throws: 134000 for a type that has no file.
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
  /// What the store in a file says of itself, as it is on disk.
  ///
  /// As the coordinator's `metadataForPersistentStore(type:at:)` for SQLite.
  public class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
  }

  /// Writes what the store in a file says of itself, at once.
  ///
  /// As the coordinator's `setMetadata(_:type:at:)` for SQLite.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
  }
}
