import OpenCoreData
import Testing

@Suite("Incremental stores: rows, versions, and constraints")
struct IncrementalRowTests {
  private let coordinator: NSPersistentStoreCoordinator
  private let store: RecordStore

  init() throws {
    let model = TestModels.library()
    model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
    (coordinator, store) = try Self.open(model)
  }

  private static func open(
    _ model: NSManagedObjectModel
  ) throws -> (NSPersistentStoreCoordinator, RecordStore) {
    let type = RecordStore.recordType
    NSPersistentStoreCoordinator.registerStoreClass(RecordStore.self, type: type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: type, at: URL(fileURLWithPath: "/records"))
    return (coordinator, try #require(store as? RecordStore))
  }

  private func context(
    _ coordinator: NSPersistentStoreCoordinator? = nil
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator ?? self.coordinator
    return context
  }

  @Test("Values of every type pass through rows, whose faults fire without a call")
  func rowsHaveValuesOfEveryType() throws {
    let values: [String: Any] = [
      "bool": true, "data": Data([1, 0, 2]), "date": Date(timeIntervalSinceReferenceDate: 1.5),
      "decimal": Decimal(string: "12.50") ?? 0, "double": 0.1, "float": Float(0.25),
      "int16": Int16(-7), "int32": Int32.min, "int64": Int64.max, "string": "a\u{0}é",
      "uri": try #require(URL(string: "https://example.com/ä")), "uuid": UUID(),
    ]
    let writer = context()
    try writer.performAndWait {
      let full = NSEntityDescription.insertNewObject(forEntityName: "Article", into: writer)
      for (key, value) in values { full.setValue(value, forKey: key) }
      _ = NSEntityDescription.insertNewObject(forEntityName: "Article", into: writer)
      try writer.save()
      #expect(store.version(of: full) == 1)
    }
    let reader = context()
    try reader.performAndWait {
      let articles = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Article"))
      #expect(articles.count == 2 && articles.allSatisfy(\.isFault))
      let full = try #require(articles.first { $0.value(forKey: "string") != nil })
      for (key, value) in values {
        let found = try #require(full.value(forKey: key) as? NSObject, "\(key)")
        #expect(found.isEqual(value), "\(key)")
      }
      let empty = try #require(articles.first { $0 !== full })
      #expect(values.keys.allSatisfy { empty.value(forKey: $0) == nil })
      // Another fetch of the same objects returns them.
      let again = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Article"))
      #expect(again == articles)
    }
    #expect(store.faultCount == 0)
  }

  @Test("A to-one in a row is the destination's reference object, and its entity must fit")
  func destinationsAreReferenceObjects() throws {
    let (coordinator, store) = try Self.open(TestModels.company())
    let context = context(coordinator)
    try context.performAndWait {
      let staff = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      let home = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
      home.setValue("Labs", forKey: "name")
      staff.setValue(home, forKey: "department")
      try context.save()
    }
    let reader = self.context(coordinator)
    try reader.performAndWait {
      let staff = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
      let home = staff.first?.value(forKey: "department") as? NSManagedObject
      #expect(home?.value(forKey: "name") as? String == "Labs")
      let entity = try #require(staff.first?.entity)
      let writer = IncrementalRowWriter(entity: entity, of: store)
      let position = try #require(IncrementalRowPosition("department", of: entity, in: store))
      #expect(throws: NSError.self) { try writer.setDestination(1, entity, at: position) }
    }
  }

  @Test("A saved version is the one of the next save, and another one is a conflict")
  func versionsAreCompared() throws {
    let (first, second) = (context(), context())
    let mine = try first.performAndWait {
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: first)
      tag.setValue("a", forKey: "name")
      #expect(store.version(of: tag) == nil)
      try first.save()
      tag.setValue("b", forKey: "name")
      try first.save()
      #expect(store.version(of: tag) == 2)
      return tag
    }
    store.records[1]?.version = 5
    try first.performAndWait {
      mine.setValue("c", forKey: "name")
      let error = #expect(throws: NSError.self) { try first.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try first.save()
      #expect(store.version(of: mine) == 6)
    }
    try second.performAndWait {
      let tag = try #require(
        try second.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
      #expect(tag.value(forKey: "name") as? String == "c" && store.version(of: tag) == 6)
    }
  }

  @Test("Changed properties are those of changedValues(), and an unread to-many isn't fired")
  func changedPropertiesAreReadWithoutFaults() throws {
    let (coordinator, store) = try Self.open(TestModels.company())
    let context = context(coordinator)
    try context.performAndWait {
      func insert(_ name: String) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      }
      let (first, second, home) = (insert("Employee"), insert("Employee"), insert("Department"))
      try context.save()
      #expect(store.changedProperties(of: first).names == [])
      #expect(store.integerReferenceObject(for: first.objectID) == key(of: first, in: store))
      context.refresh(home, mergeChanges: false)
      for employee in [first, second] { employee.setValue(home, forKey: "department") }
      let reads = store.relationshipCount
      let changes = [first, second, home].map { store.changedProperties(of: $0) }
      #expect(changes.map(\.names) == [["department"], ["department"], ["employees"]])
      #expect(changes[0] == changes[1] && Set(changes).count == 2)
      #expect(store.relationshipCount == reads)
      #expect(Set(home.changedValues().keys) == changes[2].names)
      second.setValue("B", forKey: "name")
      #expect(store.changedProperties(of: second) != changes[0])
    }
  }

  private func key(of object: NSManagedObject, in store: RecordStore) -> Int64? {
    (store.referenceObject(for: object.objectID) as? NSNumber)?.int64Value
  }

  @Test("Equal unique values that the store finds are error 133021, and the policy resolves them")
  func constraintConflictsAreResolvedByThePolicy() throws {
    store.uniqueAttribute = "name"
    let context = context()
    try context.performAndWait {
      let old = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      old.setValue("a", forKey: "name")
      try context.save()
      let new = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      new.setValue("a", forKey: "name")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      let conflicts =
        error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
      #expect(conflicts?.first?.constraint == ["name"])
      #expect(conflicts?.first?.databaseObject === old)
      #expect(conflicts?.first?.conflictingObjects == [new])
      #expect(new.isInserted && new.objectID.isTemporaryID)
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try context.save()
      #expect(store.records.count == 1 && !context.hasChanges)
    }
  }

  @Test("A fault without values, error 133000, is inaccessible: it becomes deleted")
  func missingValuesAreInaccessible() throws {
    let context = context()
    try context.performAndWait {
      let entity = try #require(coordinator.managedObjectModel.entitiesByName["Tag"])
      let tag = context.object(with: store.newObjectID(for: entity, referenceObject: 99))
      #expect(tag.value(forKey: "name") == nil && tag.isDeleted)
    }
  }

  @Test("Metadata that was set is saved by a request without objects")
  func metadataIsSavedByAnEmptyRequest() throws {
    let context = context()
    try context.performAndWait {
      try context.save()
      #expect(store.emptySaveCount == 0)
      coordinator.setMetadata(
        coordinator.metadata(for: store).merging(["key": "value"]) { $1 }, for: store)
      try context.save()
      try context.save()
    }
    #expect(store.emptySaveCount == 1)
    #expect(store.metadata["key"] as? String == "value")
  }
}
