import Dispatch
import ManagedModel

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
