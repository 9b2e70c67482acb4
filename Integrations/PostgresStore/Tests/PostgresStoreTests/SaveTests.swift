import OpenCoreData
import PostgresDriver
import PostgresStore
import Synchronization
import Testing

@Suite("Saving and conflicts")
struct SaveTests {
  private let stack: PostgresStack

  init() throws {
    stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    try context.performAndWait {
      context.insert("Person", ["name": "Ada", "age": 36, "score": 1.0])
      try context.save()
    }
  }

  /// Changes Ada's row through another coordinator.
  private func changeElsewhere(_ change: (NSManagedObject) -> Void) throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      change(try context.named("Ada"))
      try context.save()
    }
  }

  private func stored(_ key: String) throws -> Any? {
    let context = try stack.coldContext()
    return try context.performAndWait { try context.all("Person").first?.value(forKey: key) }
  }

  @Test("A row that another coordinator has changed is a conflict with both versions and snapshots")
  func changedRowsAreConflicts() throws {
    let context = stack.context()
    try context.performAndWait {
      let ada = try context.named("Ada")
      #expect(ada.name == "Ada")
      try changeElsewhere { $0.setValue(37, forKey: "age") }
      ada.setValue("Adele", forKey: "name")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      let conflict = try #require(conflicts?.first)
      #expect(conflict.sourceObject === ada)
      #expect((conflict.oldVersionNumber, conflict.newVersionNumber) == (1, 2))
      #expect((conflict.persistedSnapshot?["age"] as? NSNumber)?.intValue == 37)
      #expect((conflict.cachedSnapshot?["age"] as? NSNumber)?.intValue == 36)
      #expect(conflict.persistedSnapshot?["boss"] is NSNull)
      // Nothing was written, and a second attempt finds the same conflict.
      let second = #expect(throws: NSError.self) { try context.save() }
      #expect(second?.code == NSManagedObjectMergeError)
    }
    try expectEqual(stored("name") as? String, "Ada")
  }

  @Test("A to-many that two coordinators add to is a conflict of its owner")
  func ownersOfToManyRelationshipsAreCompared() throws {
    let (first, second) = (stack.context(), try stack.coldContext())
    try first.performAndWait {
      first.insert("Department", ["name": "Sales"])
      try first.save()
    }
    for context in [first, second] {
      try context.performAndWait {
        let sales = try #require(try context.all("Department").first)
        #expect(sales.names("people") == [])
        context.insert("Person", ["name": "New", "department": sales])
      }
    }
    try first.performAndWait { try first.save() }
    second.performAndWait {
      let error = #expect(throws: NSError.self) { try second.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
  }

  @Test(
    "Each merge policy resolves a conflict in its way",
    arguments: [
      (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, "mine", 38, 5.0),
      (.mergeByPropertyStoreTrumpMergePolicyType, "theirs", 38, 5.0),
      (.overwriteMergePolicyType, "mine", 38, 1.0),
      (.rollbackMergePolicyType, "theirs", 36, 5.0),
    ])
  func policiesResolveConflicts(
    type: NSMergePolicyType, name: String, age: Int, score: Double
  ) throws {
    let context = stack.context()
    context.mergePolicy = NSMergePolicy(merge: type)
    try context.performAndWait {
      let ada = try context.named("Ada")
      #expect(ada.name == "Ada")
      try changeElsewhere {
        $0.setValue("theirs", forKey: "name")
        $0.setValue(5.0, forKey: "score")
      }
      ada.setValue("mine", forKey: "name")
      ada.setValue(38, forKey: "age")
      try context.save()
      #expect(ada.name == name)
    }
    try expectEqual(stored("name") as? String, name)
    #expect((try stored("age") as? NSNumber)?.intValue == age)
    #expect((try stored("score") as? NSNumber)?.doubleValue == score)
  }

  @Test(
    "A row that others have deleted is inserted again, or the object is deleted, as the policy says",
    arguments: [
      (NSMergePolicyType.overwriteMergePolicyType, true),
      (.mergeByPropertyObjectTrumpMergePolicyType, true),
      (.mergeByPropertyStoreTrumpMergePolicyType, false), (.rollbackMergePolicyType, false),
    ])
  func policiesResolveDeletions(type: NSMergePolicyType, isKept: Bool) throws {
    let context = stack.context()
    try context.performAndWait {
      let ada = try context.named("Ada")
      ada.setValue("mine", forKey: "name")
      try changeElsewhere { $0.managedObjectContext?.delete($0) }
      for _ in 0..<2 {
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectMergeError)
      }
      context.mergePolicy = NSMergePolicy(merge: type)
      try context.save()
      #expect(!context.hasChanges)
    }
    try expectEqual(stored("name") as? String, (isKept ? "mine" : nil))
    #expect((try stored("age") as? NSNumber)?.intValue == (isKept ? 36 : nil))
  }

  @Test("Deleting a row that others have changed is a conflict; one that is gone isn't")
  func deletionsAreCompared() throws {
    let context = stack.context()
    try context.performAndWait {
      let ada = try context.named("Ada")
      #expect(ada.name == "Ada")
      try changeElsewhere { $0.setValue(1, forKey: "age") }
      context.delete(ada)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      try changeElsewhere { $0.managedObjectContext?.delete($0) }
      try context.save()
    }
    try expectEqual(stored("name") as? String, nil)
  }

  @Test(
    "Contexts of one coordinator conflict with each other, also over an object that one has inserted"
  )
  func contextsConflict() throws {
    let (first, second) = (stack.context(), stack.context())
    let new = try first.performAndWait {
      let new = first.insert("Person", ["name": "New"])
      try first.save()
      return new
    }
    try second.performAndWait {
      try second.named("New").setValue(1, forKey: "age")
      try second.save()
    }
    try first.performAndWait {
      new.setValue(2, forKey: "age")
      let error = #expect(throws: NSError.self) { try first.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try first.save()
      // The saved version is known, so the next save has no conflict.
      first.mergePolicy = NSMergePolicy.error
      new.setValue(3, forKey: "age")
      try first.save()
    }
  }

  @Test("A locked object whose row others have changed is a conflict")
  func lockedObjectsAreCompared() throws {
    let context = stack.context()
    try context.performAndWait {
      context.detectConflicts(for: try context.named("Ada"))
      context.insert("Person", ["name": "Ben"])
      try context.save()
      context.detectConflicts(for: try context.named("Ada"))
      try changeElsewhere { $0.setValue(1, forKey: "age") }
      context.insert("Person", ["name": "Cleo"])
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
  }

  @Test("Many rows are written with few statements, and a save is one transaction")
  func manyRowsAreWritten() throws {
    let context = stack.context()
    let count = 2_500
    try context.performAndWait {
      for number in 0..<count {
        context.insert(
          number % 3 == 0 ? "Manager" : "Person", ["name": "n\(number)", "age": number])
      }
      try context.save()
      for object in try context.all("Person", "name BEGINSWITH 'n'") {
        object.setValue(-1, forKey: "age")
      }
      try context.save()
      for object in try context.all("Person", "name LIKE 'n*0'") { context.delete(object) }
      try context.save()
      let left = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
      #expect(left == 1 + count - count / 10)
    }
    let keys = try TestServer.connection().query(
      "SELECT count(DISTINCT z_pk), count(*) FILTER (WHERE age = -1 AND z_opt = 2), count(*) "
        + "FROM \(stack.quoted).\"Person\"")
    #expect(keys.integer(0, 0) == keys.integer(0, 2))
    #expect(keys.integer(0, 1) == Int64(count - count / 10))
  }

  @Test("A uniqueness constraint is checked when the transaction ends, and the policy resolves it")
  func uniqueValues() throws {
    let stack = try PostgresStack(SampleModels.accounts())
    let (context, other) = (stack.context(), try stack.coldContext())
    try other.performAndWait {
      other.insert("Account", ["name": "a", "balance": 1])
      other.insert("Account", ["name": "b", "balance": 2])
      other.insert("Account", ["balance": 3])
      other.insert("Account", ["balance": 4])
      try other.save()
    }
    try context.performAndWait {
      let new = context.insert("Account", ["name": "a", "balance": 10])
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
      #expect(list?.first?.constraint == ["name"])
      #expect(list?.first?.conflictingObjects.first === new)
      #expect((list?.first?.databaseSnapshot?["balance"] as? NSNumber)?.intValue == 1)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
    }
    // Two objects exchange their values.
    try other.performAndWait {
      other.refreshAllObjects()
      other.stalenessInterval = 0
      let accounts = try other.all("Account", "name != nil")
      #expect(accounts.map { ($0.value(forKey: "balance") as? NSNumber)?.intValue } == [10, 2])
      accounts[0].setValue("b", forKey: "name")
      accounts[1].setValue("a", forKey: "name")
      try other.save()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let balances = try cold.all("Account").map { ($0.value(forKey: "balance") as? Int) ?? 0 }
      #expect(balances.sorted() == [2, 3, 4, 10])
      try expectEqual(cold.named("a", "Account").value(forKey: "balance") as? Int, 2)
    }
  }

  @Test("A constraint holds for its entity, and not for others that have the attribute too")
  func uniqueValuesOfSubentities() throws {
    let person = SampleModels.entity(
      "Person", [SampleModels.attribute("name", .stringAttributeType)])
    let (manager, director) = (
      SampleModels.entity("Manager", [SampleModels.attribute("code", .stringAttributeType)]),
      SampleModels.entity("Director", [])
    )
    (person.subentities, manager.subentities) = ([manager], [director])
    manager.uniquenessConstraints = [["name"], ["code"]]
    let stack = try PostgresStack(SampleModels.model([person, manager, director]))
    let context = stack.context()
    try context.performAndWait {
      for entity in ["Person", "Person", "Manager"] {
        context.insert(entity, entity == "Person" ? ["name": "a"] : ["name": "a", "code": "1"])
      }
      try context.save()
      for values in [["name": "a", "code": "2"], ["name": "b", "code": "1"]] {
        let new = context.insert("Director", values)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey]
        let conflict = try #require((conflicts as? [NSConstraintConflict])?.first)
        #expect(conflict.databaseObject?.entity.name == "Manager")
        context.delete(new)
      }
      let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
      #expect(count == 3)
    }
  }

  @Test("A row that is locked for longer than the timeout is error 134090, and the changes stay")
  func lockedRowsTimeOut() throws {
    let locker = try TestServer.connection()
    let context = stack.context(
      try stack.newCoordinator(options: [NSPersistentStoreTimeoutOption: 0.5]))
    try context.performAndWait {
      let ada = try context.named("Ada")
      ada.setValue(1, forKey: "age")
      try locker.transaction {
        try locker.query("SELECT FROM \(stack.quoted).\"Person\" FOR UPDATE")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSPersistentStoreTimeoutError)
      }
      #expect(ada.hasChanges)
      try context.save()
    }
    #expect((try stored("age") as? NSNumber)?.intValue == 1)
  }

  @Test("Coordinators that save at the same time lose no update")
  func concurrentSaves() throws {
    let (rounds, writers) = (15, 4)
    nonisolated(unsafe) let stack = stack
    let failures = Mutex<[String]>([])
    onThreads(writers) { _ in
      do {
        let context = try stack.coldContext()
        for _ in 0..<rounds {
          while !(try context.performAndWait { try Self.count(context) }) {}
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect((try stored("age") as? NSNumber)?.intValue == 36 + rounds * writers)
  }

  /// Increases a number, and returns whether no other coordinator has changed the row in between.
  private static func count(_ context: NSManagedObjectContext) throws -> Bool {
    let ada = try context.named("Ada")
    context.stalenessInterval = 0
    context.refresh(ada, mergeChanges: false)
    let age = (ada.value(forKey: "age") as? NSNumber)?.intValue ?? 0
    ada.setValue(age + 1, forKey: "age")
    do {
      try context.save()
      return true
    } catch let error as NSError where error.code == NSManagedObjectMergeError {
      context.rollback()
      return false
    }
  }
}
