import ManagedModel
import Synchronization

/// One store of a coordinator.
///
/// Apple counterpart: `NSPersistentStore`.
///
/// Made by the coordinator; any thread may use its properties.
public class NSPersistentStore: NSObject, @unchecked Sendable {
  // `lock` guards what can be set; `url` changes under the coordinator's lock alone
  /// `NSSQLiteStoreType`, `NSXMLStoreType`, `NSBinaryStoreType` or `NSInMemoryStoreType`.
  public let type: String
  /// The file; of a store in memory what it was added with, or nil.
  public internal(set) var url: URL?
  /// The model's configuration whose entities it holds; `PF_DEFAULT_CONFIGURATION_NAME` for all.
  public var configurationName: String { configuration ?? "PF_DEFAULT_CONFIGURATION_NAME" }
  /// Nil for all entities.
  let configuration: String?
  /// The options it was added with.
  public let options: [AnyHashable: Any]?
  /// The coordinator it was added to; nil after it was removed.
  public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// What IDs know the store by.
  let handle: StoreHandle
  /// Whether it was opened read-only.
  let opensReadOnly: Bool

  private let lock = NSLock()
  private var forbidsSaves: Bool
  private var knownMetadata: [String: Any]
  private var isMetadataUnsaved = false

  init(
    type: String, url: URL?, identifier: String, configuration: String?, isReadOnly: Bool,
    options: [AnyHashable: Any]?, metadata: [String: Any]
  ) {
    self.type = type
    self.configuration = configuration
    self.url = url
    self.opensReadOnly = isReadOnly
    self.forbidsSaves = isReadOnly
    self.options = options
    self.knownMetadata = metadata
    self.handle = StoreHandle(identifier: identifier)
  }

  /// The store's own identifier, part of each object's URI: `Z_UUID` of a SQLite file, the UUID of a
  /// document, a new one for each store in memory.
  ///
  /// Setting it changes the URIs of all object IDs at once; the next save writes it. URIs that were
  /// stored before no longer name an object.
  public final var identifier: String {
    get { handle.identifier }
    set {
      handle.rename(newValue)
      lock.withLock {
        knownMetadata[NSStoreUUIDKey] = newValue
        isMetadataUnsaved = true
      }
    }
  }

  /// Whether saving to the store is the error 134030.
  ///
  /// A store that was opened with `NSReadOnlyPersistentStoreOption` stays read-only: its file is never
  /// changed by a single byte. Any other store can be set to read-only, and back.
  public final var isReadOnly: Bool {
    get { opensReadOnly || lock.withLock { forbidsSaves } }
    set { lock.withLock { forbidsSaves = newValue } }
  }

  /// The store's metadata: type, UUID, version hashes, and the app's own keys.
  ///
  /// Setting it is the same as `setMetadata(_:for:)` of the coordinator: the framework's own keys stay,
  /// and the next save writes it.
  public final var metadata: [String: Any] {
    get { lock.withLock { knownMetadata } }
    set {
      lock.withLock {
        knownMetadata = StoreMetadata.replacing(knownMetadata, with: newValue)
        isMetadataUnsaved = true
      }
    }
  }

  /// Whether `metadata` differs from what the file has; the next save writes it.
  final var hasUnsavedMetadata: Bool {
    get { lock.withLock { isMetadataUnsaved } }
    set { lock.withLock { isMetadataUnsaved = newValue } }
  }

  /// Puts the version hashes of a model in place of the store's; the next save writes them.
  final func updateVersionHashes(_ hashes: [String: Data]) {
    lock.withLock {
      knownMetadata[NSStoreModelVersionHashesKey] = hashes
      knownMetadata[StoreMetadata.digestFormulaKey] = DigestFormula.current.rawValue
      isMetadataUnsaved = true
    }
  }
}

/// What object IDs hold of their store: one for all of them, so that an ID needs no weak reference of
/// its own.
///
/// Outlives the store, whose IDs go on being equal to each other. It finds the store through the
/// coordinator: an object with a weak reference to it is slower to count, and every fault counts the
/// store.
final class StoreHandle: @unchecked Sendable {  // `coordinator` is set before there is an ID
  private let name: Mutex<String>
  private weak var coordinator: NSPersistentStoreCoordinator?

  init(identifier: String) {
    name = Mutex(identifier)
  }

  /// `Z_UUID`.
  var identifier: String { name.withLock { $0 } }

  /// Sets another identifier.
  func rename(_ identifier: String) {
    name.withLock { $0 = identifier }
  }

  /// Says where the store is found from now on.
  func join(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
  }

  /// Nil after the store was removed.
  var store: NSPersistentStore? {
    coordinator?.persistentStores.first { $0.handle === self }
  }
}
