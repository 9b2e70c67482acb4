import OpenCoreData
import Testing

@Suite("Metadata that's set during a save")
struct MetadataDuringSaveTests {
  @Test("A save writes metadata that was set while it wrote the rows", arguments: [true, false])
  func metadataSetDuringASaveIsWritten(isDocument: Bool) throws {
    let files = try TestStack(model: TestModels.company())
    let shelf = Shelf()
    let type: NSPersistentStore.StoreType = isDocument ? .xml : .sqlite
    let context = try Shelf.context(beside: files.storeURL, type, shelf)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    // The shelf is saved when the file is complete.
    shelf.duringSave = { _, _ in coordinator.setMetadata(["key": "new"], for: store) }
    try context.performAndWait {
      _ = context.make("Department")
      _ = context.make("Employee")
      try context.save()
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: type, at: files.storeURL)
    #expect(metadata["key"] as? String == "new")
  }
}
