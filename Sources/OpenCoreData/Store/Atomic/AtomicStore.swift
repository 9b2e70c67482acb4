import ManagedModel
import SQLiteDriver
import Synchronization

/// A store in memory that is kept in a file: read whole when it is added, written whole by each save.
///
/// Fetches and faults run no statement and read nothing from the file. Apple counterpart: the stores of
/// type `NSXMLStoreType` and `NSBinaryStoreType`.
final class AtomicStore: MemoryStore, @unchecked Sendable {  // what changes is behind a lock
  private let form: AtomicStoreForm
  private let known: Mutex<State>

  /// What this store last knew of its file.
  private struct State {
    let url: URL
    let stamp: FileStamp?
  }

  /// Opens the store in a file, or makes the file.
  ///
  /// - Throws: 134080 when the file is no such store, cannot be made, or is to be looked at and not
  ///   there; 134100 when it was made with another model, 134020 when its objects do not fit the model.
  static func open(
    _ form: AtomicStoreForm, at url: URL, model: NSManagedObjectModel, configuration: String?,
    place: Int, options: [AnyHashable: Any]?
  ) throws -> AtomicStore {
    let file = AtomicStoreFile(url: url, form: form)
    let isReadOnly = options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false
    let layouts = MemoryStore.layouts(of: model, configuration: configuration, place: place)
    guard file.exists || isReadOnly else {
      let metadata = StoreMetadata(
        newStoreOf: model, configuration: configuration, type: form.storeType)
      let document = StoreDocument(uuid: metadata.uuid, metadata: metadata.values, lastKey: 0)
      let tables = MemoryTables(rootCount: layouts.rootCount)
      return AtomicStore(
        document, form, tables, layouts, at: url, stamp: try file.create(document),
        configuration: configuration, options: options)
    }
    let (document, stamp) = try file.read()
    let metadata = StoreMetadata(uuid: document.uuid, values: document.metadata)
    // A document contains no model: where hashes can't be compared, its objects decide.
    if options?[NSIgnorePersistentStoreVersioningOption] as? Bool != true {
      try metadata.check(model, configuration, at: url) { nil }
    }
    do {
      return AtomicStore(
        document, form, try document.tables(layouts), layouts, at: url, stamp: stamp,
        configuration: configuration, options: options)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleSchemaError, "\(url.path): \(error.message)",
        [NSFilePathErrorKey: url.path])
    }
  }

  private init(
    _ document: StoreDocument, _ form: AtomicStoreForm, _ tables: MemoryTables,
    _ layouts: StoreLayouts, at url: URL, stamp: FileStamp?, configuration: String?,
    options: [AnyHashable: Any]?
  ) {
    self.form = form
    known = Mutex(State(url: url, stamp: stamp))
    super.init(
      layouts: layouts, type: form.storeType, url: url, identifier: document.uuid,
      configuration: configuration, options: options,
      metadata: StoreMetadata(uuid: document.uuid, values: document.metadata).publicValues,
      tables: tables, lastKeys: [document.lastKey])
  }

  override var isKept: Bool { true }

  /// Replaces the file; one that was taken away is made anew.
  ///
  /// - Throws: 134030 when somebody else has written to it since it was read: his objects would be
  ///   lost. The file system's errors.
  override func keep(
    _ tables: MemoryTables, lastKey: Int64, beforeCommit: () throws -> Void
  ) throws {
    guard let url else { return }
    let file = AtomicStoreFile(url: url, form: form)
    let state = known.withLock { $0 }
    if state.url == url, let stamp = FileStamp(path: url.path), stamp != state.stamp {
      throw NSError.coreData(
        NSPersistentStoreSaveError,
        "\(url.path) is not the file that was read: somebody else has written to it. "
          + "Nothing is saved. Add the store anew.",
        [NSAffectedStoresErrorKey: [self], NSFilePathErrorKey: url.path])
    }
    let values = metadata.filter { $0.key != StoreMetadata.uuidKey }
    let document = StoreDocument(
      uuid: identifier, metadata: values, lastKey: lastKey, tables: tables)
    let stamp = try file.replace(by: document, beforeCommit: beforeCommit)
    hasUnsavedMetadata = false
    known.withLock { $0 = State(url: url, stamp: stamp) }
  }

  /// Writes the whole file.
  override func saveMetadata() throws {
    if hasUnsavedMetadata { try keepTables() }
  }
}
