import OpenCoreData
import Testing

@Suite("Documents that are saved together with a program's own store")
struct DocumentWriteTests {
  /// A model whose departments are in a file, and whose employees are in a shelf.
  private static func model() -> NSManagedObjectModel {
    let model = TestModels.company()
    let entities = model.entitiesByName
    model.setEntities([entities["Employee"]].compactMap { $0 }, forConfigurationName: "Shelf")
    model.setEntities([entities["Department"]].compactMap { $0 }, forConfigurationName: "File")
    return model
  }

  /// A context of a new coordinator with the file, and with a shelf if there's one.
  private func context(_ file: URL, _ shelf: Shelf? = nil) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(type: .xml, configuration: "File", at: file)
    if let shelf {
      NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
      try coordinator.addPersistentStore(
        type: ShelfStore.shelfType, configuration: "Shelf", at: URL(fileURLWithPath: "/shelf"),
        options: ["shelf": shelf])
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("A document that another coordinator saves while it's written isn't overwritten")
  func documentSavedMeanwhileIsNotOverwritten() throws {
    let files = try TestStack(model: TestModels.company())
    let shelf = Shelf()
    let mine = try context(files.storeURL, shelf)
    let other = try context(files.storeURL)
    shelf.duringSave = { _, _ in
      other.performAndWait {
        _ = other.make("Department", ["name": "theirs"])
        #expect(other.saveError() == nil)
      }
    }
    mine.performAndWait {
      _ = mine.make("Department", ["name": "mine"])
      _ = mine.make("Employee", ["name": "E"])
      let error = mine.saveError()
      #expect(error?.code == NSPersistentStoreSaveError)
      #expect(error?.localizedDescription.contains("modified by another process") == true)
      #expect(mine.insertedObjects.map(\.entity.name) == ["Department"])
    }
    let reader = try context(files.storeURL)
    let names = try reader.performAndWait {
      try reader.everyObject(of: "Department").map { $0.value(forKey: "name") as? String }
    }
    #expect(names == ["theirs"])
    withExtendedLifetime(files) {}
  }
}
