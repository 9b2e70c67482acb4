import OpenCoreData
import Testing

@Suite("A program's own stores that are read-only")
struct ReadOnlyCustomStoreTests {
  /// The two superclasses.
  enum Kind: CaseIterable {
    case incremental, atomic
  }

  /// A store with the employees of `Shelf.company()`, and the calls that it gets.
  private struct Bed {
    let files: TestStack
    let context: NSManagedObjectContext
    let store: NSPersistentStore
    let takeCalls: () -> [String]

    init(_ kind: Kind, options: [AnyHashable: Any]) throws {
      files = try TestStack(model: TestModels.company())
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: files.model)
      context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      switch kind {
      case .incremental:
        let shelf = Shelf.company()
        NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: ShelfStore.shelfType)
        store = try coordinator.addPersistentStore(
          type: ShelfStore.shelfType, at: URL(fileURLWithPath: "/shelf"),
          options: options.merging(["shelf": shelf]) { $1 })
        takeCalls = {
          shelf.takeCalls().filter {
            !["register", "unregister"].contains($0.prefix { $0 != " " })
          }
        }
      case .atomic:
        NSPersistentStoreCoordinator.registerStoreClass(JSONStore.self, type: JSONStore.jsonType)
        let url = files.folder.appendingPathComponent("Store.json")
        let first = try coordinator.addPersistentStore(type: JSONStore.jsonType, at: url)
        try context.performAndWait { [context] in
          for name in ["Ada", "Ben", "Cleo"] { _ = context.make("Employee", ["name": name]) }
          try context.save()
          context.reset()
        }
        try coordinator.remove(first)
        let added = try coordinator.addPersistentStore(
          type: JSONStore.jsonType, at: url, options: options)
        let json = try #require(added as? JSONStore)
        store = json
        takeCalls = { json.takeCalls() }
      }
    }
  }

  @Test("A number is the value of the option, too", arguments: Kind.allCases)
  func optionCanBeANumber(kind: Kind) throws {
    #expect(try Bed(kind, options: [NSReadOnlyPersistentStoreOption: 1]).store.isReadOnly)
    #expect(try !Bed(kind, options: [NSReadOnlyPersistentStoreOption: 0]).store.isReadOnly)
  }

  @Test(
    "A save, permanent IDs, and metadata fail with error 134030, and don't call the store",
    arguments: Kind.allCases, [true, false])
  func readOnlyStoresAreNotWritten(kind: Kind, byOption: Bool) throws {
    let bed = try Bed(kind, options: byOption ? [NSReadOnlyPersistentStoreOption: true] : [:])
    let (context, store) = (bed.context, bed.store)
    if !byOption { store.isReadOnly = true }
    #expect(store.isReadOnly)
    try context.performAndWait {
      let employees = try ShelfStack.employees(context)
      #expect(employees.map(\.nameValue) == ["Ada", "Ben", "Cleo"])
      let new = context.make("Employee", ["name": "Dan"])
      employees[0].setValue("Adele", forKey: "name")
      context.delete(employees[2])
      context.processPendingChanges()
      _ = bed.takeCalls()
      func expectRefused(_ error: NSError?) {
        #expect((error?.domain, error?.code) == (NSCocoaErrorDomain, NSPersistentStoreSaveError))
        #expect(error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == [store])
        #expect(error?.localizedDescription.contains("read-only") == true)
        #expect(bed.takeCalls() == [])
      }
      expectRefused(context.saveError())
      #expect((context.insertedObjects, context.updatedObjects) == ([new], [employees[0]]))
      #expect(context.deletedObjects == [employees[2]] && new.objectID.isTemporaryID)
      expectRefused(#expect(throws: NSError.self) { try context.obtainPermanentIDs(for: [new]) })
      context.rollback()
      context.persistentStoreCoordinator?.setMetadata(["purpose": "test"], for: store)
      expectRefused(context.saveError())
      if kind == .incremental {
        let request = NSBatchDeleteRequest(
          fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee"))
        expectRefused(#expect(throws: NSError.self) { try context.execute(request) })
      }
      // What was opened read-only stays so.
      store.isReadOnly = false
      #expect(store.isReadOnly == byOption)
      employees[0].setValue("Adele", forKey: "name")
      _ = bed.takeCalls()
      if byOption {
        expectRefused(context.saveError())
      } else {
        try context.save()
        #expect(bed.takeCalls().contains { $0.hasPrefix("save ") })
      }
    }
  }
}
