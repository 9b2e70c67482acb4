import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Notifications of contexts")
struct NotificationTests {
  @Test(
    "S7.07 one did-change notification per block, one did-save for all",
    arguments: StoreKind.allCases)
  func didChangeIsPostedPerBlockAndDidSavePerSave(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(3)
    let context = bed.context()
    let (changes, saves) = (NoteList(context), NoteList(context, .NSManagedObjectContextDidSave))
    for id in ids {
      context.performAndWait {
        for index in 0..<100 { context.object(with: id).number = Int64(index) }
      }
    }
    #expect(changes.notes.count == 3)
    try context.performAndWait { try context.save() }
    #expect(changes.notes.count == 3 && saves.notes.count == 1)
    #expect(saves.union(NSUpdatedObjectsKey).count == 3)
  }

  @Test(
    "S-C41 a refresh posts a change, and firing the fault posts nothing",
    arguments: StoreKind.allCases)
  func refreshPostsAChangeAndFiringTheFaultPostsNothing(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    context.performAndWait {
      let person = context.object(with: ids[0])
      #expect(person.label == "p1")
      let changes = NoteList(context)
      let before = context.counters
      context.refresh(person, mergeChanges: false)
      context.processPendingChanges()
      #expect(changes.notes.count == 1)
      #expect(changes.union(NSRefreshedObjectsKey) == [person])
      #expect(person.isFault && person.changedValues().isEmpty && !context.hasChanges)
      #expect(person.label == "p1")
      context.processPendingChanges()
      #expect(changes.notes.count == 1)
      let cost = context.counters - before
      #expect(cost.objectFaultHits == 1 && cost.objectFaultMisses == 0 && cost.selects == 0)
    }
  }

  @Test(
    "S-E21 dependent values are recomputed after did-change",
    arguments: StoreKind.allCases)
  func dependentValuesAreRecomputedAfterDidChange(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(3)
    let context = bed.context()
    try context.performAndWait {
      let people = try context.people()
      let team = try #require(people[0].value(forKey: "team") as? NSManagedObject)
      func total() -> Int64? {
        (team.value(forKeyPath: "members.@sum.number") as? NSNumber)?.int64Value
      }
      #expect(total() == 6)
      var totals: [Int64?] = []
      let changes = NoteList(context) { note in
        let posted = ["inserted", "updated"].flatMap {
          note.userInfo?[$0] as? Set<NSManagedObject> ?? []
        }
        // The members, or the team whose members changed.
        let members = team.value(forKey: "members") as? Set<NSManagedObject> ?? []
        if posted.contains(where: { $0 === team || members.contains($0) }) {
          totals.append(total())
        }
      }
      let before = context.counters
      people[0].number = 11
      context.processPendingChanges()
      _ = context.make("Person", ["name": "p4", "number": Int64(4), "team": team])
      context.processPendingChanges()
      people[1].setValue(nil, forKey: "team")
      context.processPendingChanges()
      #expect(totals == [16, 20, 18])
      // A change of the person's team isn't posted as a change of the person.
      team.label = "u"
      context.processPendingChanges()
      #expect(changes.names(NSUpdatedObjectsKey) == ["u"])
      #expect(people[0].value(forKeyPath: "team.name") as? String == "u")
      #expect((context.counters - before).selects == 0)
    }
  }

  @Test(
    "S7.09, S7.10 delete rules are applied before did-change, or at the save",
    arguments: StoreKind.allCases)
  func deleteRulesAreAppliedBeforeDidChangeOrAtTheSave(_ kind: StoreKind) throws {
    for isEarly in [true, false] {
      let bed = try ContextBed(kind)
      let context = bed.context()
      try context.performAndWait {
        let person = context.make("Person", ["name": "owner"])
        for name in ["a", "b"] { _ = context.make("Gadget", ["name": name, "owner": person]) }
        let team = context.make("Team", ["name": "t"])
        person.setValue(team, forKey: "team")
        try context.save()
        context.propagatesDeletesAtEndOfEvent = isEarly
        let changes = NoteList(context)
        context.delete(person)
        context.processPendingChanges()
        let all = ["a", "b", "owner"]
        #expect(changes.names(NSDeletedObjectsKey) == (isEarly ? all : ["owner"]))
        let members = team.value(forKey: "members") as? Set<NSManagedObject>
        #expect(members?.count == (isEarly ? 0 : 1))
        let saved = NoteList(context, .NSManagedObjectContextDidSave) { note in
          let gone = note.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>
          #expect(gone?.count == 3)
        }
        try context.save()
        #expect(saved.notes.count == 1)
      }
      let left = try context.performAndWait {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Gadget"))
      }
      #expect(left == 0)
    }
  }

  @Test(
    "The did-save notification of object IDs has Core Data's keys", arguments: StoreKind.allCases)
  func didSaveObjectIDsNotificationContainsObjectIDs(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    let posted = NoteList(context, NSManagedObjectContext.didSaveObjectIDsNotification)
    let made = try context.performAndWait {
      let made = context.make("Person")
      context.object(with: ids[0]).label = "new"
      context.delete(context.object(with: ids[1]))
      try context.save()
      return made
    }
    func found(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObjectID>? {
      posted.notes.last?.userInfo?[key.rawValue] as? Set<NSManagedObjectID>
    }
    #expect(found(.insertedObjectIDs) == [context.performAndWait { made.objectID }])
    #expect(found(.updatedObjectIDs)?.contains(ids[0]) == true)
    #expect(found(.deletedObjectIDs) == [ids[1]])
    #expect(found(.deletedObjectIDs)?.first?.persistentStore === bed.store)
  }

  @Test("A rollback posts the discarded changes", arguments: StoreKind.allCases)
  func rollbackPostsTheDiscardedChanges(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    let changes = NoteList(context)
    context.performAndWait {
      let made = context.make("Person")
      let person = context.object(with: ids[0])
      person.label = "lost"
      context.delete(context.object(with: ids[1]))
      context.rollback()
      let posted = changes.notes.last?.userInfo
      #expect(posted?[NSDeletedObjectsKey] as? Set<NSManagedObject> == [made])
      let refreshed = posted?[NSRefreshedObjectsKey] as? Set<NSManagedObject>
      #expect(refreshed?.contains(person) == true && person.label == "p1")
      #expect(!context.hasChanges && made.managedObjectContext == nil)
    }
  }

  @Test("S10-29 a container's contexts share one coordinator")
  func containerContextsShareOneCoordinator() throws {
    let container = NSPersistentContainer(
      name: "Workshop", managedObjectModel: WorkshopModel.make())
    let contexts = [
      container.viewContext, container.newBackgroundContext(), container.newBackgroundContext(),
    ]
    #expect(Set(contexts).count == 3)
    #expect(
      contexts.map(\.concurrencyType) == [
        .mainQueueConcurrencyType, .privateQueueConcurrencyType, .privateQueueConcurrencyType,
      ])
    #expect(
      contexts.allSatisfy {
        $0.persistentStoreCoordinator === container.persistentStoreCoordinator
      })
    #expect(contexts.map(\.automaticallyMergesChangesFromParent) == [false, true, true])
    #expect(
      contexts.allSatisfy {
        $0.undoManager == nil && $0.mergePolicy as? NSMergePolicy === NSMergePolicy.error
      })
  }

  @Test(
    "A save without changes posts did-save with empty sets and writes no row",
    arguments: StoreKind.allCases)
  func saveWithoutChangesPostsDidSaveWithEmptySets(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let context = bed.context()
    let saves = NoteList(context, .NSManagedObjectContextDidSave)
    try context.performAndWait {
      try context.save()
      let gone = context.make("Person")
      context.delete(gone)
      try context.save()
      #expect(context.counters.saves == 0 && context.counters.transactions == 0)
    }
    #expect(saves.notes.count == 2)
    for note in saves.notes {
      for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
        #expect((note.userInfo?[key] as? Set<NSManagedObject>)?.isEmpty == true)
      }
      #expect(note.userInfo?[NSManagedObjectContext.newHistoryTokenKey] == nil)
    }
  }

  @Test("Observers see the values of an event after one of them has processed further changes")
  func eventOutlastsANestedOne() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    try context.performAndWait {
      nonisolated(unsafe) let person = try context.existingObject(with: ids[0])
      let other = try context.existingObject(with: ids[1])
      nonisolated(unsafe) var seen: [Bool] = []
      var isFirst = true
      let notes = NoteList(context) { _ in
        if isFirst {
          isFirst = false
          other.label = "other"
          context.processPendingChanges()
        }
        seen.append(person.changedValuesForCurrentEvent()["name"] as? String == "p1")
      }
      person.label = "new"
      context.processPendingChanges()
      #expect(notes.notes.count == 2 && seen == [false, true])
    }
  }

  @Test("A did-change notification has its context")
  func didChangeHasItsContext() throws {
    let bed = try ContextBed(.memory)
    let context = bed.context()
    context.performAndWait {
      let list = NoteList(context)
      _ = context.make("Person")
      context.processPendingChanges()
      let key = NSManagedObjectContext.NotificationKey.sourceContext.rawValue
      #expect(list.notes.first?.userInfo?[key] as? NSManagedObjectContext === context)
      context.reset()
      #expect(list.notes.count == 2)
      #expect(list.notes.last?.userInfo?[key] as? NSManagedObjectContext === context)
    }
  }
}
