import CoreDataCosts
import OpenCoreData
import Testing

@Suite("Saves to several stores")
struct SeveralStoresSaveTests {
  @Test(
    "S-H07 a new object is saved in the first store or in the assigned one",
    arguments: TwoStores.Pair.allCases)
  func newObjectIsSavedInTheFirstOrTheAssignedStore(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    let context = two.context()
    try context.performAndWait {
      let first = context.make("Employee", ["name": "a"])
      let second = context.make("Employee", ["name": "b"])
      context.assign(second, to: two.stores[1])
      #expect(second.nameValue == "b" && context.insertedObjects == [first, second])
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.saves == 1 && cost.inserts == pair.files)
      #expect(cost.transactions == 2 * pair.files)
      #expect(first.objectID.persistentStore === two.stores[0])
      #expect(second.objectID.persistentStore === two.stores[1])
      // Both are row 1 of their store.
      #expect(first.objectID != second.objectID)
      let reader = two.context()
      try reader.performAndWait {
        var twins: [NSManagedObject] = []
        for object in [first, second] {
          let uri = object.objectID.uriRepresentation()
          let id = try #require(two.coordinator.managedObjectID(forURIRepresentation: uri))
          #expect(id == object.objectID)
          let twin = try reader.existingObject(with: id)
          #expect(twin.nameValue == object.nameValue)
          #expect(reader.registeredObject(for: id) === twin)
          twins.append(twin)
        }
        #expect(reader.registeredObjects == Set(twins) && twins.count == 2)
      }
    }
  }

  @Test("A new object keeps its temporary ID when it's assigned to another store")
  func assignedObjectKeepsItsTemporaryID() throws {
    let two = try TwoStores(.memories)
    let context = two.context()
    try context.performAndWait {
      let employee = context.make("Employee", ["name": "a"])
      let id = employee.objectID
      let names = [id: "a"]
      context.assign(employee, to: two.stores[1])
      #expect(employee.objectID == id && names[employee.objectID] == "a")
      #expect(context.registeredObject(for: id) === employee)
      #expect(context.object(with: id) === employee)
      let found = try context.existingObject(with: id)
      #expect(found === employee && context.registeredObjects == [employee])
      try context.save()
      #expect(employee.objectID != id && employee.objectID.persistentStore === two.stores[1])
    }
  }

  @Test("S-H07 assigning a saved object, or to a store without its entity, stops the process")
  func invalidAssignmentsStopTheProcess() async {
    let saved = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let two = try TwoStores(.memories)
      let context = two.context()
      try context.performAndWait {
        let employee = context.make("Employee")
        try context.save()
        context.assign(employee, to: two.stores[1])
      }
    }
    #expect(saved.message.contains("is assigned to a store"))
    let missing = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let two = try TwoStores(.memories, configurations: ["Staff", "Places"])
      let context = two.context()
      context.performAndWait { context.assign(context.make("Employee"), to: two.stores[1]) }
    }
    #expect(missing.message.contains("doesn't have the entity 'Employee'"))
  }

  @Test(
    "S-E17 a relationship into another store fails the save",
    arguments: TwoStores.Pair.allCases)
  func relationshipIntoAnotherStoreFailsTheSave(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    let context = two.context()
    try context.performAndWait {
      let department = context.make("Department", ["name": "d"])
      context.assign(department, to: two.stores[1])
      try context.save()
      let employee = context.make("Employee", ["name": "e"])
      employee.setValue(department, forKey: "department")
      let error = try #require(context.saveError())
      #expect(error.code == NSPersistentStoreSaveError && error.domain == NSCocoaErrorDomain)
      #expect(error.localizedDescription.contains("another store"))
      #expect(error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == two.stores)
      #expect(
        error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [employee, department])
      #expect(context.insertedObjects == [employee])
      context.assign(employee, to: two.stores[1])
      try context.save()
      #expect(employee.objectID.persistentStore === two.stores[1])
    }
  }

  @Test("A save that fails in one store is rolled back in all", arguments: TwoStores.Pair.allCases)
  func saveThatFailsInOneStoreIsRolledBackInAll(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(4)
    for refusing in 0..<2 {
      let (one, other) = (two.context(), two.context())
      let loser = try one.performAndWait {
        let found = try one.fetch(TwoStores.request())
        for employee in found { employee.setValue("mine", forKey: "name") }
        one.make("Employee", ["name": "new"]).setValue(nil, forKey: "department")
        let refused = found.first { $0.objectID.persistentStore === two.stores[refusing] }
        return try #require(refused).objectID
      }
      try other.performAndWait {
        other.object(with: loser).setValue("theirs", forKey: "name")
        try other.save()
      }
      try one.performAndWait {
        #expect(one.saveError()?.code == NSManagedObjectMergeError)
        #expect(one.insertedObjects.map(\.objectID.isTemporaryID) == [true])
        let cold = two.context()
        try cold.performAndWait {
          let names = try cold.fetch(TwoStores.request()).map(\.nameValue)
          #expect(names.count == 4 && !names.contains("mine"))
        }
        one.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try one.save()
      }
      let cold = two.context()
      try cold.performAndWait {
        let all = try cold.fetch(TwoStores.request())
        #expect(all.count { $0.nameValue == "mine" } == 4 && all.count == 5)
        for (number, employee) in all.enumerated() {
          if employee.nameValue == "new" {
            cold.delete(employee)
          } else {
            employee.setValue("e0\(number)", forKey: "name")
          }
        }
        try cold.save()
      }
    }
  }

  @Test(
    "Merging distinguishes equal primary keys of two stores", arguments: TwoStores.Pair.allCases)
  func mergeDistinguishesEqualPrimaryKeysOfTwoStores(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(4)
    let (here, there) = (two.context(), two.context())
    let mine = try here.performAndWait { try here.fetch(TwoStores.request()) }
    here.performAndWait { for employee in mine { _ = employee.nameValue } }
    nonisolated(unsafe) var saved: Notification?
    let watch = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: there, queue: nil
    ) { note in
      nonisolated(unsafe) let found = note
      saved = found
    }
    defer { NotificationCenter.default.removeObserver(watch) }
    try there.performAndWait {
      let found = try there.fetch(TwoStores.request())
      found[1].setValue("changed", forKey: "name")
      there.delete(found[2])
      try there.save()
    }
    try here.performAndWait {
      here.mergeChanges(fromContextDidSave: try #require(saved))
      #expect(mine.map(\.isDeleted) == [false, false, true, false])
      #expect(mine[1].nameValue == "changed" && mine[0].nameValue == "e00")
      #expect(mine[3].nameValue == "e03")
      let first = TwoStores.request { $0.affectedStores = [two.stores[0]] }
      #expect(try here.fetch(first).map(\.nameValue) == ["e00"])
    }
  }

  @Test("Batch requests and history include both stores")
  func batchRequestsAndHistoryIncludeBothStores() throws {
    let two = try TwoStores(.files, options: [NSPersistentHistoryTrackingKey: true])
    try two.addEmployees(6)
    let context = two.context()
    try context.performAndWait {
      let update = NSBatchUpdateRequest(entityName: "Employee")
      update.predicate = NSPredicate(format: "name > 'e01'")
      update.propertiesToUpdate = ["name": "x"]
      update.resultType = .updatedObjectIDsResultType
      let updated = try context.execute(update) as? NSBatchUpdateResult
      let ids = try #require(updated?.result as? [NSManagedObjectID])
      #expect(ids.count == 4 && Set(ids.map { $0.persistentStore?.identifier }).count == 2)
      let delete = NSBatchDeleteRequest(objectIDs: [ids[0], ids[3]])
      delete.resultType = .resultTypeCount
      #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 2)
      for store in two.stores {
        #expect(try context.count(for: TwoStores.request { $0.affectedStores = [store] }) == 2)
      }
      let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "n"]])
      insert.affectedStores = [two.stores[1]]
      _ = try context.execute(insert)
      let second = TwoStores.request { $0.affectedStores = [two.stores[1]] }
      #expect(try context.fetch(second).map(\.nameValue) == ["e01", "n", "x"])
      let history = NSPersistentHistoryChangeRequest.fetchHistory(
        after: nil as NSPersistentHistoryToken?)
      let result = try context.execute(history) as? NSPersistentHistoryResult
      let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
      #expect(Set(transactions.map(\.storeID)) == Set(two.stores.map(\.identifier)))
      #expect(transactions.map(\.timestamp) == transactions.map(\.timestamp).sorted())
      let token = try #require(two.coordinator.currentPersistentHistoryToken(fromStores: nil))
      let rest = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
      #expect(((rest as? NSPersistentHistoryResult)?.result as? [Any])?.isEmpty == true)
    }
  }

  @Test("A batch deletion uses the affected stores of its fetch; an insertion needs one")
  func batchRequestsUseTheirAffectedStores() throws {
    let two = try TwoStores(.files)
    try two.addEmployees(6)
    let context = two.context()
    try context.performAndWait {
      let fetch = TwoStores.request { $0.affectedStores = [two.stores[0]] }
      let delete = NSBatchDeleteRequest(fetchRequest: fetch)
      delete.resultType = .resultTypeCount
      #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 3)
      #expect(try context.fetch(TwoStores.request()).map(\.nameValue) == ["e01", "e03", "e05"])
      let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "n"]])
      insert.affectedStores = []
      #expect(thrownError { try context.execute(insert) }?.code == NSPersistentStoreSaveError)
      // Without affected stores, it uses the first one that can be written.
      insert.affectedStores = nil
      two.stores[0].isReadOnly = true
      try context.execute(insert)
      let second = TwoStores.request { $0.affectedStores = [two.stores[1]] }
      #expect(try context.fetch(second).map(\.nameValue) == ["e01", "e03", "e05", "n"])
    }
  }

  @Test("The history token of a save doesn't include a transaction that was rolled back before")
  func tokenExcludesATransactionThatWasRolledBack() throws {
    let two = try TwoStores(
      .files, configurations: ["Staff", "Places"],
      options: [NSPersistentHistoryTrackingKey: true])
    let context = two.context()
    try context.performAndWait {
      _ = context.make("Employee", ["name": "e"])
      let department = context.make("Department", ["name": "d"])
      try context.save()
      let other = two.context()
      try other.performAndWait {
        other.object(with: department.objectID).setValue("theirs", forKey: "name")
        try other.save()
      }
      let employee = context.make("Employee", ["name": "f"])
      department.setValue("mine", forKey: "name")
      #expect(context.saveError()?.code == NSManagedObjectMergeError)
      context.delete(employee)
      context.refresh(department, mergeChanges: false)
      department.setValue("mine", forKey: "name")
      nonisolated(unsafe) var token: NSPersistentHistoryToken?
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { note in
        nonisolated(unsafe) let found =
          note.userInfo?[NSManagedObjectContext.newHistoryTokenKey]
        token = found as? NSPersistentHistoryToken
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      try context.save()
      let present = two.coordinator.currentPersistentHistoryToken(fromStores: nil)
      #expect(token != nil && token == present)
    }
  }
}
