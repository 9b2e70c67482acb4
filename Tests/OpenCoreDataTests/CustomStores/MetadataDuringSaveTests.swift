import OpenCoreData
import Testing

@Suite("Metadata that's set during a save")
struct MetadataDuringSaveTests {
  @Test("A save writes metadata that was set while it wrote the rows", arguments: [true, false])
  func metadataSetDuringASaveIsWritten(isDocument: Bool) throws {
    let files = try TestStack(model: TestModels.company())
    let model = TestModels.company()
    let entities = model.entitiesByName
    model.setEntities([entities["Employee"]].compactMap { $0 }, forConfigurationName: "Shelf")
    model.setEntities([entities["Department"]].compactMap { $0 }, forConfigurationName: "File")
    let shelf = Shelf()
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let type: NSPersistentStore.StoreType = isDocument ? .xml : .sqlite
    let store = try coordinator.addPersistentStore(
      type: type, configuration: "File", at: files.storeURL)
    try coordinator.addPersistentStore(
      type: ShelfStore.shelfType, configuration: "Shelf", at: URL(fileURLWithPath: "/shelf"),
      options: ["shelf": shelf])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
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
