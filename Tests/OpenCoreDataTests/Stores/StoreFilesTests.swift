import Testing

@testable import OpenCoreData
@testable import SQLiteDriver

@Suite("Adding, moving, replacing, and destroying stores")
struct StoreFilesTests {
  private func addTag(_ name: String, to stack: TestStack) throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        .setValue(name, forKey: "name")
      try context.save()
    }
  }

  private func names(in context: NSManagedObjectContext) throws -> [String] {
    try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        .compactMap { $0.value(forKey: "name") as? String }.sorted()
    }
  }

  @Test("S3.01 S-A01 S-A02 an empty path gets the model's tables once; an existing file is opened")
  func storesAreCreatedOnce() throws {
    let stack = try TestStack(model: SchemaModels.library())
    #expect(try names(in: stack.coldContext()) == [])
    let tables = try Connection(path: stack.storeURL.path, access: .inspecting)
      .values("SELECT name FROM sqlite_master WHERE name IN ('ZTAG', 'Z_METADATA') ORDER BY name")
    #expect(tables == [[.text("ZTAG")], [.text("Z_METADATA")]])
    try addTag("one", to: stack)
    let before = try Connection(path: stack.storeURL.path, access: .inspecting)
      .values("PRAGMA schema_version")
    #expect(try names(in: stack.coldContext()) == ["one"])
    let after = try Connection(path: stack.storeURL.path, access: .inspecting)
      .values("PRAGMA schema_version")
    #expect(before == after, "no table is re-created")
  }

  @Test("S-A03 S4.17 another model is rejected, and the file doesn't change")
  func anotherModelIsRejectedWithoutChangingTheFile() throws {
    let stack = try TestStack(model: SchemaModels.library())
    try addTag("one", to: stack)
    let bytes = try Data(contentsOf: stack.storeURL)
    let other = NSManagedObjectModel()
    other.entities = [
      SchemaModels.entity("Tag", [SchemaModels.attribute("title", .stringAttributeType)])
    ]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
    let error = try #require(throws: NSError.self) {
      try coordinator.addPersistentStore(type: .sqlite, at: stack.storeURL)
    }
    #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(try Data(contentsOf: stack.storeURL) == bytes)
  }

  @Test("S-H05 S-H06 metadata set on an instance is saved by a context; on the class, immediately")
  func instanceMetadataIsSavedByAContextAndClassMetadataImmediately() throws {
    let stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    func onDisk() throws -> [String: Any] {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: stack.storeURL)
    }
    let original = coordinator.metadata(for: store)
    #expect(original[NSStoreUUIDKey] as? String == store.identifier)
    #expect(original[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    coordinator.setMetadata(["imported": 1, NSStoreUUIDKey: "x"], for: store)
    #expect(coordinator.metadata(for: store)["imported"] as? Int == 1)
    #expect(try onDisk()["imported"] == nil, "not saved yet")
    try context.performAndWait { try context.save() }
    let saved = try onDisk()
    #expect(saved["imported"] as? Int == 1)
    #expect(saved[NSStoreUUIDKey] as? String == store.identifier)
    #expect(saved.keys.sorted() == (Array(original.keys) + ["imported"]).sorted())

    coordinator.setMetadata(["round": 2], for: store)
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      try context.save()
    }
    #expect(try onDisk()["round"] as? Int == 2)
    #expect(try onDisk()["imported"] == nil, "metadata is replaced")

    try NSPersistentStoreCoordinator.setMetadata(
      ["imported": true], ofType: NSSQLiteStoreType, at: stack.storeURL)
    let written = try NSPersistentStore.metadataForPersistentStore(with: stack.storeURL)
    #expect(written["imported"] as? Bool == true)
    #expect(written[NSStoreUUIDKey] as? String == store.identifier)
    #expect(written.keys.sorted() == saved.keys.sorted())
    _ = try stack.coldContext()
    let missing = stack.folder.appendingPathComponent("no.sqlite")
    #expect(throws: NSError.self) {
      try NSPersistentStore.metadataForPersistentStore(with: missing)
    }
    #expect(!FileManager.default.fileExists(atPath: missing.path))
  }

  @Test(
    "A store's metadata, identifier, and read-only state can be set", arguments: StoreKind.allCases)
  func metadataIdentifierAndReadOnlyStateCanBeSet(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let type: AnyClass = try #require(NSPersistentStoreCoordinator.registeredStoreTypes[store.type])
    #expect(store.isKind(of: type))
    try context.performAndWait {
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      store.isReadOnly = true
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSPersistentStoreSaveError)
      store.isReadOnly = false
      store.metadata = ["mine": "x"]
      store.identifier = "A-NEW-NAME"
      try context.save()
      #expect(store.metadata["mine"] as? String == "x")
      #expect(store.metadata[NSStoreUUIDKey] as? String == "A-NEW-NAME")
      let uri = tag.objectID.uriRepresentation()
      #expect(uri.absoluteString.hasPrefix("x-coredata://A-NEW-NAME/Tag/p"))
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == tag.objectID)
    }
    guard !kind.isInMemory else { return }
    let cold = try stack.coldContext()
    let reopened = try #require(cold.persistentStoreCoordinator?.persistentStores.first)
    #expect(reopened.identifier == "A-NEW-NAME" && reopened.metadata["mine"] as? String == "x")
    try NSPersistentStoreCoordinator.setMetadata(
      ["mine": "y"], forPersistentStoreOfType: kind.type.rawValue, at: stack.storeURL)
    let written = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: kind.type, at: stack.storeURL)
    #expect(written["mine"] as? String == "y" && written[NSStoreUUIDKey] as? String == "A-NEW-NAME")
    let text = stack.folder.appendingPathComponent("notes.txt")
    try Data("not a store".utf8).write(to: text)
    #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator.setMetadata(
        ["mine": "y"], forPersistentStoreOfType: kind.type.rawValue, at: text)
    }
    #expect(try Data(contentsOf: text) == Data("not a store".utf8))
    let looked = try stack.coldContext(options: [NSReadOnlyPersistentStoreOption: true])
    let fixed = try #require(looked.persistentStoreCoordinator?.persistentStores.first)
    fixed.isReadOnly = false
    #expect(fixed.isReadOnly == (kind != .memory), "a store that was opened read-only stays so")
  }

  @Test("NSIgnorePersistentStoreVersioningOption opens a store that lacks tables and columns")
  func ignoringVersionsOpensAStoreThatLacksTablesAndColumns() throws {
    func model(_ names: [String], _ others: [NSEntityDescription] = []) -> NSManagedObjectModel {
      let item = SchemaModels.entity(
        "Item", names.map { SchemaModels.attribute($0, .stringAttributeType) })
      let model = NSManagedObjectModel()
      model.entities = [item] + others
      return model
    }
    let stack = try TestStack(model: model(["a", "b"]))
    let first = try stack.coldContext()
    try first.performAndWait {
      _ = first.make("Item", ["a": "1", "b": "2"])
      try first.save()
    }
    let other = SchemaModels.entity("Other", [])
    let more = TestModels.relationship("others", to: other, isToMany: true)
    let back = TestModels.relationship("items", to: other, isToMany: true)
    let wider = model(["a", "c"], [other])
    more.inverseRelationship = back
    back.inverseRelationship = more
    back.destinationEntity = wider.entitiesByName["Item"]
    wider.entitiesByName["Item"]?.properties += [more]
    other.properties = [back]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: wider)
    let refused = try #require(throws: NSError.self) {
      try coordinator.addPersistentStore(type: .sqlite, at: stack.storeURL)
    }
    #expect(refused.code == NSPersistentStoreIncompatibleVersionHashError)
    let options = [NSIgnorePersistentStoreVersioningOption: true]
    try coordinator.addPersistentStore(type: .sqlite, at: stack.storeURL, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      #expect(try context.count(for: request) == 1)
      let calls: [() throws -> Void] = [
        { _ = try context.fetch(request) },
        { _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Other")) },
        {
          _ = context.make("Item")
          try context.save()
        },
        {
          context.reset()
          _ = context.make("Other")
          try context.save()
        },
      ]
      for (index, call) in calls.enumerated() {
        let error = #expect(throws: NSError.self, "\(index)") { try call() }
        #expect(error?.domain == NSCocoaErrorDomain, "\(index)")
      }
      context.reset()
      request.includesPropertyValues = false
      let item = try #require(try context.fetch(request).first)
      #expect(item.value(forKey: "a") == nil && context.faultError != nil)
    }
    // A model with fewer columns than the store opens it, too.
    let narrow = NSPersistentStoreCoordinator(managedObjectModel: model(["a"]))
    try narrow.addPersistentStore(type: .sqlite, at: stack.storeURL, options: options)
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = narrow
    try reader.performAndWait {
      #expect(try reader.all("Item", by: "a").first?.value(forKey: "a") as? String == "1")
      try reader.save()
    }
    let again = NSPersistentStoreCoordinator(managedObjectModel: model(["a"]))
    try again.addPersistentStore(type: .sqlite, at: stack.storeURL)
  }

  @Test(
    "A store keeps as many readers as its connection pool's size, and opens more on demand",
    arguments: [(nil, 4), (1, 1), (NSNumber(value: 6), 6)] as [((any Sendable)?, Int)])
  func storeKeepsAsManyReadersAsThePoolSize(option: (any Sendable)?, kept: Int) throws {
    let stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext(
      options: option.map { [NSPersistentStoreConnectionPoolMaxSizeKey: $0] })
    let coordinator = try #require(context.persistentStoreCoordinator)
    let pool = try #require(coordinator.firstStore as? SQLiteStore).pool
    let first = try (0..<8).map { _ in try pool.lease() }
    for reader in first { pool.returnToPool(reader) }
    let second = try (0..<8).map { _ in try pool.lease() }
    #expect(second.count { reader in first.contains { $0 === reader } } == kept)
    for reader in second { pool.returnToPool(reader) }
  }

  @Test(
    "An invalid pool size is an error, and no file is created",
    arguments: [0, -1, 2.5, "many"] as [any Sendable])
  func invalidPoolSizeIsAnErrorAndCreatesNoFile(option: any Sendable) throws {
    let stack = try TestStack(model: SchemaModels.library())
    let error = thrownError {
      _ = try stack.coldContext(options: [NSPersistentStoreConnectionPoolMaxSizeKey: option])
    }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreOpenError)
    #expect(error?.localizedDescription.contains("MaxSizeKey is '\(option)'") == true)
    #expect(!FileManager.default.fileExists(atPath: stack.storeURL.path))
  }

  @Test("S-H10 using a removed store is an error; it can be added again")
  func removedStoreFailsUntilItIsAddedAgain() throws {
    let stack = try TestStack(model: SchemaModels.library())
    try addTag("one", to: stack)
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    #expect(coordinator.persistentStore(for: stack.storeURL) === store)
    #expect(coordinator.url(for: store) == stack.storeURL)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      request.includesPropertyValues = false
      let tag = try #require(try context.fetch(request).first)
      let uri = tag.objectID.uriRepresentation()
      #expect(tag.isFault)
      try coordinator.remove(store)
      #expect(coordinator.persistentStores.isEmpty)
      #expect(store.persistentStoreCoordinator == nil)
      #expect(tag.value(forKey: "name") == nil)
      #expect((context.faultError as NSError?)?.code == NSPersistentStoreOperationError)
      #expect(throws: NSError.self) { try context.fetch(request) }
      #expect(throws: NSError.self) { try coordinator.remove(store) }
      context.reset()
      try coordinator.addPersistentStore(type: .sqlite, at: stack.storeURL)
      #expect(try context.fetch(request).map { $0.objectID.uriRepresentation() } == [uri])
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) != nil)
    }
  }

  @Test("A store migrates to another file with its external data and its UUID")
  func storesMigrateToAnotherFile() throws {
    let stack = try TestStack(model: SchemaModels.library())
    try addTag("one", to: stack)
    let file = try ExternalStorage(storeURL: stack.storeURL).write(Data([1]))
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let target = stack.folder.appendingPathComponent("Moved.sqlite")
    let moved = try coordinator.migratePersistentStore(
      store, to: target, options: nil, withType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores == [moved])
    #expect(moved.identifier == store.identifier)
    #expect(moved.url == target)
    #expect(try ExternalStorage(storeURL: target).fileNames() == [file.name])
    #expect(try names(in: context) == ["one"])
    #expect(try names(in: stack.coldContext()) == ["one"], "the old file is kept")
    #expect(throws: NSError.self, "a path that can't be written to") {
      try coordinator.migratePersistentStore(
        moved, to: URL(fileURLWithPath: "/proc/no/Store.sqlite"), options: nil, type: .sqlite)
    }
    #expect(coordinator.persistentStores == [moved], "the stores are the same")
    #expect(try names(in: context) == ["one"])
    let left = try FileManager.default.contentsOfDirectory(atPath: stack.folder.path)
    #expect(left.filter { !$0.contains("Store") && !$0.contains("Moved") } == [])
  }

  @Test("A SQLite store's URL can be changed to that of another store, which isn't replaced")
  func changedURLIsThatOfAnotherStore() throws {
    let stack = try TestStack(model: SchemaModels.library())
    try addTag("one", to: stack)
    let copy = stack.folder.appendingPathComponent("Copy.sqlite")
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    #expect(!coordinator.setURL(copy, for: store), "there's no store")
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    #expect(coordinator.persistentStores == [store])
    try coordinator.replacePersistentStore(
      at: copy, withPersistentStoreFrom: stack.storeURL, type: .sqlite)
    try addTag("two", to: stack)
    #expect(coordinator.setURL(copy, for: store))
    #expect(coordinator.persistentStores.map(\.url) == [copy])
    #expect(try names(in: context) == ["one"])
    #expect(try names(in: stack.coldContext()) == ["one", "two"])
  }

  @Test("Stores of unknown types are rejected, and no file is created")
  func unknownStoreTypesAreRejectedAndCreateNoFile() throws {
    let stack = try TestStack(model: SchemaModels.library())
    try addTag("one", to: stack)
    let other = stack.folder.appendingPathComponent("Other")
    let type = NSPersistentStore.StoreType(rawValue: "Spreadsheet")
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let calls: [() throws -> Void] = [
      { try coordinator.addPersistentStore(type: type, at: other) },
      { try coordinator.migratePersistentStore(store, to: other, type: type) },
      { try coordinator.destroyPersistentStore(at: stack.storeURL, type: type) },
      {
        try coordinator.replacePersistentStore(
          at: other, withPersistentStoreFrom: stack.storeURL, type: type)
      },
      {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
          type: type, at: stack.storeURL)
      },
    ]
    for call in calls {
      let error = #expect(throws: NSError.self) { try call() }
      #expect(
        error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreInvalidTypeError)
    }
    #expect(coordinator.persistentStores == [store])
    #expect(try names(in: context) == ["one"])
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }

  @Test("Files are replaced and destroyed, but while they're open only if that's forced")
  func onlyClosedFilesAreReplacedAndDestroyed() throws {
    let (one, other) = (
      try TestStack(model: SchemaModels.library()), try TestStack(model: SchemaModels.library())
    )
    try addTag("one", to: one)
    try addTag("other", to: other)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: one.model)
    func replace(_ options: [AnyHashable: Any]? = nil) throws {
      try coordinator.replacePersistentStore(
        at: one.storeURL, destinationOptions: options, withPersistentStoreFrom: other.storeURL,
        ofType: NSSQLiteStoreType)
    }
    do {
      let context = try one.coldContext()
      #expect(try names(in: context) == ["one"])
      #expect(throws: NSError.self) { try replace() }
      #expect(throws: NSError.self) {
        try coordinator.destroyPersistentStore(at: one.storeURL, ofType: NSSQLiteStoreType)
      }
      #expect(try names(in: context) == ["one"])
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      try context.persistentStoreCoordinator?.remove(store)
    }
    try replace()
    #expect(try names(in: one.coldContext()) == ["other"])
    #expect(try names(in: other.coldContext()) == ["other"])
    try addTag("more", to: one)
    let user = try one.coldContext()
    #expect(try names(in: user) == ["more", "other"])
    try replace([NSPersistentStoreForceDestroyOption: true])
    #expect(try names(in: one.coldContext()) == ["other"])
    try coordinator.destroyPersistentStore(
      at: one.storeURL, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
    withExtendedLifetime(user) {}
    #expect(try FileManager.default.contentsOfDirectory(atPath: one.folder.path) == [])
    #expect(throws: NSError.self, "destroyed already") {
      try coordinator.destroyPersistentStore(at: one.storeURL, type: .sqlite)
    }
    #expect(throws: NSError.self) {
      try coordinator.replacePersistentStore(
        at: other.storeURL, withPersistentStoreFrom: one.storeURL, type: .sqlite)
    }
    #expect(try names(in: other.coldContext()) == ["other"])
  }

  @Test("A replaced store is one file that includes the WAL's rows")
  func replacedStoreIsOneFileWithTheRowsOfTheWAL() throws {
    for mode in ["WAL", "DELETE"] {
      let (one, other) = (
        try TestStack(model: SchemaModels.library()), try TestStack(model: SchemaModels.library())
      )
      try addTag("one", to: one)
      let context = try other.coldContext(options: [NSSQLitePragmasOption: ["journal_mode": mode]])
      try context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
          .setValue("other", forKey: "name")
        try context.save()
      }
      #expect(
        FileManager.default.fileExists(atPath: other.storeURL.path + "-wal") == (mode == "WAL"))
      try NSPersistentStoreCoordinator(managedObjectModel: one.model).replacePersistentStore(
        at: one.storeURL, withPersistentStoreFrom: other.storeURL, type: .sqlite)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: one.folder.path)
          == [one.storeURL.lastPathComponent], "\(mode)")
      #expect(try names(in: one.coldContext()) == ["other"])
      #expect(try names(in: context) == ["other"])
    }
  }

  @Test(
    "S-B18 each synchronous setting applies to the connection that saves",
    arguments: [("OFF", 0), ("NORMAL", 1), ("FULL", 2), ("EXTRA", 3)])
  func synchronousSettingAppliesToTheWritingConnection(setting: String, value: Int64) throws {
    let stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext(
      options: [NSSQLitePragmasOption: ["synchronous": setting]])
    let store = try #require(
      context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
    #expect(
      try store.pool.withWriter { try $0.values("PRAGMA synchronous") } == [[.integer(value)]])
    // A save writes only the pages that it changes to the WAL.
    func walSize() throws -> Int {
      try FileManager.default.attributesOfItem(atPath: stack.storeURL.path + "-wal")[.size] as? Int
        ?? 0
    }
    let before = try walSize()
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        .setValue(setting, forKey: "name")
      try context.save()
    }
    let size = try Data(contentsOf: stack.storeURL).count
    #expect(try walSize() > before && walSize() - before < max(size, 1 << 16))
    #expect(try names(in: stack.coldContext()) == [setting])
  }

  @Test(
    "A timeout is limited to a million seconds, and ignored if it isn't a number",
    arguments: [
      (0.25, 250), (0, 0), (-1, 0), (.infinity, 1_000_000_000),
      (.greatestFiniteMagnitude, 1_000_000_000), (.nan, 10_000),
    ])
  func timeoutIsLimited(seconds: Double, milliseconds: Int) throws {
    let stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext(options: [NSPersistentStoreTimeoutOption: seconds])
    let store = try #require(context.coordinator?.firstStore as? SQLiteStore)
    try store.pool.withWriter { #expect($0.waits.timeout == milliseconds) }
  }

  @Test("S8.33 pragmas and store options apply to the connections")
  func pragmasAndStoreOptionsApplyToConnections() throws {
    let stack = try TestStack(model: SchemaModels.library())
    let options: [AnyHashable: Any] = [
      NSSQLitePragmasOption: ["synchronous": "OFF", "wal_autocheckpoint": 0, "cache_size": 77],
      NSSQLiteAnalyzeOption: true, NSSQLiteManualVacuumOption: true,
      NSPersistentStoreTimeoutOption: 0.25,
    ]
    try addTag(String(repeating: "x", count: 100_000), to: stack)
    let writer = try Connection(path: stack.storeURL.path, access: .writing)
    try writer.execute("DELETE FROM ZTAG")
    #expect(try writer.values("PRAGMA freelist_count") != [[.integer(0)]])
    writer.close()
    let context = try stack.coldContext(options: options)
    let store = try #require(
      context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
    try store.pool.withWriter { connection in
      #expect(try connection.values("PRAGMA synchronous") == [[.integer(0)]])
      #expect(try connection.values("PRAGMA wal_autocheckpoint") == [[.integer(0)]])
      #expect(try connection.values("PRAGMA cache_size") == [[.integer(77)]])
      #expect(connection.waits.timeout == 250)
      #expect(try connection.values("PRAGMA journal_mode") == [[.text("wal")]])
      let statistics = try connection.values(
        "SELECT count(*) > 0 FROM sqlite_master WHERE name = 'sqlite_stat1'")
      #expect(statistics == [[.integer(1)]])
      #expect(try connection.values("PRAGMA freelist_count") == [[.integer(0)]], "not vacuumed")
    }
    let journal = try TestStack(model: SchemaModels.library())
    let plain = try journal.coldContext(
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    #expect(try names(in: plain) == [])
    #expect(!FileManager.default.fileExists(atPath: journal.storeURL.path + "-wal"))
  }
}
