import ManagedModel

// Stores whose classes the program has registered.

extension NSPersistentStoreCoordinator {
  /// Creates a store of a registered class: its initializer, `loadMetadata()`, then its contents.
  ///
  /// - Throws: The store's own errors; 134100 if its metadata has the version hashes of another model.
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
