import ManagedModel

/// What a container needs to know to open a store.
///
/// Apple counterpart: the same name.
open class NSPersistentStoreDescription: NSObject, @unchecked Sendable {
  // set up by one thread before the container loads its stores
  /// The type of store; SQLite by default.
  open var type = NSSQLiteStoreType
  /// The file.
  open var url: URL?
  /// Whether the store is only looked at.
  open var isReadOnly = false
  /// Seconds to wait for a locked file.
  open var timeout: TimeInterval = 10
  /// Further options.
  open private(set) var options: [String: Any] = [:]
  /// SQLite pragmas and their values.
  open private(set) var sqlitePragmas: [String: Any] = [:]

  /// A description of the SQLite store in that file.
  public init(url: URL) {
    self.url = url
  }

  /// Sets an option; nil takes it away.
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
