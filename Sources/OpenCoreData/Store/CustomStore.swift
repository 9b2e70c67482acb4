import ManagedModel
import Synchronization

/// A program's own store, whose class was registered for a type.
protocol CustomStore: CachingStore, StoreBackend {
  init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]?)

  /// Returns the identifier of a store whose metadata has none.
  func newIdentifier(at url: URL) -> String

  /// Loads the contents, after the metadata.
  func loadContents() throws
}

/// The classes of stores that the program has registered, by type.
enum CustomStoreClasses {
  private static let registered = Mutex<[String: any CustomStore.Type]>([:])

  static var byType: [String: AnyClass] {
    registered.withLock { $0 as [String: AnyClass] }
  }

  /// Returns the class for a type; `nil` if none was registered.
  static func `class`(for type: NSPersistentStore.StoreType) -> (any CustomStore.Type)? {
    registered.withLock { $0[type.rawValue] }
  }

  /// Registers a class for a type; `nil` unregisters the type.
  static func register(_ storeClass: AnyClass?, for type: NSPersistentStore.StoreType) {
    let ours: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary, .inMemory]
    guard !ours.contains(type) else {
      fatalError("the store type '\(type.rawValue)' is the framework's own")
    }
    guard let storeClass else { return registered.withLock { $0[type.rawValue] = nil } }
    guard let custom = storeClass as? any CustomStore.Type else {
      fatalError(
        "\(storeClass) isn't a subclass of NSIncrementalStore or NSAtomicStore")
    }
    registered.withLock { $0[type.rawValue] = custom }
  }
}

/// What a store's initializer needs in addition to its parameters, while the coordinator calls it.
struct CustomStoreOpening: Sendable {
  let type: String
  let storeIndex: Int

  @TaskLocal static var current = CustomStoreOpening(type: "", storeIndex: 0)
}

extension CustomStore {
  /// Loads the metadata and checks its version hashes; a store without hashes gets those of the
  /// model.
  ///
  /// - Throws: 134100 if the store was created with another model; the store's own errors.
  func prepareMetadata(for model: NSManagedObjectModel, at url: URL) throws {
    try loadMetadata()
    var values = metadata
    let known = values[NSStoreUUIDKey] as? String
    let identifier = known.flatMap { $0.isEmpty ? nil : $0 } ?? newIdentifier(at: url)
    values[NSStoreUUIDKey] = identifier
    if values[NSStoreTypeKey] == nil { values[NSStoreTypeKey] = type }
    let hashes = values[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    if hashes.isEmpty {
      values[NSStoreModelVersionHashesKey] = model.versionHashes(of: configuration)
    } else if !options.isSet(NSIgnorePersistentStoreVersioningOption),
      !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: values)
    {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleVersionHashError,
        "The store of the type '\(type)' at \(url.relativePath) was created with another model. It isn't "
          + "migrated automatically: its class reads and writes the data.",
        [NSFilePathErrorKey: url.path])
    }
    metadata = values
    handle.rename(identifier)
    noteMetadataSaved()
  }
}
