import OpenCoreData
import Testing

/// An incremental store can't be rolled back: of several, one may be saved if another fails.
@Suite("Saves to several stores of a program")
struct SeveralCustomStoresTests {
  /// A coordinator with two stores, of which the second is saved first.
  private struct Bed {
    let files: TestStack
    let coordinator: NSPersistentStoreCoordinator
    let shelves = [Shelf(), Shelf()]
    let context: NSManagedObjectContext

    init() throws {
      files = try TestStack(model: TestModels.company())
      coordinator = NSPersistentStoreCoordinator(managedObjectModel: files.model)
      NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
      for (number, shelf) in shelves.enumerated() {
        try coordinator.addPersistentStore(
          type: ShelfStore.shelfType, at: URL(fileURLWithPath: "/shelf\(number)"),
          options: ["shelf": shelf])
      }
      context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
    }

    /// Makes an employee in each store.
    func make() -> [NSManagedObject] {
      coordinator.persistentStores.enumerated().map { number, store in
        let employee = context.make("Employee", ["name": "e\(number)"])
        context.assign(employee, to: store)
        return employee
      }
    }

    /// Returns the calls of each store that save, since the last time.
    func takeSaves() -> [Int] {
      shelves.map { shelf in shelf.takeCalls().count { $0.hasPrefix("save") } }
    }

    /// The names in each store.
    var names: [[String]] {
      shelves.map { $0.items.values.compactMap { $0.values["name"] as? String }.sorted() }
    }
  }

  @Test("A store that fails after another was saved keeps its own changes for the next save")
  func failedStoreKeepsItsChanges() throws {
    let bed = try Bed()
    let context = bed.context
    try context.performAndWait {
      let made = bed.make()
      bed.shelves[0].failures["save"] = NSError(domain: "shelf", code: 5)
      let saves = NoteList(context, .NSManagedObjectContextDidSave)
      let error = try #require(context.saveError())
      #expect((error.domain, error.code) == ("shelf", 5))
      #expect(bed.names == [[], ["e1"]])
      #expect(context.insertedObjects == [made[0]])
      #expect(made.map(\.objectID.isTemporaryID) == [true, false])
      #expect(saves.notes.count == 1 && saves.names(NSInsertedObjectsKey) == ["e1"])
      #expect(
        !made[1].hasChanges
          && made[1].objectID.persistentStore === bed.coordinator.persistentStores[1])

      // The first store isn't saved at all if the second one fails.
      bed.shelves[0].failures = [:]
      bed.shelves[1].failures["save"] = NSError(domain: "shelf", code: 6)
      made[1].setValue("changed", forKey: "name")
      #expect(context.saveError()?.code == 6)
      #expect(bed.names == [[], ["e1"]])
      #expect(context.hasChanges && context.insertedObjects == [made[0]])

      bed.shelves[1].failures = [:]
      _ = bed.takeSaves()
      try context.save()
      #expect(bed.takeSaves() == [1, 1])
      #expect(bed.names == [["e0"], ["changed"]] && !context.hasChanges)
      #expect(saves.notes.count == 2 && saves.names(NSInsertedObjectsKey) == ["e0"])
    }
  }

  @Test(
    "A conflict in a store after another was saved is resolved, and the other isn't saved again")
  func conflictAfterAnotherStoreIsResolved() throws {
    let bed = try Bed()
    let context = bed.context
    bed.shelves[0].comparesVersions = true
    try context.performAndWait {
      let made = bed.make()
      try context.save()
      for employee in made {
        context.refresh(employee, mergeChanges: false)
        employee.setValue("mine", forKey: "name")
      }
      let reference = try #require(bed.shelves[0].items.keys.first)
      bed.shelves[0].change(reference, "name", to: "theirs")
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let saves = NoteList(context, .NSManagedObjectContextDidSave)
      _ = bed.takeSaves()
      try context.save()
      #expect(bed.takeSaves() == [2, 1])
      #expect(bed.names == [["mine"], ["mine"]] && !context.hasChanges)
      #expect(saves.notes.count == 1)
      #expect(saves.union(NSUpdatedObjectsKey) == Set(made))
    }
  }
}
