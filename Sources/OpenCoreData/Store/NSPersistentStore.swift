import ManagedModel
import ProfileEvents
import Synchronization

/// A store of a coordinator.
///
/// Apple counterpart: `NSPersistentStore`.
///
/// Created by the coordinator; any thread may use its properties. A program's own stores are
/// subclasses of `NSIncrementalStore` or `NSAtomicStore`.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  // `lock` guards what can be set
  /// `NSSQLiteStoreType`, `NSXMLStoreType`, `NSBinaryStoreType`, `NSInMemoryStoreType`, or the type
  /// that the store's class was registered for.
  open var type: String { storeType }
  private let storeType: String
  /// The file; for an in-memory store, the URL it was added with, or `nil`.
  public internal(set) final var url: URL? {
    get { lock.withLock { location } }
    set { lock.withLock { location = newValue } }
  }
  private var location: URL?
  /// The model's configuration whose entities it contains; `PF_DEFAULT_CONFIGURATION_NAME` for all.
  public var configurationName: String {
    configuration ?? NSManagedObjectModel.defaultConfigurationName
  }
  /// `nil` for all entities.
  let configuration: String?
  /// The options it was added with.
  public let options: [AnyHashable: Any]?
  /// The coordinator it was added to; `nil` after it was removed.
  public internal(set) final var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { lock.withLock { owner } }
    set { lock.withLock { owner = newValue } }
  }
  private weak var owner: NSPersistentStoreCoordinator?

  /// The handle through which object IDs refer to the store.
  let handle: StoreHandle
  /// Whether it was opened read-only.
  let opensReadOnly: Bool

  private let lock = NSLock()
  private var forbidsSaves: Bool
  private var knownMetadata: [String: Any]
  /// The metadata that the file had when it was last read or written.
  private var fileMetadata: [String: Any]
  /// What an open transaction has written: the metadata at that time, and the file's with it.
  private var writtenMetadata: (own: [String: Any], file: [String: Any])?
  /// The number of changes to the metadata, and the number of those that were written.
  private var metadataChanges = 0
  private var savedMetadataChanges = 0

  init(
    type: String, url: URL?, identifier: String, configuration: String?, isReadOnly: Bool,
    options: [AnyHashable: Any]?, metadata: [String: Any], references: ObjectReferences? = nil,
    handle: StoreHandle? = nil
  ) {
    self.storeType = type
    self.configuration = configuration
    self.location = url
    self.opensReadOnly = isReadOnly
    self.forbidsSaves = isReadOnly
    self.options = options
    self.knownMetadata = metadata
    self.fileMetadata = metadata
    self.handle = handle ?? StoreHandle(identifier: identifier, references: references)
  }

  /// The store's identifier, part of each object's URI: `Z_UUID` of a SQLite file, the UUID of a
  /// document, a new one for each in-memory store.
  ///
  /// Setting it changes the URIs of all object IDs immediately; the next save writes it. URIs that
  /// were stored before no longer refer to an object. It's a programmer error to set it to an empty
  /// string.
  open var identifier: String {
    get { handle.identifier }
    set {
      guard !newValue.isEmpty else { fatalError("a store's identifier can't be empty") }
      handle.rename(newValue)
      lock.withLock {
        knownMetadata[NSStoreUUIDKey] = newValue
        metadataChanges += 1
      }
    }
  }

  /// Whether saving to the store throws error 134030.
  ///
  /// A store that was opened with `NSReadOnlyPersistentStoreOption` stays read-only: its files are
  /// never modified. Any other store can be set to read-only, and back.
  public final var isReadOnly: Bool {
    get { opensReadOnly || lock.withLock { forbidsSaves } }
    set { lock.withLock { forbidsSaves = newValue } }
  }

  /// The store's metadata: type, UUID, version hashes, and the app's own keys.
  ///
  /// Setting it is the same as `setMetadata(_:for:)` of the coordinator: the framework's own keys
  /// are kept, and the next save writes it.
  open var metadata: [String: Any] {
    get { lock.withLock { knownMetadata } }
    set {
      lock.withLock {
        knownMetadata = StoreMetadata.replacing(knownMetadata, with: newValue)
        metadataChanges += 1
      }
    }
  }

  /// Replaces the metadata with that of a program's own store, including its UUID.
  final func adopt(metadata: [String: Any]) {
    if let identifier = metadata[NSStoreUUIDKey] as? String { handle.rename(identifier) }
    lock.withLock {
      knownMetadata = metadata
      metadataChanges += 1
    }
  }

  /// Whether `metadata` differs from the file; the next save writes it.
  final var hasUnsavedMetadata: Bool {
    lock.withLock { metadataChanges != savedMetadataChanges }
  }

  /// Notes that the present metadata is in the store.
  ///
  /// A program's own store may set it while it writes it.
  final func noteMetadataSaved() {
    lock.withLock { savedMetadataChanges = metadataChanges }
  }

  /// Runs a body that writes the metadata, unless it throws.
  ///
  /// Another thread may set the metadata in the meantime: the next save writes it then.
  final func savingMetadata<R>(_ body: () throws -> R) rethrows -> R {
    let changes = lock.withLock { () -> Int in
      writtenMetadata = nil
      return metadataChanges
    }
    let result = try body()
    lock.withLock {
      savedMetadataChanges = max(savedMetadataChanges, changes)
      guard let written = writtenMetadata else { return }
      writtenMetadata = nil
      var file = written.file
      // Object IDs have the identifier that the store was opened with, or that was set here.
      file[NSStoreUUIDKey] = written.own[NSStoreUUIDKey]
      knownMetadata = StoreMetadata.merging(knownMetadata, changedFrom: written.own, into: file)
      fileMetadata = file
    }
    return result
  }

  /// Returns a file's metadata with what was changed here since it was last read or written.
  ///
  /// - Parameter file: The file's metadata; `nil` if it can't be read.
  final func mergedMetadata(into file: [String: Any]?) -> [String: Any] {
    lock.withLock { merged(into: file) }
  }

  private func merged(into file: [String: Any]?) -> [String: Any] {
    guard let file else { return knownMetadata }
    return StoreMetadata.merging(knownMetadata, changedFrom: fileMetadata, into: file)
  }

  /// Returns the metadata that the body of `savingMetadata` writes.
  ///
  /// - Parameter file: The file's metadata in the open transaction; `nil` if it can't be read.
  final func metadataToSave(into file: [String: Any]?) -> [String: Any] {
    lock.withLock { () -> [String: Any] in
      let merged = merged(into: file)
      writtenMetadata = (own: knownMetadata, file: merged)
      return merged
    }
  }

  /// Loads the metadata of a program's own store; called when the store is added.
  ///
  /// Apple counterpart: the same. `NSIncrementalStore` requires an override.
  open func loadMetadata() throws {}

  /// Called after the store was added to a coordinator; does nothing by default.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// Called before the store is removed from a coordinator; does nothing by default.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  /// Returns the metadata of a store file, as it is on disk.
  ///
  /// The same as the coordinator's `metadataForPersistentStore(type:at:)` for SQLite; a program's
  /// own store overrides it.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
  }

  /// Writes the metadata of a store file immediately.
  ///
  /// The same as the coordinator's `setMetadata(_:type:at:)` for SQLite; a program's own store
  /// overrides it.
  open class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
  }

  /// Replaces values that are already in the file.
  final func updateStoredMetadata(_ change: (inout [String: Any]) -> Void) {
    lock.withLock {
      change(&knownMetadata)
      change(&fileMetadata)
    }
  }

  /// Replaces the store's version hashes with those of a model; the next save writes them.
  final func updateVersionHashes(_ hashes: [String: Data]) {
    lock.withLock {
      knownMetadata[NSStoreModelVersionHashesKey] = hashes
      knownMetadata[StoreMetadata.hashesDigestKey] = StoreMetadata.digest(of: hashes)
      knownMetadata[StoreMetadata.digestFormulaKey] = DigestFormula.current.rawValue
      metadataChanges += 1
    }
  }
}

/// The reference from object IDs to their store: one for all of them, so that an ID needs no weak
/// reference of its own.
///
/// Outlives the store, whose IDs remain equal to each other. It finds the store through the
/// coordinator: retaining an object that has weak references is slower, and every fault retains the
/// store.
final class StoreHandle: @unchecked Sendable {  // `coordinator` is set before there is an ID
  private let name: Mutex<Name>
  private weak var coordinator: NSPersistentStoreCoordinator?
  /// The reference objects of a program's own store; `nil` for stores with primary keys.
  let references: ObjectReferences?

  private struct Name {
    var identifier: String
    /// The entities that events have referred to, by their index in the model.
    var entities: [StoreEntity?] = []
  }

  init(identifier: String, references: ObjectReferences? = nil) {
    name = Mutex(Name(identifier: identifier))
    self.references = references
  }

  /// `Z_UUID`.
  var identifier: String { name.withLock { $0.identifier } }

  /// Sets a new identifier.
  func rename(_ identifier: String) {
    name.withLock { $0 = Name(identifier: identifier) }
  }

  /// Returns what the references of events to objects of an entity have in common.
  func entity(_ layout: EntityLayout) -> StoreEntity {
    name.withLock { name in
      let index = layout.modelIndex
      if index < name.entities.count, let known = name.entities[index] { return known }
      while name.entities.count <= index { name.entities.append(nil) }
      let entity = StoreEntity(store: name.identifier, entity: layout.entityName)
      name.entities[index] = entity
      return entity
    }
  }

  /// Sets the coordinator through which the store is found.
  func join(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
  }

  /// The store; `nil` after it was removed.
  var store: NSPersistentStore? {
    coordinator?.persistentStores.first { $0.handle === self }
  }
}

extension NSPersistentStore {
  /// A type of store.
  ///
  /// Apple counterpart: `NSPersistentStore.StoreType`.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// Core Data's name of the type.
    public let rawValue: String

    /// Creates a type from Core Data's name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A SQLite file in Core Data's format.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)

    /// One XML document, read as a whole when the store is added and written as a whole by each
    /// save.
    public static let xml = StoreType(rawValue: NSXMLStoreType)

    /// One binary document, read as a whole when the store is added and written as a whole by each
    /// save.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)

    /// Rows in the memory of the process, discarded with the store.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
  }
}
