import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@Suite("Batch updates")
struct BatchUpdateTests {
  /// A store with items whose `a` is their index and whose `b` is 0.
  private func stack(_ count: Int) throws -> SharedStack {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    try context.performAndWait {
      for index in 0..<count { _ = context.make("Item", ["a": Int32(index), "b": Int32(0)]) }
      try context.save()
    }
    return stack
  }

  private func request(_ predicate: String? = nil, b: Any = 7) -> NSBatchUpdateRequest {
    let request = NSBatchUpdateRequest(entityName: "Item")
    request.predicate = predicate.map { NSPredicate(format: $0) }
    request.propertiesToUpdate = ["b": b]
    return request
  }

  @Test(
    "S7.34 5,000 rows are one UPDATE, without objects and notifications; a save runs one for each")
  func rowsAreUpdatedInOneStatement() throws {
    let stack = try stack(5_000)
    let context = stack.context()
    let notes = LineList()
    let observer = NotificationCenter.default.addObserver(
      forName: nil, object: context, queue: nil
    ) { notes.add($0.name.rawValue) }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.performAndWait {
      let before = stack.events.events.count
      let cost = try costs(of: context) { try context.execute(request()) }
      #expect(cost.updates == 1 && cost.selects == 0 && cost.transactions == 1)
      #expect(context.registeredObjects.isEmpty && notes.lines.isEmpty)
      #expect(
        stack.events.events.dropFirst(before).compactMap(\.statement?.sql) == [
          "BEGIN EXCLUSIVE",
          "UPDATE ZITEM SET ZB = ?, Z_OPT = (Z_OPT + 1) WHERE Z_PK IN (SELECT t0.Z_PK FROM ZITEM t0)",
          "COMMIT",
        ])
      #expect(stack.events.events.last?.kind == .batchRequest)
      #expect(stack.events.events.last?.rows == 5_000)
      let objects = try costs(of: context) {
        for item in try context.everyObject(of: "Item") { item.setValue(8, forKey: "b") }
        try context.save()
      }
      #expect(objects.selects == 1 && objects.updates == 5_000 && objects.faults == 5_000)
    }
  }

  @Test("A copy of a request is independent")
  func copiedRequestIsIndependent() throws {
    let stack = try stack(3)
    let context = stack.context()
    try context.performAndWait {
      let original = request("a < 2")
      original.resultType = .updatedObjectsCountResultType
      original.includesSubentities = false
      let copy = try #require(original.copy() as? NSBatchUpdateRequest)
      original.predicate = nil
      original.propertiesToUpdate = ["b": 1]
      #expect(copy.entityName == "Item" && !copy.includesSubentities)
      #expect((try context.execute(copy) as? NSBatchUpdateResult)?.result as? Int == 2)
      let values = try context.everyObject(of: "Item").map { $0.value(forKey: "b") as? Int32 }
      #expect(values == [7, 7, 0])
    }
  }

  @Test("The entity of a request needn't be unwrapped, and is nil if only its name was given")
  func entityIsImplicitlyUnwrapped() throws {
    let stack = try stack(3)
    let context = stack.context()
    let model = context.persistentStoreCoordinator?.managedObjectModel
    let entity = try #require(model?.entitiesByName["Item"])
    let request = NSBatchUpdateRequest(entity: entity)
    request.propertiesToUpdate = ["b": 1]
    let name: String? = request.entity.name
    #expect(name == "Item" && request.entityName == "Item")
    let copy = try #require(request.copy() as? NSBatchUpdateRequest)
    #expect(copy.entity === entity)
    #expect(NSBatchUpdateRequest(entityName: "Item").entity == nil)
    try context.performAndWait {
      try context.execute(copy)
      let values = try context.everyObject(of: "Item").map { $0.value(forKey: "b") as? Int32 }
      #expect(values == [1, 1, 1])
    }
  }

  @Test("S7.35, S-G20 the row cache keeps the old row, which a refreshed object reads")
  func rowCacheKeepsTheRowBeforeTheUpdate() throws {
    let stack = try stack(2)
    let context = stack.context()
    try context.performAndWait {
      let items = try context.everyObject(of: "Item")
      #expect(items[0].value(forKey: "b") as? Int32 == 0)
      try context.execute(request())
      #expect(items[0].value(forKey: "b") as? Int32 == 0)
      context.refresh(items[0], mergeChanges: false)
      let refreshed = costs(of: context) { #expect(items[0].value(forKey: "b") as? Int32 == 0) }
      #expect(refreshed.hits == 1 && refreshed.selects == 0)
      context.refreshAllObjects()
      let again = costs(of: context) { #expect(items[0].value(forKey: "b") as? Int32 == 0) }
      #expect(again.hits == 1 && again.selects == 0)
      context.refresh(items[0], mergeChanges: false)
      context.stalenessInterval = 0
      #expect(items[0].value(forKey: "b") as? Int32 == 7)
    }
  }

  @Test("S7.37 an ID fetch updates the row cache, which fulfills refreshed objects")
  func idFetchUpdatesTheRowCache() throws {
    let stack = try stack(3)
    let context = stack.context()
    try context.performAndWait {
      let items = try context.everyObject(of: "Item")
      for item in items { #expect(item.value(forKey: "b") as? Int32 == 0) }
      try context.execute(request("a < 2"))
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
      request.resultType = .managedObjectIDResultType
      var ids: [NSManagedObjectID] = []
      #expect(try costs(of: context) { ids = try context.fetch(request) }.selects == 1)
      for item in items { context.refresh(item, mergeChanges: false) }
      let cost = costs(of: context) {
        #expect(items.map { $0.value(forKey: "b") as? Int32 } == [7, 7, 0])
      }
      #expect(cost.selects == 0 && cost.hits == 3 && ids.count == 3)
    }
  }

  @Test("S7.38 an object read before the update conflicts with its row when it's saved")
  func objectReadBeforeTheUpdateConflictsWhenSaved() throws {
    let stack = try stack(1)
    let context = stack.context()
    try context.performAndWait {
      let item = try #require(try context.everyObject(of: "Item").first)
      #expect(item.value(forKey: "b") as? Int32 == 0)
      try context.execute(request())
      item.setValue(9, forKey: "a")
      let error = thrownError { try context.save() }
      let conflict = (error?.userInfo["conflictList"] as? [NSMergeConflict])?.first
      #expect(error?.code == NSManagedObjectMergeError)
      #expect(conflict?.objectSnapshot == nil)
      #expect(conflict?.cachedSnapshot?["b"] as? Int32 == 0)
      #expect(conflict?.persistedSnapshot?["b"] as? Int32 == 7)
    }
  }

  @Test("S7.40 the result is a status, the object IDs, or the number of updated rows")
  func resultIsAStatusObjectIDsOrACount() throws {
    let stack = try stack(4)
    let context = stack.context()
    try context.performAndWait {
      let request = request("a >= 2", b: NSExpression(forKeyPath: "a"))
      var result = try context.execute(request) as? NSBatchUpdateResult
      #expect(result?.result as? Bool == true)
      request.resultType = .updatedObjectsCountResultType
      result = try context.execute(request) as? NSBatchUpdateResult
      #expect(result?.result as? Int == 2)
      request.resultType = .updatedObjectIDsResultType
      result = try context.execute(request) as? NSBatchUpdateResult
      let ids = try #require(result?.result as? [NSManagedObjectID])
      let numbers = ids.map { context.object(with: $0).value(forKey: "b") as? Int32 }
      #expect(Set(numbers) == [2, 3])
      request.propertiesToUpdate = ["b": NSNull()]
      try context.execute(request)
      request.predicate = NSPredicate(format: "b == nil")
      request.resultType = .updatedObjectsCountResultType
      result = try context.execute(request) as? NSBatchUpdateResult
      #expect(result?.result as? Int == 2)
    }
  }

  @Test("A Boolean is whether a number isn't 0, also if it's inserted, or copied from an attribute")
  func booleansAreUpdatedToNumbers() throws {
    let stack = try SharedStack(.sqlite, TestModels.library())
    let context = stack.context()
    try context.performAndWait {
      for double in [0.5, 0, 7] { _ = context.make("Article", ["double": double]) }
      try context.save()
      try context.execute(NSBatchInsertRequest(entityName: "Article", objects: [["bool": 2]]))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
      request.predicate = NSPredicate(format: "bool == TRUE")
      #expect(try context.count(for: request) == 1)
      for (value, count) in [(NSExpression(forKeyPath: "double"), 2), (0.5, 4), (0, 0)]
        as [(Any, Int)]
      {
        let update = NSBatchUpdateRequest(entityName: "Article")
        update.propertiesToUpdate = ["bool": value]
        try context.execute(update)
        #expect(try context.count(for: request) == count, "\(value)")
      }
    }
  }

  @Test("A float that's computed or copied has a float's precision, as if it were set")
  func computedFloatsHaveTheirPrecision() throws {
    let stack = try SharedStack(.sqlite, TestModels.library())
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Article", ["double": 0.1, "int32": Int32(16_777_217)])
      try context.save()
      let cases: [(String, Double)] = [
        ("double", 0.1), ("double * 3", 0.3), ("int32", 16_777_217),
        ("TERNARY(int32 > 1, double, 1)", 0.1),
      ]
      for (format, expected) in cases {
        let update = NSBatchUpdateRequest(entityName: "Article")
        update.propertiesToUpdate = ["float": NSExpression(format: format)]
        try context.execute(update)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
        request.predicate = NSPredicate(
          format: "float == %@", NSNumber(value: Float(expected)))
        #expect(try context.count(for: request) == 1, "\(format)")
      }
    }
  }

  @Test("An expression is evaluated for each row, with its values before the update")
  func expressionsAreEvaluatedForEachRow() throws {
    let stack = try SharedStack(.sqlite, TestModels.library())
    let context = stack.context()
    try context.performAndWait {
      for number in [5, 8] {
        _ = context.make(
          "Article",
          [
            "int16": 7, "int32": number, "int64": 40, "double": 1.5, "bool": true,
            "decimal": Decimal(5) / 2, "date": Date(timeIntervalSinceReferenceDate: 100),
            "string": "ab",
          ])
      }
      try context.save()
      let update = NSBatchUpdateRequest(entityName: "Article")
      update.predicate = NSPredicate(format: "int16 IN {7, 9}")
      let formats = [
        "int16": "int16 / 2", "int32": "int32 + 1", "int64": "int64 * double + 0.7",
        "double": "int32 / 2.0", "bool": "int32 - 5", "decimal": "decimal + 1",
        "date": "date + 60", "string": "uppercase(string)",
        "float": "TERNARY(int32 IN {5, 6}, 0.5, double)",
      ]
      update.propertiesToUpdate = formats.mapValues { NSExpression(format: $0) }
      let cost = try costs(of: context) { try context.execute(update) }
      #expect(cost.updates == 1 && cost.selects == 0)
      let constant = NSBatchUpdateRequest(entityName: "Article")
      constant.propertiesToUpdate = ["data": NSNull(), "uuid": NSExpression(format: "nil")]
      try context.execute(constant)
    }
    let reader = try stack.foreignContext()
    try reader.performAndWait {
      for (article, number) in zip(try reader.everyObject(of: "Article"), [5, 8]) {
        #expect(article.value(forKey: "int16") as? Int16 == 3)
        #expect(article.value(forKey: "int32") as? Int32 == Int32(number + 1))
        #expect(article.value(forKey: "int64") as? Int64 == 60)
        #expect(article.value(forKey: "double") as? Double == Double(number) / 2)
        #expect(article.value(forKey: "bool") as? Bool == (number != 5))
        #expect(article.value(forKey: "decimal") as? Decimal == Decimal(7) / 2)
        let date = article.value(forKey: "date") as? Date
        #expect(date == Date(timeIntervalSinceReferenceDate: 160))
        #expect(article.value(forKey: "string") as? String == "AB")
        #expect(article.value(forKey: "float") as? Float == (number == 5 ? 0.5 : 1.5))
      }
      // Values that are saved compare as those of the same type.
      let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
      request.predicate = NSPredicate(format: "int64 == 60 AND bool IN {0, 1}")
      #expect(try reader.count(for: request) == 2)
    }
  }

  @Test(
    "An expression of another type or row, or beyond 64 bits, is an error and changes nothing",
    arguments: [
      ("int32", "tags.@count", "can't follow a relationship"),
      ("int32", "int32 + SUBQUERY(tags, $t, $t.name == 'a').@count", "can't follow a relationship"),
      ("string", "int32 + 1", "the type of Article.string"),
      ("int32", "uppercase(string)", "the type of Article.int32"),
      ("date", "date - date", "the type of Article.date"),
      ("int32", "TERNARY(int32 > 1, 'x', 1)", "the type of Article.int32"),
      ("int32", "int32 + missing", "Article has no property missing"),
      ("int32", "int32 + $x", "$x"),
      ("int64", "int64 + 9223372036854775807", ""),
    ])
  func invalidExpressionsChangeNothing(name: String, format: String, message: String) throws {
    let stack = try SharedStack(.sqlite, TestModels.library())
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Article", ["int32": 2, "int64": 3, "string": "ab"])
      try context.save()
      let update = NSBatchUpdateRequest(entityName: "Article")
      update.propertiesToUpdate = [name: NSExpression(format: format)]
      let error = try #require(thrownError { try context.execute(update) })
      #expect(message.isEmpty || error.localizedDescription.contains(message), "\(error)")
    }
    let reader = try stack.foreignContext()
    try reader.performAndWait {
      let article = try #require(try reader.everyObject(of: "Article").first)
      #expect(article.value(forKey: "int32") as? Int32 == 2)
      #expect(article.value(forKey: "int64") as? Int64 == 3)
      #expect(article.value(forKey: "string") as? String == "ab")
    }
  }

  @Test("An expression across a to-one relationship is an error")
  func expressionsFollowNoRelationship() throws {
    let stack = try SharedStack(.sqlite, TestModels.company())
    let context = stack.context()
    context.performAndWait {
      let update = NSBatchUpdateRequest(entityName: "Employee")
      update.propertiesToUpdate = ["name": NSExpression(format: "uppercase(department.name)")]
      let error = thrownError { try context.execute(update) }
      #expect(error?.localizedDescription.contains("can't follow a relationship") == true)
    }
  }

  @Test("An invalid request, or one on an in-memory store, throws an error")
  func invalidRequestIsAnError() throws {
    let stack = try SharedStack(.sqlite, TestModels.company())
    let context = stack.context()
    context.performAndWait {
      for properties in [["department": NSNull()], ["none": 1], ["name": Date()], [:]]
        as [[String: Any]]
      {
        let request = NSBatchUpdateRequest(entityName: "Employee")
        request.propertiesToUpdate = properties
        #expect(thrownError { try context.execute(request) }?.domain == NSCocoaErrorDomain)
      }
    }
    let items = try self.stack(1)
    let writing = items.context()
    try writing.performAndWait {
      // The text would be read as 0.
      let copy = request(b: NSExpression(forKeyPath: "name"))
      let error = thrownError { try writing.execute(copy) }
      #expect(error?.localizedDescription.contains("their types differ") == true)
      let item = try writing.everyObject(of: "Item").first
      #expect(item?.value(forKey: "b") as? Int32 == 0)
    }
    let memory = try SharedStack(.memory, SavingModels.items()).context()
    memory.performAndWait {
      #expect(
        thrownError { try memory.execute(request()) }?.code
          == NSPersistentStoreUnsupportedRequestTypeError)
    }
  }
}
