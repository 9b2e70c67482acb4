import OpenCoreData
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Migration between types of stores")
struct StoreConversionTests {
  private typealias Sample = LightweightMigrationTests

  /// A model with values of several types, a hierarchy, and relationships of all kinds.
  private static func model() -> NSManagedObjectModel {
    let model = Sample.model { person, city in
      person.properties.append(Sample.attribute("photo", .binaryDataAttributeType))
      person.properties.append(Sample.attribute("born", .dateAttributeType))
      let (friends, visited, visitors) = (
        NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription()
      )
      (friends.name, friends.destinationEntity, friends.isOrdered) = ("friends", person, true)
      (visited.name, visited.destinationEntity) = ("visited", city)
      (visitors.name, visitors.destinationEntity) = ("visitors", person)
      (visited.inverseRelationship, visitors.inverseRelationship) = (visitors, visited)
      let befriended = NSRelationshipDescription()
      (befriended.name, befriended.destinationEntity) = ("befriended", person)
      (friends.inverseRelationship, befriended.inverseRelationship) = (befriended, friends)
      person.properties += [friends, befriended, visited]
      city.properties.append(visitors)
      let pilot = NSEntityDescription()
      pilot.name = "Pilot"
      pilot.properties = [Sample.attribute("hours", .integer32AttributeType)]
      person.subentities = [pilot]
    }
    return model
  }

  private static func fill(_ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      func insert(_ entity: String, _ name: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      let (london, paris) = (insert("City", "London"), insert("City", "Paris"))
      let persons = ["Ada", "Bo", "Cy"].map { insert("Person", $0) } + [insert("Pilot", "Di")]
      for (index, person) in persons.enumerated() {
        person.setValue(index, forKey: "age")
        person.setValue(Data([UInt8(index), 255]), forKey: "photo")
        person.setValue(Date(timeIntervalSinceReferenceDate: Double(index) + 0.25), forKey: "born")
        person.setValue(index % 2 == 0 ? london : nil, forKey: "home")
        person.setValue(Set([london, paris].prefix(index)), forKey: "visited")
      }
      persons[3].setValue(120, forKey: "hours")
      persons[0].setValue(
        NSOrderedSet(array: [persons[2], persons[3], persons[1]]), forKey: "friends")
      try context.save()
      // Primary keys with gaps.
      context.delete(persons[1])
      try context.save()
    }
  }

  /// The content, and the order of Ada's friends.
  private static func facts(
    _ context: NSManagedObjectContext
  ) throws -> (content: [String: [String]], friends: [String]) {
    let friends = try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "name == 'Ada'")
      let ada = try #require(try context.fetch(request).first)
      let friends = ada.value(forKey: "friends") as? NSOrderedSet ?? NSOrderedSet()
      return friends.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
    }
    return (try content(of: context), friends)
  }

  @Test(
    "S-H03 S-H04 A store of each type becomes one of each other, with the same objects and known IDs",
    arguments: StoreKind.allCases, [StoreKind.sqlite, .memory, .xml, .binary])
  func storesAreConverted(from: StoreKind, to: StoreKind) throws {
    let stack = try TestStack(from, model: Self.model())
    let context = try stack.coldContext()
    try Self.fill(context)
    let expected = try Self.facts(context)
    #expect(expected.friends == ["Cy", "Di"])
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    coordinator.setMetadata(
      store.metadata.merging(["app": "mine"], uniquingKeysWith: { $1 }), for: store)
    try context.performAndWait { try context.save() }
    let ids = try Self.ids(context)
    let posted = Mutex<[[NSManagedObjectID]]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
    ) { note in
      let change = note.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any]
      posted.withLock { $0 = change?.last as? [[NSManagedObjectID]] ?? [] }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let target = stack.folder.appendingPathComponent("Converted")
    let new = try coordinator.migratePersistentStore(store, to: target, type: to.type)
    let pairs = posted.withLock { $0 }
    #expect(coordinator.persistentStores == [new])
    #expect(new.type == to.type.rawValue)
    #expect(new.metadata["app"] as? String == "mine")
    #expect(pairs.count == 5)
    #expect(Set(pairs.map { $0[0] }) == Set(ids.values))
    context.performAndWait { context.reset() }
    let moved = try Self.facts(context)
    #expect(moved.content == expected.content)
    #expect(moved.friends == expected.friends)
    let newIDs = try Self.ids(context)
    for pair in pairs {
      let name = ids.first { $0.value == pair[0] }?.key ?? ""
      #expect(newIDs[name] == pair[1])
    }
    // New objects don't get the keys of others.
    try context.performAndWait {
      let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
      city.setValue("Rome", forKey: "name")
      try context.save()
    }
    #expect(try Self.ids(context).count == 6)
    guard !to.isInMemory else { return }
    let again = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try again.addPersistentStore(type: to.type, at: target)
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = again
    #expect(try Self.ids(reader).keys.sorted() == ["Ada", "Cy", "Di", "London", "Paris", "Rome"])
  }

  @Test(
    "What an observer saves before the store is removed is in its copy",
    arguments: [StoreKind.sqlite, .memory, .xml], [StoreKind.sqlite, .memory, .xml])
  func changesSavedByObserversAreCopied(from: StoreKind, to: StoreKind) throws {
    let stack = try TestStack(from, model: Self.model())
    let context = try stack.coldContext()
    try Self.fill(context)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    context.performAndWait {
      let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
      city.setValue("Rome", forKey: "name")
    }
    let failures = LineList()
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil
    ) { _ in
      do {
        try context.performAndWait { try context.save() }
      } catch {
        failures.add("\(error)")
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try coordinator.migratePersistentStore(
      store, to: stack.folder.appendingPathComponent("Converted"), type: to.type)
    #expect(failures.lines == [])
    context.performAndWait { context.reset() }
    #expect(try Self.ids(context).keys.sorted() == ["Ada", "Cy", "Di", "London", "Paris", "Rome"])
  }

  @Test(
    "What's saved while a store is migrated is in the new one, or the save fails",
    arguments: [StoreKind.sqlite, .memory, .xml], [StoreKind.sqlite, .memory, .xml])
  func concurrentSavesAreCopiedOrFail(from: StoreKind, to: StoreKind) throws {
    let stack = try TestStack(from, model: Self.model())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let saved = LineList()
    let isDone = Mutex(false)
    let saving = DispatchQueue(label: "StoreConversionTests")
    saving.async {
      for number in 1...100_000 where !isDone.withLock({ $0 }) {
        context.performAndWait {
          let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
          city.setValue("\(number)", forKey: "name")
          do {
            try context.save()
            saved.add("\(number)")
          } catch {
            // Its store is being migrated, or removed.
          }
          context.reset()
        }
      }
    }
    defer {
      isDone.withLock { $0 = true }
      saving.sync {}
    }
    for number in 1...5 {
      usleep(2_000)
      let store = try #require(coordinator.persistentStores.first)
      let isBack = number.isMultiple(of: 2)
      try coordinator.migratePersistentStore(
        store, to: stack.folder.appendingPathComponent("Migrated \(number)"),
        type: isBack ? from.type : to.type)
    }
    isDone.withLock { $0 = true }
    saving.sync {}
    context.performAndWait { context.reset() }
    let found = try Set(Self.ids(context).keys)
    #expect(Set(saved.lines).subtracting(found).sorted() == [])
  }

  @Test("A save to a store that's being migrated fails, and succeeds after an error")
  func savesFailWhileTheStoreIsCopied() throws {
    let stack = try TestStack(.sqlite, model: Self.model())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    try context.performAndWait {
      _ = context.make("City", ["name": "Rome"])
      let error = thrownError {
        try coordinator.whileMoving(#require(store as? SQLiteStore)) {
          try context.save()
        }
      }
      #expect(error?.code == NSPersistentStoreOperationError)
      #expect(context.hasChanges)
      try context.save()
    }
    #expect(try Self.ids(context).keys.sorted() == ["Rome"])
  }

  @Test(
    "A migrated store has metadata that isn't saved yet",
    arguments: [StoreKind.sqlite, .memory, .xml], [StoreKind.sqlite, .memory, .xml])
  func unsavedMetadataIsCopied(from: StoreKind, to: StoreKind) throws {
    let stack = try TestStack(from, model: Self.model())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    coordinator.setMetadata(store.metadata.merging(["app": "mine"]) { $1 }, for: store)
    let target = stack.folder.appendingPathComponent("Migrated")
    let new = try coordinator.migratePersistentStore(store, to: target, type: to.type)
    #expect(new.metadata["app"] as? String == "mine")
    guard !to.isInMemory else { return }
    let stored = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: to.type, at: target)
    #expect(stored["app"] as? String == "mine")
  }

  @Test("A store that's opened again at its URL has metadata that isn't saved yet")
  func unsavedMetadataStaysAtTheURL() throws {
    let stack = try TestStack(.sqlite, model: Self.model())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    coordinator.setMetadata(store.metadata.merging(["app": "mine"]) { $1 }, for: store)
    let new = try coordinator.migratePersistentStore(store, to: stack.storeURL, type: .sqlite)
    #expect(new !== store && new.metadata["app"] as? String == "mine")
  }

  private static func ids(_ context: NSManagedObjectContext) throws -> [String: NSManagedObjectID] {
    try context.performAndWait {
      try ["Person", "City"].reduce(into: [:]) { ids, entity in
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
          ids[object.value(forKey: "name") as? String ?? ""] = object.objectID
        }
      }
    }
  }
}
