import ManagedModel

/// One store of a coordinator.
///
/// Apple counterpart: `NSPersistentStore`.
///
/// Made by the coordinator; any thread may read its properties.
public class NSPersistentStore: NSObject, @unchecked Sendable {
  // `metadata` and `url` change under the coordinator's lock alone
  /// `NSSQLiteStoreType`, `NSXMLStoreType`, `NSBinaryStoreType` or `NSInMemoryStoreType`.
  public let type: String
  /// The file; of a store in memory what it was added with, or nil.
  public internal(set) var url: URL?
  /// The store's own identifier, part of each object's URI: `Z_UUID` of a SQLite file, the UUID of a
  /// document, a new one for each store in memory.
  public let identifier: String
  /// Whether saving to it is the error 134030; such a store's file is never changed by a single byte.
  public let isReadOnly: Bool
  /// The model's configuration whose entities it holds; `PF_DEFAULT_CONFIGURATION_NAME` for all.
  public var configurationName: String { configuration ?? "PF_DEFAULT_CONFIGURATION_NAME" }
  /// Nil for all entities.
  let configuration: String?
  /// The options it was added with.
  public let options: [AnyHashable: Any]?
  /// What the store says of itself: version hashes, identifiers, the app's own keys.
  public internal(set) var metadata: [String: Any]
  /// Whether `metadata` differs from what the file says; the next save writes it.
  var hasUnsavedMetadata = false
  /// The coordinator it was added to; nil after it was removed.
  public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// What IDs know the store by.
  let handle: StoreHandle

  init(
    type: String, url: URL?, identifier: String, configuration: String?, isReadOnly: Bool,
    options: [AnyHashable: Any]?, metadata: [String: Any]
  ) {
    self.type = type
    self.configuration = configuration
    self.url = url
    self.identifier = identifier
    self.isReadOnly = isReadOnly
    self.options = options
    self.metadata = metadata
    self.handle = StoreHandle(identifier: identifier)
  }
}
