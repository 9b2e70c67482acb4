import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Metadata of a store that others write, too")
struct SharedMetadataTests {
  private func onDisk(_ stack: TestStack) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.storeURL)
  }

  @Test(
    "A save of metadata keeps what others have written since the store was opened",
    arguments: [true, false])
  func savedMetadataKeepsWhatOthersWrote(hasRows: Bool) throws {
    let stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext()
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    store.metadata = ["mine": 1, "removed": 1, "theirs": "old"]
    try context.performAndWait { try context.save() }

    // Another process sets keys, and leaves work of a migration.
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    defer { connection.close() }
    var other = try StoreMetadata(reading: connection)
    other.values["theirs"] = "new"
    other.values["added"] = true
    other.values[StoreMetadata.preservedAttributesKey] = ["Tag": ["name"]]
    var work = DeferredWork()
    work.tables = ["ZOLD"]
    work.write(to: &other.values)
    try other.write(to: connection)

    var values = store.metadata
    values["mine"] = 2
    values["removed"] = nil
    store.metadata = values
    try context.performAndWait {
      if hasRows { _ = context.make("Tag", ["name": "a"]) }
      try context.save()
    }
    for metadata in [try onDisk(stack), store.metadata] {
      #expect(metadata["mine"] as? Int == 2)
      #expect(metadata["removed"] == nil)
      #expect(metadata["theirs"] as? String == "new")
      #expect(metadata["added"] as? Bool == true)
      #expect(DeferredWork(metadata).tables == ["ZOLD"])
      #expect(
        metadata[StoreMetadata.preservedAttributesKey] as? [String: [String]]
          == ["Tag": ["name"]])
    }
    #expect(try onDisk(stack)[NSStoreUUIDKey] as? String == store.identifier)
    #expect(!store.hasUnsavedMetadata)
  }

  @Test("A failed save of metadata is repeated by the next one, with what others wrote meanwhile")
  func failedSaveOfMetadataIsRepeated() throws {
    let stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext(options: [NSPersistentStoreTimeoutOption: 0])
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    store.metadata = ["mine": 1]
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    defer { connection.close() }
    try connection.execute("BEGIN IMMEDIATE")
    let error = thrownError { try context.performAndWait { try context.save() } }
    #expect(error != nil && store.hasUnsavedMetadata)
    var other = try StoreMetadata(reading: connection)
    other.values["theirs"] = 2
    try other.write(to: connection)
    try connection.execute("COMMIT")
    try context.performAndWait { try context.save() }
    let metadata = try onDisk(stack)
    #expect(metadata["mine"] as? Int == 1 && metadata["theirs"] as? Int == 2)
  }
}
