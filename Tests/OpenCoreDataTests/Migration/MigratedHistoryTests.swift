import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Lightweight migration of history, triggers, R-trees, and external data")
struct MigratedHistoryTests {
  @Test("Changes of the history keep their objects, properties, and preserved values")
  func historyFollowsTheModel() throws {
    func model(_ isNext: Bool) -> NSManagedObjectModel {
      let model = LightweightMigrationTests.model { person, _ in
        person.attributesByName["name"]?.preservesValueInHistoryOnDeletion = true
        guard isNext else { return }
        // Sorts before the others, and so moves their bits and columns.
        let alias = LightweightMigrationTests.attribute("alias", .stringAttributeType)
        alias.preservesValueInHistoryOnDeletion = true
        person.properties.append(alias)
      }
      if isNext {
        let area = NSEntityDescription()
        (area.name, area.properties) = (
          "Area", [LightweightMigrationTests.attribute("name", .stringAttributeType)]
        )
        model.entities.append(area)
      }
      return model
    }
    let store = try MigratedStore()
    let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
    let context = try store.open(model(false), options: tracking)
    try context.performAndWait {
      let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      person.setValue("Ada", forKey: "name")
      try context.save()
      person.setValue(37, forKey: "age")
      try context.save()
      context.delete(person)
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let migrated = try store.open(
      model(true), options: MigratedStore.automatic.merging(tracking) { $1 })
    try migrated.performAndWait {
      let result = try migrated.execute(
        NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
      let transactions = try #require(
        (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
      let changes = transactions.flatMap { $0.changes ?? [] }
      #expect(changes.map(\.changedObjectID.entity.name) == ["Person", "Person", "Person"])
      #expect(changes[1].updatedProperties.map { Set($0.map(\.name)) } == ["age"])
      #expect(changes[2].tombstone?["name"] as? String == "Ada")
    }
  }

  @Test(
    "A token of a store has expired once a mapping model has migrated it: error 134301",
    arguments: [true, false])
  func tokensOfMigratedStoresAreExpired(isTracked: Bool) throws {
    let (before, after) = (
      LightweightMigrationTests.model(),
      LightweightMigrationTests.model { person, _ in
        person.properties.append(
          LightweightMigrationTests.attribute("note", .stringAttributeType))
      }
    )
    let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
    func insertPerson(into context: NSManagedObjectContext) throws -> NSPersistentHistoryToken? {
      try context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
          .setValue("Ada", forKey: "name")
        try context.save()
        return context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
      }
    }
    let (store, migrated) = (try MigratedStore(), try MigratedStore())
    let context = try store.open(before, options: tracking)
    let former = try insertPerson(into: context)
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: before, destinationModel: after)
    try NSMigrationManager(sourceModel: before, destinationModel: after).migrateStore(
      from: store.url, type: .sqlite, options: nil, mapping: mapping, to: migrated.url,
      type: .sqlite, options: isTracked ? tracking : nil)
    let later = try migrated.open(after, options: tracking)
    let current = try insertPerson(into: later)
    let errors = try [former, current].map { token in
      let token = try #require(token)
      return later.performAndWait {
        thrownError {
          _ = try later.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
        }
      }
    }
    #expect(errors.map { $0?.code } == [NSPersistentHistoryTokenExpiredError, nil])
  }

  @Test("Tombstones keep their values when more attributes are preserved, and in a migration then")
  func tombstonesKeepTheirColumns() throws {
    func model(preserving names: [String]) -> NSManagedObjectModel {
      LightweightMigrationTests.model { person, _ in
        if names.contains("alias") {
          let alias = LightweightMigrationTests.attribute("alias", .stringAttributeType)
          person.properties.append(alias)
        }
        for name in names {
          person.attributesByName[name]?.preservesValueInHistoryOnDeletion = true
        }
      }
    }
    let store = try LightweightMigrationTests.store(model(preserving: ["name"]))
    func tombstones(_ names: [String], deleting deleted: String) throws -> [String] {
      let context = try store.open(
        model(preserving: names),
        options: MigratedStore.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 })
      let coordinator = try #require(context.persistentStoreCoordinator)
      defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
      return try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", deleted)
        for person in try context.fetch(request) { context.delete(person) }
        try context.save()
        let result = try context.execute(
          NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        let transactions = try #require(
          (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
        let deletions = transactions.flatMap { $0.changes ?? [] }.filter {
          $0.changeType == .delete
        }
        return deletions.map { change in
          ["age", "alias", "name"].map { key in
            let value = change.tombstone?[AnyHashable(key)]
            return value.map { "\($0)" } ?? "nil"
          }.joined(separator: " ")
        }
      }
    }
    #expect(try tombstones(["name"], deleting: "Ada") == ["nil nil Ada"])
    // Sorts before the other one, and isn't a new version.
    #expect(try tombstones(["age", "name"], deleting: "Cy") == ["nil nil Ada", "7 nil Cy"])
    #expect(
      try tombstones(["age", "alias", "name"], deleting: "Bo")
        == ["nil nil Ada", "7 nil Cy", "nil nil Bo"])
    #expect(
      try tombstones(["alias", "name"], deleting: "nobody")
        == ["nil nil Ada", "nil nil Cy", "nil nil Bo"])
  }

  @Test("A tombstone keeps its bytes if the attribute allows external storage in the new version")
  func tombstonesBecomeExternalValues() throws {
    func model(isExternal: Bool) -> NSManagedObjectModel {
      LightweightMigrationTests.model { person, _ in
        let photo = LightweightMigrationTests.attribute("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = isExternal
        photo.preservesValueInHistoryOnDeletion = true
        person.properties.append(photo)
      }
    }
    // It begins like a value with the marker.
    let bytes = Data([1, 9])
    let store = try MigratedStore()
    let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
    let context = try store.open(model(isExternal: false), options: tracking)
    try context.performAndWait {
      let person = context.make("Person", ["name": "Ada", "photo": bytes])
      try context.save()
      context.delete(person)
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let migrated = try store.open(
      model(isExternal: true), options: MigratedStore.automatic.merging(tracking) { $1 })
    try migrated.performAndWait {
      let result = try migrated.execute(
        NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
      let transactions = try #require(
        (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
      let tombstones = transactions.flatMap { $0.changes ?? [] }.compactMap(\.tombstone)
      #expect(tombstones.count == 1)
      #expect(tombstones.first?["photo"] as? Data == bytes)
    }
  }

  @Test("Triggers, R-trees, and derived attributes belong to the new version")
  func triggersAndRangesFollowTheModel() throws {
    func model(_ isNext: Bool) -> NSManagedObjectModel {
      LightweightMigrationTests.model { person, city in
        if isNext { (person.name, person.renamingIdentifier) = ("Human", "Person") }
        let count = NSDerivedAttributeDescription()
        (count.name, count.attributeType) = ("residentCount", .integer64AttributeType)
        count.derivationExpression = NSExpression(format: "residents.@count")
        city.properties.append(count)
        let age = person.properties[1]
        person.indexes = [
          NSFetchIndexDescription(
            name: "byAge",
            elements: [NSFetchIndexElementDescription(property: age, collationType: .rTree)])
        ]
      }
    }
    let store = try LightweightMigrationTests.store(model(false))
    let context = try store.open(model(true))
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "City")
      let london = try #require(try context.fetch(request).first)
      #expect((london.value(forKey: "residentCount") as? NSNumber)?.intValue == 1)
      let dee = NSEntityDescription.insertNewObject(forEntityName: "Human", into: context)
      dee.setValue(london, forKey: "home")
      dee.setValue(50, forKey: "age")
      try context.save()
      context.refreshAllObjects()
      #expect((london.value(forKey: "residentCount") as? NSNumber)?.intValue == 2)
    }
    #expect(try store.values("SELECT COUNT(*) FROM Z_RT_Human_byAge") == [[.integer(3)]])
    #expect(
      try store.values("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'Z_RT_Person%'")
        == [[.integer(0)]])
  }

  @Test("An R-tree has the default values that a migration fills in")
  func rangesContainFilledValues() throws {
    func model(isOptional: Bool) -> NSManagedObjectModel {
      LightweightMigrationTests.model { person, _ in
        let age = LightweightMigrationTests.attribute(
          "age", .integer16AttributeType, default: isOptional ? nil : 18, isOptional: isOptional)
        LightweightMigrationTests.replace("age", of: person, by: age)
        person.indexes = [
          NSFetchIndexDescription(
            name: "byAge",
            elements: [NSFetchIndexElementDescription(property: age, collationType: .rTree)])
        ]
      }
    }
    let store = try LightweightMigrationTests.store(model(isOptional: true))
    let count = "SELECT COUNT(*) FROM Z_RT_Person_byAge"
    #expect(try store.values(count) == [[.integer(2)]])
    try store.migrate(to: model(isOptional: false))
    #expect(try store.values(count) == [[.integer(3)]])
  }

  @Test("External data files of values that stay are kept, and others are removed")
  func externalDataFollowsTheModel() throws {
    func model(_ photo: String?, isExternal: Bool = true) -> NSManagedObjectModel {
      LightweightMigrationTests.model { person, _ in
        guard let photo else { return }
        let attribute = LightweightMigrationTests.attribute(photo, .binaryDataAttributeType)
        if photo != "photo" { attribute.renamingIdentifier = "photo" }
        attribute.allowsExternalBinaryDataStorage = isExternal
        person.properties.append(attribute)
      }
    }
    func values(_ name: String, _ model: NSManagedObjectModel) throws -> [Data?] {
      let context = try store.open(model)
      return try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).map { $0.value(forKey: name) as? Data }
      }
    }
    let (large, small) = (Data(repeating: 1, count: 200_000), Data([2, 3]))
    let store = try LightweightMigrationTests.store(model("photo", isExternal: false))
    let context = try store.open(model("photo", isExternal: false))
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let people = try context.fetch(request)
      people[0].setValue(small, forKey: "photo")
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    // The values in rows get the marker of external storage.
    let external = model("picture")
    #expect(try values("picture", external) == [small, nil, nil])
    let writing = try store.open(external)
    try writing.performAndWait {
      let people = try writing.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      for person in people { person.setValue(large, forKey: "picture") }
      try writing.save()
    }
    let other = try #require(writing.persistentStoreCoordinator)
    for store in other.persistentStores { try other.remove(store) }
    let files = ExternalStorage(storeURL: store.url)
    #expect(try files.fileNames().count == 3)
    #expect(try values("photograph", model("photograph")) == [large, large, large])
    #expect(try files.fileNames().count == 3)
    #expect(
      thrownError { try store.migrate(to: model("photo", isExternal: false)) }?.code
        == NSMigrationMissingMappingModelError)
    try store.migrate(to: model(nil))
    #expect(try files.fileNames() == [])
  }
}
