import Dispatch
import ManagedModel

/// The configuration that a container or coordinator uses to open a store.
///
/// Set up by one thread before the stores are loaded. Apple counterpart: the same name.
open class NSPersistentStoreDescription: NSObject, @unchecked Sendable {
  // set up by one thread before the container loads its stores
  /// The type of store, built in or registered; `NSSQLiteStoreType` by default.
  open var type = NSSQLiteStoreType
  /// The file; `/dev/null`, for an in-memory SQLite store, unless changed.
  open var url: URL? = URL(fileURLWithPath: "/dev/null")
  /// The model's configuration whose entities the store contains; `nil` for all entities.
  open var configuration: String?
  /// Whether the store is opened read-only: no file in its folder is modified.
  open var isReadOnly = false
  /// The number of seconds to wait for a locked file.
  open var timeout = NSPersistentStoreDescription.usualTimeout
  /// Whether the store is opened on its own queue, while the caller continues.
  open var shouldAddStoreAsynchronously = false
  /// Whether a store of another version of the model is migrated before it's opened.
  open var shouldMigrateStoreAutomatically = true
  /// Whether the mapping model is inferred if none is found.
  open var shouldInferMappingModelAutomatically = true
  /// The options that were set, with the present values of those that are properties of this class.
  ///
  /// `NSReadOnlyPersistentStoreOption` and `NSPersistentStoreTimeoutOption` are included if they
  /// were set or aren't the default, `NSSQLitePragmasOption` if there are pragmas.
  open var options: [String: Any] {
    var result = given
    result[NSMigratePersistentStoresAutomaticallyOption] = shouldMigrateStoreAutomatically
    result[NSInferMappingModelAutomaticallyOption] = shouldInferMappingModelAutomatically
    if isReadOnly || given[NSReadOnlyPersistentStoreOption] != nil {
      result[NSReadOnlyPersistentStoreOption] = isReadOnly
    }
    if timeout != Self.usualTimeout || given[NSPersistentStoreTimeoutOption] != nil {
      result[NSPersistentStoreTimeoutOption] = timeout
    }
    if !sqlitePragmas.isEmpty { result[NSSQLitePragmasOption] = sqlitePragmas }
    return result
  }
  private var given: [String: Any] = [:]
  private static let usualTimeout: TimeInterval = 10
  /// SQLite pragmas and their values.
  open private(set) var sqlitePragmas: [String: Any] = [:]

  /// Creates a description of the SQLite store in a file.
  public init(url: URL) {
    self.url = url
  }

  /// Creates a description of an in-memory SQLite store at `/dev/null`.
  public override init() {
    super.init()
  }

  /// Sets an option of `addPersistentStore`; `nil` removes it.
  ///
  /// The option of a property of this class also sets the property; `nil` sets its default value.
  open func setOption(_ option: Any?, forKey key: String) {
    given[key] = option
    let single: [AnyHashable: Any]? = option.map { [key: $0] }
    switch key {
    case NSReadOnlyPersistentStoreOption: isReadOnly = single.isSet(key)
    case NSMigratePersistentStoresAutomaticallyOption:
      shouldMigrateStoreAutomatically = single == nil || single.isSet(key)
    case NSInferMappingModelAutomaticallyOption:
      shouldInferMappingModelAutomatically = single == nil || single.isSet(key)
    case NSPersistentStoreTimeoutOption:
      timeout =
        option as? TimeInterval ?? (option as? NSNumber)?.doubleValue
        ?? (option as? Int).map(TimeInterval.init) ?? Self.usualTimeout
    case NSSQLitePragmasOption: sqlitePragmas = option as? [String: Any] ?? [:]
    default: break
    }
  }

  /// Sets a pragma; `nil` removes it.
  open func setValue(_ value: Any?, forPragmaNamed name: String) {
    sqlitePragmas[name] = value
    if sqlitePragmas.isEmpty { given[NSSQLitePragmasOption] = nil }
  }

  /// The options as `addPersistentStore` takes them.
  var storeOptions: [AnyHashable: Any] {
    var result: [AnyHashable: Any] = options
    result[NSReadOnlyPersistentStoreOption] = isReadOnly
    result[NSPersistentStoreTimeoutOption] = timeout
    return result
  }
}

extension NSPersistentStoreDescription: NSCopying {
  /// Returns a copy, which can be changed independently.
  ///
  /// A copy of a subclass is a plain `NSPersistentStoreDescription`.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription()
    copy.type = type
    copy.url = url
    copy.configuration = configuration
    copy.isReadOnly = isReadOnly
    copy.timeout = timeout
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    copy.shouldMigrateStoreAutomatically = shouldMigrateStoreAutomatically
    copy.shouldInferMappingModelAutomatically = shouldInferMappingModelAutomatically
    copy.given = given
    copy.sqlitePragmas = sqlitePragmas
    return copy
  }
}

extension NSPersistentStoreCoordinator {
  /// Opens or creates the store of a description, and calls the block with the result.
  ///
  /// Creates the folder of a writable store of a built-in type. With
  /// `shouldAddStoreAsynchronously`, the store is opened on another queue, where the block is
  /// called too; otherwise both happen before this method returns. **Cost:** as
  /// `addPersistentStore`.
  public func addPersistentStore(
    with description: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    add(description) { result in
      switch result {
      case .success: block(description, nil)
      case .failure(let error): block(description, error)
      }
    }
  }

  /// Opens or creates the store of a description, and calls the block with the store.
  func add(
    _ description: NSPersistentStoreDescription,
    then block: @escaping (Result<NSPersistentStore, NSError>) -> Void
  ) {
    // As in Core Data: a block for another queue may run there.
    nonisolated(unsafe) let block = block
    let work: @Sendable () -> Void = { [self] in
      do {
        block(.success(try open(description)))
      } catch {
        block(.failure(error as NSError))
      }
    }
    if description.shouldAddStoreAsynchronously {
      DispatchQueue.global().async(execute: work)
    } else {
      work()
    }
  }

  private func open(_ description: NSPersistentStoreDescription) throws -> NSPersistentStore {
    // A program's own store decides what its URL is.
    let type = NSPersistentStore.StoreType(rawValue: description.type)
    let isFile = type != .inMemory && CustomStoreClasses.class(for: type) == nil
    if isFile, !description.isReadOnly, let folder = description.url?.deletingLastPathComponent() {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    return try addPersistentStore(
      ofType: description.type, configurationName: description.configuration, at: description.url,
      options: description.storeOptions)
  }
}
