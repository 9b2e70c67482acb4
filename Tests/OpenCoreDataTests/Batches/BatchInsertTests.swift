import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@Suite("Batch insertions")
struct BatchInsertTests {
  private func numbers(_ context: NSManagedObjectContext) throws -> [Int32?] {
    try context.everyObject(of: "Item").map { $0.value(forKey: "a") as? Int32 }
  }

  @Test("S7.40 dictionaries and handlers insert rows: one INSERT each, in one transaction")
  func dictionariesAndHandlersInsertRowsInOneTransaction() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    try context.performAndWait {
      let given = NSBatchInsertRequest(
        entityName: "Item", objects: [["a": 0], ["a": 1, "name": "x"]])
      given.resultType = .objectIDs
      var result: NSBatchInsertResult?
      let cost = try costs(of: context) {
        result = try context.execute(given) as? NSBatchInsertResult
      }
      #expect(cost.inserts == 2 && cost.transactions == 1 && cost.selects == 0)
      let ids = try #require(result?.result as? [NSManagedObjectID])
      #expect(ids.map { context.object(with: $0).value(forKey: "a") as? Int32 } == [0, 1])
      var next = 2
      let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"])
      let filled = NSBatchInsertRequest(entity: entity) { (dictionary: NSMutableDictionary) in
        dictionary["a"] = next
        next += 1
        return next > 4
      }
      filled.resultType = .count
      result = try context.execute(filled) as? NSBatchInsertResult
      #expect(result?.result as? Int == 2)
      let objects = NSBatchInsertRequest(entity: entity) { (item: NSManagedObject) in
        item.setValue(next, forKey: "a")
        next += 1
        return next > 7
      }
      result = try context.execute(objects) as? NSBatchInsertResult
      #expect(result?.result as? Bool == true)
      #expect(try numbers(context) == [0, 1, 2, 3, 5, 6])
      // Primary keys aren't reused.
      _ = context.make("Item", ["a": Int32(9)])
      try context.save()
      #expect(try numbers(context) == [0, 1, 2, 3, 5, 6, 9])
    }
  }

  @Test("Rows and handlers can be replaced and removed, and a copy keeps its own")
  func sourceOfRowsCanBeSet() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    try context.performAndWait {
      let request = NSBatchInsertRequest(entityName: "Item", objects: [["a": 0]])
      request.resultType = .count
      func inserted(_ request: NSBatchInsertRequest) throws -> Int? {
        (try context.execute(request) as? NSBatchInsertResult)?.result as? Int
      }
      let copy = try #require(request.copy() as? NSBatchInsertRequest)
      var next = 1
      request.dictionaryHandler = { dictionary in
        dictionary["a"] = next
        next += 1
        return next > 3
      }
      #expect(request.objectsToInsert == nil && request.managedObjectHandler == nil)
      #expect(try inserted(request) == 2)
      request.managedObjectHandler = { item in
        item.setValue(next, forKey: "a")
        next += 1
        return next > 5
      }
      #expect(request.dictionaryHandler == nil)
      #expect(try inserted(request) == 1)
      request.dictionaryHandler = nil
      #expect(request.managedObjectHandler != nil)
      request.managedObjectHandler = nil
      #expect(try inserted(request) == 0)
      #expect(copy.objectsToInsert?.count == 1 && copy.entityName == "Item")
      #expect(try inserted(copy) == 1)
      #expect(try numbers(context) == [1, 2, 4, 0])
    }
  }

  @Test("A row with the same unique value is kept, or updated if the objects' changes win")
  func mergePolicyResolvesUniqueConstraints() throws {
    let policies: [(NSMergePolicy, String)] = [
      (.error, "old"), (.rollback, "old"), (.mergeByPropertyStoreTrump, "old"),
      (.overwrite, "new"), (.mergeByPropertyObjectTrump, "new"),
    ]
    for (policy, name) in policies {
      let stack = try SharedStack(.sqlite, SavingModels.regions())
      let context = stack.context(policy)
      try context.performAndWait {
        _ = context.make("Country", ["code": "FR", "name": "old", "size": Int32(5)])
        try context.save()
        let request = NSBatchInsertRequest(
          entityName: "Country",
          objects: [["code": "FR", "name": "new"], ["code": "DE", "name": "other"]])
        request.resultType = .count
        let before = stack.events.events.count
        let result = try context.execute(request) as? NSBatchInsertResult
        #expect(result?.result as? Int == (name == "new" ? 2 : 1))
        let insert = stack.events.events.dropFirst(before).compactMap(\.statement?.sql)
          .first { $0.hasPrefix("INSERT") }
        #expect(
          name == "new"
            ? insert?.hasSuffix(
              " ON CONFLICT(ZCODE) DO UPDATE SET Z_OPT = Z_OPT+1, ZNAME = excluded.ZNAME") == true
            : insert?.hasPrefix("INSERT OR IGNORE INTO ZREGION(") == true)
      }
      let reader = try stack.foreignContext()
      try reader.performAndWait {
        let countries = try reader.everyObject(of: "Country")
        let names = countries.map { $0.value(forKey: "name") as? String }
        #expect(names == [name, "other"])
        #expect(countries[0].value(forKey: "size") as? Int32 == 5)
      }
    }
  }

  @Test("A row with the unique values of two stored rows fails the request, which inserts nothing")
  func rowsCannotUpdateTwoRows() throws {
    let item = SchemaModels.entity(
      "Item",
      [
        SchemaModels.attribute("a", .stringAttributeType),
        SchemaModels.attribute("b", .integer64AttributeType),
      ])
    item.uniquenessConstraints = [["a"], ["b"]]
    let model = NSManagedObjectModel()
    model.entities = [item]
    let stack = try SharedStack(.sqlite, model)
    let context = stack.context(.mergeByPropertyObjectTrump)
    try context.performAndWait {
      let first = NSBatchInsertRequest(
        entityName: "Item", objects: [["a": "x", "b": 1], ["a": "y", "b": 2]])
      try context.execute(first)
      let request = NSBatchInsertRequest(
        entityName: "Item", objects: [["a": "z", "b": 3], ["a": "x", "b": 2]])
      let error = thrownError { try context.execute(request) }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      #expect(error?.localizedDescription.contains("the unique values of several rows") == true)
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 2)
    }
  }

  @Test("A handler's object updates the stored row with each value that it sets, also the default")
  func handlersObjectsSetDefaultValues() throws {
    let stack = try SharedStack(.sqlite, SavingModels.regions())
    let context = stack.context(.overwrite)
    try context.performAndWait {
      _ = context.make("Country", ["code": "FR", "name": "old", "size": Int32(5)])
      try context.save()
      var isDone = false
      let request = NSBatchInsertRequest(entityName: "Country") { (country: NSManagedObject) in
        country.setValue("FR", forKey: "code")
        country.setValue(nil, forKey: "name")
        let wasDone = isDone
        isDone = true
        return wasDone
      }
      request.resultType = .count
      let result = try context.execute(request) as? NSBatchInsertResult
      #expect(result?.result as? Int == 1)
    }
    let reader = try stack.foreignContext()
    try reader.performAndWait {
      let country = try #require(try reader.everyObject(of: "Country").first)
      #expect(country.value(forKey: "name") == nil)
      #expect(country.value(forKey: "size") as? Int32 == 5)
    }
  }

  @Test("The result contains the ID of a row once, even if several dictionaries update it")
  func updatedRowIsInTheResultOnce() throws {
    let stack = try SharedStack(.sqlite, SavingModels.regions())
    let context = stack.context(.overwrite)
    try context.performAndWait {
      let request = NSBatchInsertRequest(
        entityName: "Country",
        objects: ["FR", "DE", "FR"].map { ["code": $0, "name": "n"] })
      request.resultType = .objectIDs
      let result = try context.execute(request) as? NSBatchInsertResult
      let ids = try #require(result?.result as? [NSManagedObjectID])
      #expect(ids.count == 2 && Set(ids).count == 2)
      request.resultType = .count
      let again = try context.execute(request) as? NSBatchInsertResult
      #expect(again?.result as? Int == 3)
    }
  }

  @Test("An invalid dictionary inserts nothing")
  func invalidDictionaryInsertsNothing() throws {
    let stack = try SharedStack(.sqlite, SavingModels.regions())
    let context = stack.context()
    try context.performAndWait {
      for bad in [["none": 1], ["country": 1], ["name": Date()]] as [[String: Any]] {
        let request = NSBatchInsertRequest(entityName: "City", objects: [["name": "ok"], bad])
        #expect(thrownError { try context.execute(request) }?.domain == NSCocoaErrorDomain)
      }
      let cities = try context.everyObject(of: "City")
      #expect(cities.isEmpty)
      let abstract = NSBatchInsertRequest(entityName: "Region", objects: [["code": "x"]])
      #expect(thrownError { try context.execute(abstract) }?.domain == NSCocoaErrorDomain)
    }
  }

  @Test("A primary-key counter at its limit is an error, and nothing is written")
  func exhaustedPrimaryKeysAreErrors() throws {
    for entity in ["'Item'", "'CHANGE'", "'TRANSACTION'"] {
      let stack = try SharedStack(
        .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
      let connection = try Connection(path: stack.storeURL.path, access: .writing)
      defer { connection.close() }
      try connection.execute(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Int64.max) WHERE Z_NAME = \(entity)")
      let context = stack.context()
      context.performAndWait {
        let request = NSBatchInsertRequest(entityName: "Item", objects: [["a": 1]])
        let error = thrownError { try context.execute(request) }
        #expect(error?.localizedDescription.contains("Z_PRIMARYKEY") == true, "\(entity)")
        _ = context.make("Item")
        #expect(context.saveError() != nil, "\(entity)")
      }
      #expect(try connection.values("SELECT count(*) FROM ZITEM") == [[.integer(0)]])
    }
  }

  @Test("Transformable values are archived, as in a save, also by an update")
  func transformableValuesAreArchived() throws {
    let marker = NSEntityDescription()
    marker.name = "Marker"
    marker.properties = ["place", "outside"].map { name in
      let attribute = TestModels.attribute(name, .transformableAttributeType)
      attribute.allowsExternalBinaryDataStorage = name == "outside"
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [marker]
    let stack = try SharedStack(.sqlite, model)
    let context = stack.context()
    try context.performAndWait {
      let values: [String: Any] = ["place": ["a", "b"], "outside": ["c"]]
      try context.execute(NSBatchInsertRequest(entityName: "Marker", objects: [values]))
      let found = try #require(try context.everyObject(of: "Marker").first)
      #expect(found.value(forKey: "place") as? [String] == ["a", "b"])
      #expect(found.value(forKey: "outside") as? [String] == ["c"])
      let update = NSBatchUpdateRequest(entityName: "Marker")
      update.propertiesToUpdate = ["place": ["d"], "outside": NSNull()]
      try context.execute(update)
      context.refresh(found, mergeChanges: false)
      context.reset()
      let updated = try #require(try context.everyObject(of: "Marker").first)
      #expect(updated.value(forKey: "place") as? [String] == ["d"])
      #expect(updated.value(forKey: "outside") == nil)
    }
  }
}
