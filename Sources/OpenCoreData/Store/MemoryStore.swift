import ManagedModel
import ProfileEvents
import Synchronization

/// A store in the memory of the process, discarded with its coordinator.
///
/// Predicates and sort descriptors are evaluated for the rows, so a fetch supports everything that can
/// be evaluated in memory; no statements. Apple counterpart: the store of type `NSInMemoryStoreType`.
final class MemoryStore: CachingStore, StoreBackend, @unchecked Sendable {
  // `contents` is guarded by its lock
  let contents: Mutex<Contents>
  /// The document of an XML or binary store, which each save replaces; nil for an in-memory store.
  let document: AtomicStoreDocument?

  struct Contents {
    var tables: MemoryTables
    /// The highest primary key assigned, by root entity; one for all in an XML or binary store.
    var lastKeys: [Int64]

    /// Returns an unused primary key.
    mutating func takeKey(rootIndex: Int) -> Int64 {
      let counter = min(rootIndex, lastKeys.count - 1)
      lastKeys[counter] += 1
      return lastKeys[counter]
    }
  }

  /// Creates an empty store.
  convenience init(
    model: NSManagedObjectModel, configuration: String?, place: Int, url: URL?,
    options: [AnyHashable: Any]?
  ) {
    let layouts = MemoryStore.layouts(of: model, configuration: configuration, place: place)
    let identifier = UUID().uuidString
    self.init(
      layouts: layouts, type: NSInMemoryStoreType, url: url, identifier: identifier,
      configuration: configuration, options: options,
      metadata: [
        StoreMetadata.storeTypeKey: NSInMemoryStoreType, StoreMetadata.uuidKey: identifier,
        StoreMetadata.hashesKey: model.versionHashes(of: configuration),
      ],
      tables: MemoryTables(rootCount: layouts.rootCount),
      lastKeys: Array(repeating: 0, count: layouts.rootCount))
  }

  /// Creates a store with the contents of a document.
  ///
  /// - Throws: 134020 if its objects don't fit the model.
  convenience init(
    _ document: StoreDocument, model: NSManagedObjectModel, configuration: String?, place: Int,
    url: URL?, options: [AnyHashable: Any]?
  ) throws {
    let layouts = MemoryStore.layouts(of: model, configuration: configuration, place: place)
    let tables: MemoryTables
    do {
      tables = try document.tables(layouts)
    } catch {
      throw NSError.coreData(NSPersistentStoreIncompatibleSchemaError, error.message)
    }
    var metadata = document.metadata
    metadata[StoreMetadata.storeTypeKey] = NSInMemoryStoreType
    metadata[StoreMetadata.uuidKey] = document.uuid
    self.init(
      layouts: layouts, type: NSInMemoryStoreType, url: url, identifier: document.uuid,
      configuration: configuration, options: options, metadata: metadata, tables: tables,
      lastKeys: Array(repeating: document.lastKey, count: layouts.rootCount))
  }

  init(
    layouts: StoreLayouts, type: String, url: URL?, identifier: String, configuration: String?,
    options: [AnyHashable: Any]?, metadata: [String: Any], tables: MemoryTables, lastKeys: [Int64],
    document: AtomicStoreDocument? = nil
  ) {
    self.document = document
    contents = Mutex(Contents(tables: tables, lastKeys: lastKeys))
    super.init(
      layouts: layouts, type: type, url: url, identifier: identifier,
      configuration: configuration,
      isReadOnly: options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false, options: options,
      metadata: metadata)
  }

  /// Returns the layouts of a model's entities, numbered as in a new SQLite file.
  static func layouts(
    of model: NSManagedObjectModel, configuration: String?, place: Int
  ) -> StoreLayouts {
    let entities = model.entitiesInNumberingOrder(of: configuration).enumerated().map {
      index, entity in (number: index + 1, description: entity)
    }
    return StoreLayouts(entities, place: place)
  }

  func beginReading() throws -> any StoreReader {
    let commit = commitNumber
    return MemoryReader(store: self, tables: contents.withLock { $0.tables }, commit: commit)
  }

  /// Returns a copy of the tables, whose rows are as fast to access as the row cache's.
  func openGeneration() throws -> StoreGeneration {
    contents.withLock { contents in
      let commit = countCommit()
      let reader = MemoryReader(store: self, tables: contents.tables, commit: commit)
      return StoreGeneration(store: self, commit: commit, reader: reader, sharesCache: false)
    }
  }

  /// No statements: a counter for each root entity.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    contents.withLock { contents in
      for object in objects {
        object.primaryKey = contents.takeKey(rootIndex: object.layout.rootIndex)
      }
    }
  }

  /// In-memory stores have no external data files.
  func externalData(_ file: ExternalFile) throws -> Data {
    throw NSError.store("The store has no external data file '\(file.name)'.")
  }

  /// Writes the whole document of an XML or binary store.
  func saveMetadata() throws {
    guard let document, hasUnsavedMetadata else {
      hasUnsavedMetadata = false
      return
    }
    try contents.withLock { contents in
      try document.write(contents.tables, of: self, lastKey: contents.lastKeys.max() ?? 0) {}
    }
  }

  func close() { markRemoved() }
}
