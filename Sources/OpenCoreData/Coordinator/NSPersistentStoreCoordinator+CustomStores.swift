import ManagedModel

// Stores whose classes the program has registered.

extension NSPersistentStoreCoordinator {
  /// The classes of stores by their types, including those that the program has registered.
  ///
  /// Core Data wraps each class in an `NSValue`.
  public class var registeredStoreTypes: [String: AnyClass] {
    let builtIn: [String: AnyClass] = [
      NSSQLiteStoreType: SQLiteStore.self, NSXMLStoreType: MemoryStore.self,
      NSBinaryStoreType: MemoryStore.self, NSInMemoryStoreType: MemoryStore.self,
    ]
    return builtIn.merging(CustomStoreClasses.byType) { builtIn, _ in builtIn }
  }

  /// Registers the class of a program's own store for a type, so that stores of the type can be
  /// added; for all coordinators, from any thread.
  ///
  /// A class that was registered for the type before is replaced. It's a programmer error to pass a
  /// class that isn't a subclass of `NSIncrementalStore` or `NSAtomicStore`, or a type of the
  /// framework.
  public class func registerStoreClass(_ storeClass: AnyClass, type: NSPersistentStore.StoreType) {
    CustomStoreClasses.register(storeClass, for: type)
  }

  /// Registers a store class; calls `registerStoreClass(_:type:)`.
  ///
  /// If the class is `nil`, the type is unregistered.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    CustomStoreClasses.register(
      storeClass, for: NSPersistentStore.StoreType(rawValue: storeType))
  }

  /// Creates a store of a registered class: its initializer, `loadMetadata()`, then its contents.
  ///
  /// - Throws: The store's own errors; 134100 if its metadata has the version hashes of another
  ///   model.
  func openCustom(
    _ storeClass: any CustomStore.Type, _ type: NSPersistentStore.StoreType,
    _ configuration: String?, at url: URL?, options: [AnyHashable: Any]?, storeIndex: Int
  ) throws -> RowStore {
    let url = url ?? URL(fileURLWithPath: "/dev/null")
    let opening = CustomStoreOpening(type: type.rawValue, storeIndex: storeIndex)
    let store = CustomStoreOpening.$current.withValue(opening) {
      storeClass.init(
        persistentStoreCoordinator: self, configurationName: configuration, at: url,
        options: options)
    }
    try store.prepareMetadata(for: managedObjectModel, at: url)
    try store.loadContents()
    return store
  }
}
