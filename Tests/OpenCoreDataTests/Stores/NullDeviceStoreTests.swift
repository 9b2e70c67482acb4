import Dispatch
import Glibc
import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("A SQLite store at /dev/null is kept in memory")
struct NullDeviceStoreTests {
  private static let url = URL(fileURLWithPath: "/dev/null")

  /// Photos with an external attribute, in albums.
  private static func model() -> NSManagedObjectModel {
    let photo = SchemaModels.entity(
      "Photo",
      [
        SchemaModels.attribute("data", .binaryDataAttributeType),
        SchemaModels.attribute("name", .stringAttributeType),
      ])
    photo.attributesByName["data"]?.allowsExternalBinaryDataStorage = true
    let album = SchemaModels.entity("Album", [SchemaModels.attribute("name", .stringAttributeType)])
    let photos = TestModels.relationship("photos", to: photo, isToMany: true)
    let home = TestModels.relationship("album", to: album, isToMany: false)
    photos.inverseRelationship = home
    home.inverseRelationship = photos
    photos.deleteRule = .cascadeDeleteRule
    album.properties += [photos]
    photo.properties += [home]
    let model = NSManagedObjectModel()
    model.entities = [photo, album]
    return model
  }

  private func coordinator(
    options: [AnyHashable: Any]? = nil
  ) throws -> (NSPersistentStoreCoordinator, SQLiteStore) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: Self.url, options: options)
    return (coordinator, try #require(store as? SQLiteStore))
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func add(_ names: [String], to context: NSManagedObjectContext) throws {
    try context.performAndWait {
      for name in names { _ = context.make("Photo", ["name": name]) }
      try context.save()
    }
  }

  private func names(_ context: NSManagedObjectContext) throws -> [String] {
    try context.performAndWait {
      try context.all("Photo").map { $0.value(forKey: "name") as? String ?? "-" }
    }
  }

  /// Fails if the device was replaced or a file was created next to it.
  private func expectDevice() throws {
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    let names = try FileManager.default.contentsOfDirectory(atPath: "/dev")
    #expect(names.filter { $0.contains("null") } == ["null"])
  }

  @Test("Contexts of a coordinator share its store, which no other has, and no file is written")
  func contextsShareTheStoreOfTheirCoordinator() throws {
    #expect(NSPersistentStoreDescription().url == Self.url)
    #expect(NSPersistentStoreDescription().type == NSSQLiteStoreType)
    let container = NSPersistentContainer(name: "Photos", managedObjectModel: Self.model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
    container.loadPersistentStores { description, error in
      #expect(error == nil && description.url == Self.url)
    }
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(store.type == NSSQLiteStoreType && store.url == Self.url)
    try add(["a", "b"], to: container.newBackgroundContext())
    #expect(try names(container.newBackgroundContext()) == ["a", "b"])
    #expect(coordinator.persistentStore(for: Self.url) === store)
    let (other, otherStore) = try self.coordinator()
    #expect(try names(context(other)) == [])
    #expect(otherStore.identifier != store.identifier)
    try coordinator.remove(store)
    try coordinator.addPersistentStore(type: .sqlite, at: Self.url)
    #expect(try names(context(coordinator)) == [], "a removed store is discarded")
    try expectDevice()
  }

  @Test("A save doesn't wait for a context that reads in a perform block that hasn't ended")
  func saveDoesNotWaitForAReaderInAnOpenBlock() throws {
    let (coordinator, _) = try coordinator(options: [NSPersistentStoreTimeoutOption: 0.5])
    let (reader, writer) = (context(coordinator), context(coordinator))
    try add(["a"], to: writer)
    try reader.performAndWait {
      #expect(try names(reader) == ["a"])
      try add(["b"], to: writer)
      #expect(try names(reader) == ["a", "b"])
    }
  }

  @Test("Threads that read and save at the same time see whole saves, and none fails")
  func concurrentThreadsSeeWholeSaves() throws {
    let (coordinator, _) = try coordinator()
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { index in
      let context = context(coordinator)
      do {
        for round in 0..<25 {
          if index < 2 {
            try add(["\(index).\(round)", "\(index).\(round)+"], to: context)
          } else {
            let count = try context.performAndWait {
              context.reset()
              return try context.all("Photo").count
            }
            if count % 2 != 0 { failures.withLock { $0.append("half a save: \(count)") } }
          }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try names(context(coordinator)).count == 100)
  }

  @Test("Batch requests, history, and remote-change notifications work; a handler may fetch")
  func batchRequestsHistoryAndRemoteChangesWork() async throws {
    let (coordinator, _) = try coordinator(options: [
      NSPersistentHistoryTrackingKey: true,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
      NSPersistentStoreTimeoutOption: 0.5,
    ])
    let posted = Mutex(0)
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { _ in posted.withLock { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(token) }
    let context = context(coordinator)
    try context.performAndWait {
      var left = ["a", "b", "c"]
      let insert = NSBatchInsertRequest(entityName: "Photo") { (values: NSMutableDictionary) in
        #expect(throws: Never.self) {
          _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Photo"))
        }
        guard let name = left.popLast() else { return true }
        values["name"] = name
        return false
      }
      try context.execute(insert)
      let album = context.make("Album", ["name": "x"])
      for photo in try context.all("Photo").prefix(2) { photo.setValue(album, forKey: "album") }
      try context.save()
      try context.execute(NSBatchDeleteRequest(objectIDs: [album.objectID]))
      context.reset()
      #expect(try names(context) == ["c"])
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      #expect((result?.result as? [NSPersistentHistoryTransaction])?.count == 3)
    }
    #expect(try await eventually { posted.withLock { $0 } > 0 })
  }

  @Test("A pinned context reads a copy of the store and doesn't block saves")
  func pinnedContextReadsACopyAndDoesNotBlockSaves() throws {
    let (coordinator, _) = try coordinator(options: [NSPersistentStoreTimeoutOption: 0.5])
    let (pinned, writer) = (context(coordinator), context(coordinator))
    try add(["a"], to: writer)
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      #expect(try names(pinned) == ["a"])
      try add(["b"], to: writer)
      pinned.refreshAllObjects()
      #expect(try names(pinned) == ["a", "b"])
      try pinned.setQueryGenerationFrom(.current)
      #expect(try names(pinned) == ["a", "b"])
      try add(["c"], to: writer)
      #expect(try names(pinned) == ["a", "b"])
      try pinned.setQueryGenerationFrom(nil)
      #expect(try names(pinned) == ["a", "b", "c"])
    }
  }

  @Test("Stores migrate from a file into memory and back with their large values")
  func storeMigratesIntoMemoryAndBackWithLargeValues() throws {
    let stack = try TestStack(model: Self.model())
    let image = Data(repeating: 7, count: 150_000)
    let first = try stack.coldContext()
    try first.performAndWait {
      _ = first.make("Photo", ["name": "a", "data": image])
      _ = first.make("Photo", ["name": "b", "data": Data([1])])
      try first.save()
    }
    #expect(try ExternalStorage(storeURL: stack.storeURL).fileNames().count == 1)
    let coordinator = try #require(first.persistentStoreCoordinator)
    let file = try #require(coordinator.persistentStores.first)
    let memory = try coordinator.migratePersistentStore(file, to: Self.url, type: .sqlite)
    #expect(memory.url == Self.url && memory.identifier == file.identifier)
    try FileManager.default.removeItem(at: stack.folder)
    let context = context(coordinator)
    #expect(try names(context) == ["a", "b"])
    try context.performAndWait {
      let photo = try #require(try context.all("Photo").first)
      #expect(photo.value(forKey: "data") as? Data == image)
      photo.setValue(image + image, forKey: "data")
      try context.save()
    }
    try FileManager.default.createDirectory(at: stack.folder, withIntermediateDirectories: true)
    _ = try coordinator.migratePersistentStore(memory, to: stack.storeURL, type: .sqlite)
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let photos = try cold.all("Photo")
      #expect(photos.map { $0.value(forKey: "data") as? Data } == [image + image, Data([1])])
    }
    try expectDevice()
  }

  @Test("File operations don't affect the device")
  func fileOperationsDoNotAffectTheDevice() throws {
    let (coordinator, store) = try coordinator()
    let stack = try TestStack(model: Self.model())
    try add(["a"], to: stack.coldContext())
    let calls: [() throws -> Void] = [
      { try coordinator.destroyPersistentStore(at: Self.url, type: .sqlite) },
      { try coordinator.destroyPersistentStore(at: Self.url, type: .xml) },
      {
        try coordinator.destroyPersistentStore(
          at: Self.url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
      },
      {
        try coordinator.replacePersistentStore(
          at: Self.url, withPersistentStoreFrom: stack.storeURL, type: .sqlite)
      },
      {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: Self.url)
      },
      { try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: Self.url) },
      { try coordinator.addPersistentStore(type: .xml, at: Self.url) },
      {
        try coordinator.addPersistentStore(
          type: .sqlite, at: Self.url, options: [NSReadOnlyPersistentStoreOption: true])
      },
    ]
    for (index, call) in calls.enumerated() {
      #expect(throws: NSError.self, "\(index)") { try call() }
      try expectDevice()
    }
    coordinator.setMetadata(["mine": "x"], for: store)
    let context = context(coordinator)
    try add(["a"], to: context)
    #expect(coordinator.metadata(for: store)["mine"] as? String == "x")
    #expect(try names(context) == ["a"])
    let document = try coordinator.addPersistentStore(
      type: .xml, at: stack.folder.appendingPathComponent("Other.xml"))
    _ = coordinator.setURL(Self.url, for: document)
    context.performAndWait {
      let photo = context.make("Photo")
      context.assign(photo, to: document)
      #expect(throws: NSError.self) { try context.save() }
    }
    try expectDevice()
  }
}
