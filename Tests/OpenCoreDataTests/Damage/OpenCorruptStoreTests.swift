import OpenCoreData
import Testing

@Suite("Corrupt stores that are open")
struct OpenCorruptStoreTests {
  private let stack: TestStack

  init() throws {
    stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext()
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        .setValue("one", forKey: "name")
      try context.save()
    }
    // The last connection writes the WAL to the database.
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    try context.persistentStoreCoordinator?.remove(store)
  }

  /// Overwrites the beginning of the schema, or removes the last pages.
  private func corrupt(_ kind: String) throws {
    let file = try FileHandle(forUpdating: stack.storeURL)
    defer { try? file.close() }
    if kind == "schema" {
      try file.seek(toOffset: 100)
      try file.write(contentsOf: Data(repeating: 0xEE, count: 40))
    } else {
      try file.truncate(atOffset: 8_192)
    }
  }

  @Test(
    "A corrupt store that's open elsewhere is destroyed only if that's forced",
    arguments: ["schema", "truncated"], [true, false])
  func openCorruptStoreIsKept(kind: String, isForced: Bool) throws {
    let user = try stack.coldContext()
    let count = try user.performAndWait {
      try user.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag"))
    }
    #expect(count == 1)
    try corrupt(kind)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    func destroy() throws {
      try coordinator.destroyPersistentStore(
        at: stack.storeURL, type: .sqlite,
        options: [NSPersistentStoreForceDestroyOption: isForced])
    }
    if !isForced {
      let error = #expect(throws: NSError.self) { try destroy() }
      #expect(error?.code == NSPersistentStoreOperationError)
      #expect(FileManager.default.fileExists(atPath: stack.storeURL.path))
      let store = try #require(user.persistentStoreCoordinator?.persistentStores.first)
      try user.persistentStoreCoordinator?.remove(store)
    }
    try destroy()
    #expect(!FileManager.default.fileExists(atPath: stack.storeURL.path))
    withExtendedLifetime(user) {}
  }
}
