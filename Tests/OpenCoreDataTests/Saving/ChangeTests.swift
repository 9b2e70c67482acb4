import CoreDataCosts
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Unsaved changes")
struct ChangeTests {
  private func workshop(
    _ kind: StoreKind = .sqlite
  ) throws -> (TestStack, NSManagedObjectContext) {
    let stack = try TestStack(kind, model: WorkshopModel.make())
    return (stack, try stack.coldContext())
  }

  private func all(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject]
  {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
  }

  @Test(
    "A fault can be deleted, even if its row is missing",
    arguments: StoreKind.ofRows)
  func faultCanBeDeletedEvenIfItsRowIsMissing(kind: StoreKind) throws {
    let (stack, writer) = try workshop(kind)
    try writer.performAndWait {
      for number in 0..<2 { _ = writer.make("Tag", ["number": Int64(number)]) }
      try writer.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let tags = try all("Tag", context)
      context.delete(tags[0])
      try context.save()
      #expect(!tags[0].isDeleted && tags[0].managedObjectContext == nil)
      try writer.performAndWait {
        for tag in try all("Tag", writer) { writer.delete(tag) }
        try writer.save()
      }
      context.refresh(tags[1], mergeChanges: false)
      let store = try #require(context.coordinator?.firstStore)
      store.withShared {
        $0.rows.forget(rootIndex: tags[1].layout.rootIndex, key: tags[1].primaryKey, commit: 0)
      }
      context.delete(tags[1])
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test(
    "Deleting a new object leaves nothing to save",
    arguments: StoreKind.allCases)
  func deletingANewObjectLeavesNothingToSave(kind: StoreKind) throws {
    let (_, context) = try workshop(kind)
    try context.performAndWait {
      let team = context.make("Team")
      try context.save()
      let person = context.make("Person", ["team": team])
      context.delete(person)
      context.processPendingChanges()
      #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
      #expect(person.managedObjectContext == nil && !person.isDeleted && !person.isInserted)
      #expect((team.value(forKey: "members") as? Set<NSManagedObject>) == [])
      try context.save()
      #expect(try all("Person", context).isEmpty)
    }
  }

  @Test("A value set again after a refresh is written once", arguments: StoreKind.allCases)
  func valueSetAgainAfterARefreshIsWrittenOnce(kind: StoreKind) throws {
    let (stack, context) = try workshop(kind)
    try context.performAndWait {
      let team = context.make("Team")
      try context.save()
      team.setValue("a", forKey: "name")
      context.refresh(team, mergeChanges: false)
      team.setValue("b", forKey: "name")
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.updates == stack.statements(1))
    }
  }

  @Test(
    "Refreshing a deleted object cancels the deletion",
    arguments: StoreKind.allCases)
  func refreshingADeletedObjectCancelsItsDeletion(kind: StoreKind) throws {
    let (_, context) = try workshop(kind)
    try context.performAndWait {
      let person = context.make("Person")
      let gadget = context.make("Gadget", ["owner": person])
      try context.save()
      context.delete(person)
      context.refresh(person, mergeChanges: false)
      try context.save()
      #expect(!gadget.isDeleted && gadget.value(forKey: "owner") as? NSManagedObject === person)
    }
  }

  @Test(
    "A merging refresh keeps changed to-many relationships, fired or not",
    arguments: StoreKind.allCases)
  func mergingRefreshKeepsChangedToManyRelationships(kind: StoreKind) throws {
    let (stack, context) = try workshop(kind)
    try context.performAndWait {
      let person = context.make("Person")
      let tags = (0..<3).map { _ in context.make("Tag") }
      person.setValue(Set([tags[0]]), forKey: "tags")
      try context.save()
      person.setValue(Set([tags[1]]), forKey: "tags")
      tags[2].setValue(Set([person]), forKey: "workers")
      context.refreshAllObjects()
      #expect(person.value(forKey: "tags") as? Set<NSManagedObject> == [tags[1], tags[2]])
      try context.save()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let tags = try #require(try all("Person", cold).first).value(forKey: "tags")
      #expect((tags as? Set<NSManagedObject>)?.count == 2)
    }
  }

  @Test("A merging refresh resolves a conflict with another coordinator")
  func mergingRefreshResolvesAConflict() throws {
    let (stack, context) = try workshop()
    try context.performAndWait {
      let team = context.make("Team", ["name": "a", "number": Int64(1)])
      try context.save()
      let other = try stack.coldContext()
      try other.performAndWait {
        try #require(try all("Team", other).first).setValue(Int64(2), forKey: "number")
        try other.save()
      }
      team.setValue("b", forKey: "name")
      #expect(throws: NSError.self) { try context.save() }
      context.refresh(team, mergeChanges: true)
      try context.save()
      #expect(team.value(forKey: "number") as? Int64 == 2)
      #expect(team.value(forKey: "name") as? String == "b")
    }
  }

  @Test(
    "A relationship to an object without a context fails validation with error 1550",
    arguments: StoreKind.allCases)
  func relationshipToAnObjectWithoutAContextFailsValidation(kind: StoreKind) throws {
    let (stack, context) = try workshop(kind)
    try context.performAndWait {
      let entity = try #require(stack.model.entitiesByName["Team"])
      let stray = NSManagedObject(entity: entity, insertInto: nil)
      let person = context.make("Person", ["team": stray])
      do {
        try context.save()
        Issue.record("the save didn't fail")
      } catch let error as NSError {
        #expect(error.code == NSManagedObjectValidationError)
      }
      person.setValue(nil, forKey: "team")
      try context.save()
    }
  }

  @Test(
    "A to-one relationship that was set to a deleted object fails validation with error 1550",
    arguments: StoreKind.allCases)
  func relationshipToADeletedObjectFailsValidation(kind: StoreKind) throws {
    let (stack, context) = try workshop(kind)
    try context.performAndWait {
      let team = context.make("Team", ["name": "t"])
      let person = context.make("Person", ["name": "p"])
      try context.save()
      context.delete(team)
      // The delete rules run before the relationship is set.
      context.processPendingChanges()
      person.setValue(team, forKey: "team")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectValidationError)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "team")
      #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === person)
      #expect(context.deletedObjects == [team])
      person.setValue(nil, forKey: "team")
      try context.save()
      #expect(try all("Team", context).isEmpty)
      #expect(person.value(forKey: "team") == nil)
    }
    withExtendedLifetime(stack) {}
  }

  @Test("A slower reader doesn't restore a deleted row", arguments: StoreKind.allCases)
  func slowerReaderDoesNotRestoreADeletedRow(kind: StoreKind) throws {
    let (_, context) = try workshop(kind)
    try context.performAndWait {
      let team = context.make("Team")
      try context.save()
      let (root, key) = (team.layout.rootIndex, team.primaryKey)
      let store = try #require(context.coordinator?.firstStore)
      var builder = RowBuilder(layout: team.layout)
      let old = builder.finish(version: 1)
      store.withShared { shared in
        shared.rows.forget(rootIndex: root, key: key, commit: 9)
        let used = shared.rows.install(old, rootIndex: root, key: key, commit: 8, timestamp: 0)
        used.release()
        #expect(shared.rowVersion(rootIndex: root, key: key) == nil)
        shared.rows.forget(rootIndex: root, key: key, commit: 0)
      }
    }
  }

  @Test(
    "Nested blocks can reenter their own context",
    arguments: StoreKind.allCases)
  func nestedBlocksCanReenterTheirContext(kind: StoreKind) throws {
    let (_, first) = try workshop(kind)
    let second = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    second.persistentStoreCoordinator = first.persistentStoreCoordinator
    try first.performAndWait {
      let team = first.make("Team")
      try second.performAndWait {
        _ = second.make("Tag")
        try first.performAndWait {
          #expect(first.insertedObjects == [team])
          try first.save()
        }
        #expect(try all("Team", second).count == 1 && second.insertedObjects.count == 1)
      }
      #expect(!first.hasChanges && !team.objectID.isTemporaryID)
    }
  }

  @Test(
    "A deleted row's to-many relationship contains the rows that refer to it",
    arguments: StoreKind.ofRows)
  func toManyOfADeletedRowContainsRowsThatReferToIt(_ kind: StoreKind) throws {
    let model = WorkshopModel.make()
    for entity in model.entities {
      entity.relationshipsByName["minions"]?.deleteRule = .noActionDeleteRule
    }
    let bed = try ContextBed(kind, model: model)
    let ids = try bed.addPeople(2)
    let (reader, deleter, writer) = (bed.context(), bed.context(), bed.context())
    let boss = reader.performAndWait {
      let boss = reader.object(with: ids[0])
      #expect(boss.label == "p1")
      return boss
    }
    deleter.performAndWait {
      deleter.mergePolicy = NSMergePolicy.overwrite
      deleter.delete(deleter.object(with: ids[0]))
    }
    try writer.performAndWait {
      writer.object(with: ids[1]).setValue(writer.object(with: ids[0]), forKey: "boss")
      try writer.save()
    }
    try deleter.performAndWait { try deleter.save() }
    reader.performAndWait {
      let minions = boss.value(forKey: "minions") as? Set<NSManagedObject>
      #expect(minions?.map(\.objectID) == [ids[1]])
    }
  }

  @Test("A reset ends retain cycles of objects", arguments: StoreKind.allCases)
  func deregisteredObjectsReleaseEachOther(kind: StoreKind) throws {
    let (_, context) = try workshop(kind)
    weak var person: NSManagedObject?
    try context.performAndWait {
      let team = context.make("Team")
      let member = context.make("Person", ["team": team])
      try context.save()
      #expect((team.value(forKey: "members") as? Set<NSManagedObject>) == [member])
      person = member
    }
    #expect(person != nil)
    context.performAndWait { context.reset() }
    #expect(person == nil)
  }

  @Test(
    "Fetched object IDs keep their rows cached, with unsaved changes too", .ofOwnStores,
    arguments: StoreKind.allCases)
  func fetchedIDsKeepTheirRowsCachedWithUnsavedChanges(kind: StoreKind) throws {
    let (stack, writer) = try workshop(kind)
    try writer.performAndWait {
      for _ in 0..<3 { _ = writer.make("Team") }
      try writer.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      _ = context.make("Team")
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Team")
      request.resultType = .managedObjectIDResultType
      let ids = try context.fetch(request)
      #expect(ids.count == 4)
      #expect(try stack.cachedRows(context) == 3)
      withExtendedLifetime(ids) {}
    }
  }

  @Test(
    "Rows prefetched along different paths are retained", .ofOwnStores,
    arguments: StoreKind.allCases)
  func rowsPrefetchedAlongDifferentPathsAreRetained(kind: StoreKind) throws {
    let (stack, writer) = try workshop(kind)
    try writer.performAndWait {
      let person = writer.make("Person", ["team": writer.make("Team")])
      _ = writer.make("Gadget", ["owner": person])
      try writer.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      var people: [NSManagedObject] = []
      for path in ["team", "gadgets", "team"] {
        request.relationshipKeyPathsForPrefetching = [path]
        people = try context.fetch(request)
      }
      #expect(try stack.cachedRows(context) == 3)
      let team = people.first?.value(forKey: "team") as? NSManagedObject
      #expect(costs(of: context) { _ = team?.value(forKey: "name") }.misses == 0)
      request.relationshipKeyPathsForPrefetching = ["nothing"]
      request.predicate = NSPredicate(value: false)
      #expect(throws: NSError.self) { try context.fetch(request) }
    }
  }

  @Test(
    "A batched result keeps unsaved objects after a save",
    arguments: StoreKind.allCases)
  func batchedResultKeepsUnsavedObjectsAfterASave(kind: StoreKind) throws {
    let (_, context) = try workshop(kind)
    try context.performAndWait {
      let team = context.make("Team", ["name": "new"])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
      request.fetchBatchSize = 1
      let result = try context.fetchBatched(request)
      try context.save()
      #expect(result.count == 1 && result[0] === team)
    }
  }
}
