import OpenCoreData
import Testing

@Suite("Documents that are saved together with a program's own store")
struct DocumentWriteTests {
  @Test("A document that another coordinator saves while it's written isn't overwritten")
  func documentSavedMeanwhileIsNotOverwritten() throws {
    let files = try TestStack(model: TestModels.company())
    let shelf = Shelf()
    let mine = try Shelf.context(beside: files.storeURL, .xml, shelf)
    let other = try Shelf.context(beside: files.storeURL, .xml, nil)
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
    let reader = try Shelf.context(beside: files.storeURL, .xml, nil)
    let names = try reader.performAndWait {
      try reader.everyObject(of: "Department").map { $0.value(forKey: "name") as? String }
    }
    #expect(names == ["theirs"])
    withExtendedLifetime(files) {}
  }

  @Test("A program's own store can't save to a document that the same save changes")
  func documentOfTheSameSaveIsNotSaved() throws {
    let files = try TestStack(model: TestModels.company())
    let shelf = Shelf()
    let outer = try Shelf.context(beside: files.storeURL, .xml, shelf)
    let inner = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    inner.persistentStoreCoordinator = outer.persistentStoreCoordinator
    shelf.duringSave = { _, _ in
      inner.performAndWait {
        _ = inner.make("Department", ["name": "inner"])
        #expect(inner.saveError()?.code == NSPersistentStoreOperationError)
      }
    }
    try outer.performAndWait {
      _ = outer.make("Department", ["name": "outer"])
      _ = outer.make("Employee", ["name": "E"])
      try outer.save()
    }
    shelf.duringSave = nil
    try inner.performAndWait { try inner.save() }
    let reader = try Shelf.context(beside: files.storeURL, .xml, nil)
    let names = try reader.performAndWait {
      try reader.everyObject(of: "Department").compactMap { $0.value(forKey: "name") as? String }
    }
    #expect(names.sorted() == ["inner", "outer"])
    withExtendedLifetime(files) {}
  }
}
