import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("What a context tells")
struct NotificationTests {
  @Test("S7.07 one did-change a block, one did-save of all", arguments: StoreKind.allCases)
  func granularity(_ kind: StoreKind) throws {
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
    "S7.09, S7.10 delete rules are carried out before did-change, or only at the save",
    arguments: StoreKind.allCases)
  func deleteRules(_ kind: StoreKind) throws {
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
    "Did-save comes with objects and with IDs under Apple's keys", arguments: StoreKind.allCases)
  func flavours(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    let told = NoteList(context, NSManagedObjectContext.didSaveObjectIDsNotification)
    let made = try context.performAndWait {
      let made = context.make("Person")
      context.object(with: ids[0]).label = "new"
      context.delete(context.object(with: ids[1]))
      try context.save()
      return made
    }
    func found(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObjectID>? {
      told.notes.last?.userInfo?[key.rawValue] as? Set<NSManagedObjectID>
    }
    #expect(found(.insertedObjectIDs) == [context.performAndWait { made.objectID }])
    #expect(found(.updatedObjectIDs)?.contains(ids[0]) == true)
    #expect(found(.deletedObjectIDs) == [ids[1]])
    #expect(found(.deletedObjectIDs)?.first?.persistentStore === bed.store)
  }

  @Test("A rollback tells what it took back", arguments: StoreKind.allCases)
  func rollback(_ kind: StoreKind) throws {
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
      let told = changes.notes.last?.userInfo
      #expect(told?[NSDeletedObjectsKey] as? Set<NSManagedObject> == [made])
      let refreshed = told?[NSRefreshedObjectsKey] as? Set<NSManagedObject>
      #expect(refreshed?.contains(person) == true && person.label == "p1")
      #expect(!context.hasChanges && made.managedObjectContext == nil)
    }
  }

  @Test("S10-29 a container's contexts are three, over one coordinator")
  func container() throws {
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
  }
}
