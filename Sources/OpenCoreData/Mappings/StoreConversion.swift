import ManagedModel
import SQLiteDriver
import Synchronization

/// The conversion of a store to another type: its saved objects are copied one by one.
///
/// Unsaved changes of contexts stay in their contexts. Persistent history isn't copied.
struct StoreConversion {
  let store: RowStore
  let model: NSManagedObjectModel
  /// The new store.
  let url: URL?
  let type: NSPersistentStore.StoreType
  let options: [AnyHashable: Any]?

  /// The keys of an object in both stores.
  struct Pair {
    let entity: String
    let former: Int64
    let new: Int64
  }

  /// The contents of a new in-memory store, and the keys of all objects.
  struct Result {
    let document: StoreDocument?
    let pairs: [Pair]
  }

  /// Writes the new store; for an in-memory store, returns its contents.
  ///
  /// Cost: memory for the objects of a document or in-memory store; otherwise as a mapped migration.
  /// - Throws: 134150 or 134160 if one of the stores can't be used; the file system's errors. There's no new
  ///   store then.
  func run() throws -> Result {
    // Those of conversions whose process was killed.
    TemporaryFolders.removeLeftBehind()
    let path: String
    do throws(SQLiteError) {
      path = try TemporaryFolders.make()
    } catch {
      throw NSError.coreData(
        CocoaError.Code.fileWriteOutOfSpace.rawValue,
        "The store can't be copied: \(error.message). Free some space, or set TMPDIR to a folder that has some."
      )
    }
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    defer { TemporaryFolders.remove(path) }
    guard let memory = store as? MemoryStore else {
      return try convertDatabase(in: folder)
    }
    var (document, pairs) = memory.numberedDocument()
    guard type == .sqlite else {
      document.metadata = StoreMetadata.converted(document.metadata, to: type)
      if let url, let form = AtomicStoreForm(type) {
        _ = try AtomicStoreFile(url: url, form: form).create(document)
      }
      return Result(document: AtomicStoreForm(type) == nil ? document : nil, pairs: pairs)
    }
    guard let url else { throw NSError.store("A SQLite store needs the URL of a file.") }
    let file = folder.appendingPathComponent("Store.binary")
    document.metadata = StoreMetadata.converted(document.metadata, to: .binary)
    _ = try AtomicStoreFile(url: file, form: .binary).create(document)
    let keys = Dictionary(
      try copy(file, .binary, to: url, as: .sqlite).map { ("\($0.entity) \($0.former)", $0.new) },
      uniquingKeysWith: { first, _ in first })
    return Result(
      document: nil,
      pairs: pairs.compactMap { pair in
        keys["\(pair.entity) \(pair.new)"].map {
          Pair(entity: pair.entity, former: pair.former, new: $0)
        }
      })
  }

  private func convertDatabase(in folder: URL) throws -> Result {
    guard let sqlite = store as? SQLiteStore, let source = sqlite.url else {
      throw NSError.store("The store \(store) can't be copied.")
    }
    let file = folder.appendingPathComponent("Store.sqlite")
    try sqlite.copyFiles(from: source, to: file)
    if let url, AtomicStoreForm(type) != nil {
      return Result(document: nil, pairs: try copy(file, .sqlite, to: url, as: type))
    }
    let document = folder.appendingPathComponent("Store.binary")
    let pairs = try copy(file, .sqlite, to: document, as: .binary)
    return Result(
      document: try AtomicStoreFile(url: document, form: .binary).read().document, pairs: pairs)
  }
}

extension StoreConversion {
  /// Copies a file to the new store's URL, or to a document for an in-memory store.
  private func copy(
    _ source: URL, _ sourceType: NSPersistentStore.StoreType, to destination: URL,
    as destinationType: NSPersistentStore.StoreType
  ) throws -> [Pair] {
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: model, destinationModel: model)
    let stored = Set(
      (model.entities(forConfigurationName: store.configuration) ?? []).compactMap(\.name))
    mapping.entityMappings.removeAll { !stored.contains($0.sourceEntityName ?? "") }
    let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
    manager.configuration = store.configuration
    let temporary = TemporaryStore(replacing: destination)
    defer { temporary.remove() }
    let new = temporary.url
    try manager.convertStore(
      at: source, sourceType, mapping: mapping, to: new,
      destinationType, options)
    if destinationType == .sqlite {
      try StoreFile.move(from: new, to: destination)
    } else if rename(new.path, destination.path) != 0 {
      throw NSError.file(destination.path, "replaced", errno)
    }
    return mapping.entityMappings.flatMap { mapping in
      let known = manager.associations(of: mapping)
      return zip(known.sources(in: 0..<known.count), known.destinations(in: 0..<known.count))
        .map { former, new in
          Pair(
            entity: new.layout.entity.name ?? "", former: former.primaryKey, new: new.primaryKey)
        }
    }
  }
}

extension StoreMetadata {
  /// Returns the metadata of a store of another type with the same contents.
  fileprivate static func converted(
    _ values: [String: Any], to type: NSPersistentStore.StoreType
  ) -> [String: Any] {
    var result = values
    result[storeTypeKey] = type.rawValue
    result[uuidKey] = nil
    result[autoVacuumKey] = nil
    return result
  }
}

extension MemoryStore {
  /// Returns the saved objects as a document, in which a key is used once.
  ///
  /// The objects of an in-memory store get new keys; those of a document keep theirs.
  fileprivate func numberedDocument() -> (StoreDocument, [StoreConversion.Pair]) {
    let (tables, lastKeys) = contents.withLock { ($0.tables, $0.lastKeys) }
    var document = StoreDocument(
      uuid: identifier, metadata: metadata, lastKey: lastKeys.max() ?? 0, tables: tables)
    let isNumbered = lastKeys.count == 1
    var keys: [String: Int64] = [:]
    for (index, object) in document.objects.enumerated() {
      let new = isNumbered ? object.key : Int64(index + 1)
      keys["\(root(object.entity)) \(object.key)"] = new
    }
    let pairs = document.objects.compactMap { object in
      keys["\(root(object.entity)) \(object.key)"].map {
        StoreConversion.Pair(entity: object.entity, former: object.key, new: $0)
      }
    }
    guard !isNumbered else { return (document, pairs) }
    document.uuid = UUID().uuidString
    document.lastKey = Int64(document.objects.count)
    document.objects = zip(document.objects, pairs).map { object, pair in
      var copy = StoreDocument.Object(entity: object.entity, key: pair.new)
      copy.attributes = object.attributes
      copy.relationships = object.relationships.map { relationship in
        let root = root(relationship.destination)
        return StoreDocument.Relationship(
          name: relationship.name, isToMany: relationship.isToMany,
          destination: relationship.destination,
          keys: relationship.keys.compactMap { keys["\(root) \($0)"] })
      }
      return copy
    }
    return (document, pairs)
  }

  private func root(_ entity: String) -> Int {
    layouts.byName[entity]?.rootIndex ?? -1
  }
}
