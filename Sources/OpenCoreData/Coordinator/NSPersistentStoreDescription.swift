import Dispatch
import ManagedModel

/// What a container or coordinator needs to know to open a store.
///
/// Set up by one thread before the stores are loaded. Apple counterpart: the same name.
open class NSPersistentStoreDescription: NSObject, @unchecked Sendable {
  // set up by one thread before the container loads its stores
  /// The type of store; `NSSQLiteStoreType` by default.
  open var type = NSSQLiteStoreType
  /// The file; `/dev/null`, where a SQLite store is kept in memory, unless changed.
  open var url: URL? = URL(fileURLWithPath: "/dev/null")
  /// The model's configuration whose entities the store holds; nil is all entities.
  open var configuration: String?
  /// Whether the store is only looked at: not a byte in its folder changes.
  open var isReadOnly = false
  /// Seconds to wait for a locked file.
  open var timeout: TimeInterval = 10
  /// Whether the store is opened on a queue of its own, and the caller goes on meanwhile.
  open var shouldAddStoreAsynchronously = false
  /// Whether a store of another model version may be migrated; kept, and without effect so far.
  open var shouldMigrateStoreAutomatically = true
  /// Whether the mapping for that may be inferred; kept, and without effect so far.
  open var shouldInferMappingModelAutomatically = true
  /// Further options.
  open private(set) var options: [String: Any] = [:]
  /// SQLite pragmas and their values.
  open private(set) var sqlitePragmas: [String: Any] = [:]

  /// A description of the SQLite store in that file.
  public init(url: URL) {
    self.url = url
  }

  /// A description of a SQLite store at `/dev/null`, which is kept in memory.
  public override init() {
    super.init()
  }

  /// Sets an option of `addPersistentStore`; nil takes it away.
  open func setOption(_ option: Any?, forKey key: String) {
    options[key] = option
  }

  /// Sets a pragma; nil takes it away.
  open func setValue(_ value: Any?, forPragmaNamed name: String) {
    sqlitePragmas[name] = value
  }

  /// The options as `addPersistentStore` takes them.
  var storeOptions: [AnyHashable: Any] {
    var result: [AnyHashable: Any] = options
    result[NSReadOnlyPersistentStoreOption] = isReadOnly
    result[NSPersistentStoreTimeoutOption] = timeout
    if !sqlitePragmas.isEmpty { result[NSSQLitePragmasOption] = sqlitePragmas }
    return result
  }
}

extension NSPersistentStoreCoordinator {
  /// Opens or creates the store that a description describes, and tells how that went.
  ///
  /// Makes the folder of a store that may be written. With `shouldAddStoreAsynchronously` the store is
  /// opened on another queue, on which the block is called too; otherwise both happen before this
  /// returns. Cost: as `addPersistentStore`.
  public func addPersistentStore(
    with description: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    // As Apple's: whoever asks for another queue gives a block that may run there.
    nonisolated(unsafe) let block = block
    let work: @Sendable () -> Void = { [self] in
      do {
        try add(description)
        block(description, nil)
      } catch {
        block(description, error as NSError)
      }
    }
    if description.shouldAddStoreAsynchronously {
      DispatchQueue.global().async(execute: work)
    } else {
      work()
    }
  }

  private func add(_ description: NSPersistentStoreDescription) throws {
    let isFile = description.type != NSInMemoryStoreType
    if isFile, !description.isReadOnly, let folder = description.url?.deletingLastPathComponent() {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    try addPersistentStore(
      ofType: description.type, configurationName: description.configuration, at: description.url,
      options: description.storeOptions)
  }
}
