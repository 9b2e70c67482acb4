import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Synchronization
import Testing

/// An object that records a save's calls, and calls closures of a test.
private final class TracedItem: NSManagedObject {
  nonisolated(unsafe) static var trace: [String] = []
  nonisolated(unsafe) static var saving: (NSManagedObject) -> Void = { _ in }
  nonisolated(unsafe) static var saved: (NSManagedObject) -> Void = { _ in }
  nonisolated(unsafe) static var validating: (NSManagedObject) throws -> Void = { _ in }

  private func note(_ what: String) {
    TracedItem.trace.append("\(what) \(primitiveValue(forKey: "name") as? String ?? "")")
  }

  override func willSave() {
    note("willSave")
    TracedItem.saving(self)
  }

  override func didSave() {
    note("didSave")
    TracedItem.saved(self)
  }

  override func validateForInsert() throws {
    note("validateForInsert")
    try TracedItem.validating(self)
    try super.validateForInsert()
  }

  override func validateForUpdate() throws {
    note("validateForUpdate")
    try TracedItem.validating(self)
    try super.validateForUpdate()
  }

  override func validateForDelete() throws {
    note("validateForDelete")
    try super.validateForDelete()
  }
}

@Suite("Order of a save", .serialized)
struct SaveOrderTests {
  private func stack(_ kind: StoreKind) throws -> SharedStack {
    TracedItem.registerClass(named: "TracedItem")
    TracedItem.trace = []
    TracedItem.saving = { _ in }
    TracedItem.saved = { _ in }
    TracedItem.validating = { _ in }
    return try SharedStack(kind, SavingModels.items(className: "TracedItem"))
  }

  @Test("S7.12 a save takes its twelve steps in order", arguments: StoreKind.allCases)
  func saveTakesItsStepsInOrder(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let center = NotificationCenter.default
    let names: [(Notification.Name, String)] = [
      (.NSManagedObjectContextObjectsDidChange, "did change"),
      (.NSManagedObjectContextWillSave, "will save"),
      (.NSManagedObjectContextDidSave, "did save"),
    ]
    let observers = names.map { name, word in
      center.addObserver(forName: name, object: context, queue: nil) { _ in
        TracedItem.trace.append(word)
      }
    }
    defer { observers.forEach(center.removeObserver) }
    try context.performAndWait {
      let kept = context.make("Item", ["name": "kept"])
      let gone = context.make("Item", ["name": "gone"])
      try context.save()
      _ = context.make("Item", ["name": "new"])
      kept.setValue(1, forKey: "a")
      context.delete(gone)
      TracedItem.trace = []
      let before = stack.events.events.count
      try context.save()
      #expect(
        TracedItem.trace == [
          "did change", "will save", "validateForInsert new", "validateForUpdate kept",
          "validateForDelete gone", "willSave new", "willSave kept", "willSave gone",
          "didSave new", "didSave kept", "didSave gone", "did save",
        ])
      guard kind.runsSQL else { return }
      let statements = stack.events.events.dropFirst(before).compactMap(\.statement).map {
        $0.sql.prefix(6)
      }
      #expect(
        statements == [
          "BEGIN ", "SELECT", "UPDATE", "COMMIT", "BEGIN ", "INSERT", "UPDATE", "DELETE",
          "COMMIT",
        ])
    }
  }

  @Test(
    "A deleted object is deleted in its context when willSave and didSave are called",
    arguments: StoreKind.allCases)
  func deletedObjectIsDeletedInWillSaveAndDidSave(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    try context.performAndWait {
      let kept = context.make("Item", ["name": "kept"])
      let gone = context.make("Item", ["name": "gone", "a": Int32(1)])
      try context.save()
      let look: (NSManagedObject) -> Void = { object in
        let isHere = object.managedObjectContext === context
        TracedItem.trace.append(isHere ? "\(object.isDeleted)" : "elsewhere")
        // Nothing of the deleted object remains to be saved.
        if object === gone, gone.isUpdated == false { gone.setValue(Int32(2), forKey: "b") }
      }
      kept.setValue(Int32(1), forKey: "a")
      context.delete(gone)
      TracedItem.saved = look
      TracedItem.trace = []
      try context.save()
      #expect(
        TracedItem.trace.suffix(4) == ["didSave kept", "false", "didSave gone", "true"])
      #expect(!gone.isDeleted && gone.managedObjectContext == nil && !context.hasChanges)
      #expect(gone.value(forKey: "a") as? Int32 == 1)
      context.delete(kept)
      TracedItem.saving = look
      TracedItem.trace = []
      try context.save()
      #expect(
        TracedItem.trace == [
          "validateForDelete kept", "willSave kept", "true", "didSave kept", "true",
        ])
    }
    let other = stack.context()
    let stored = try other.performAndWait { try other.everyObject(of: "Item") }
    #expect(stored.isEmpty)
  }

  @Test(
    "S7.13, S7.15 values set in willSave or validation are saved after another pass",
    arguments: StoreKind.allCases, [true, false])
  func valuesSetInWillSaveOrValidationAreSavedAfterAnotherPass(
    kind: StoreKind, inWillSave: Bool
  ) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let repair: (NSManagedObject) -> Void = { object in
      if object.value(forKey: "b") as? Int32 != 7 { object.setValue(7, forKey: "b") }
    }
    if inWillSave { TracedItem.saving = repair } else { TracedItem.validating = repair }
    try context.performAndWait {
      let item = context.make("Item", ["name": "x"])
      let saved = try costs(of: context) { try context.save() }
      #expect(saved.savePasses == 2)
      #expect(item.committedValues(forKeys: ["b"])["b"] as? Int32 == 7)
      #expect(TracedItem.trace.filter { $0 == "willSave x" }.count == 2)
      item.setValue("y", forKey: "name")
      let settled = try costs(of: stack.coordinator) { try context.save() }
      #expect(settled.savePasses == 1 && settled.saves == 1)
    }
    let other = stack.context()
    try other.performAndWait {
      let saved = try other.everyObject(of: "Item").map { $0.value(forKey: "b") as? Int32 }
      #expect(saved == [7])
    }
  }

  @Test("S7.14, S-B16 an endless willSave fails the save and names the object")
  func endlessWillSaveFailsTheSaveAndNamesTheObject() throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    TracedItem.saving = { $0.setValue(1, forKey: "a") }
    context.performAndWait {
      let item = context.make("Item", ["name": "x"])
      let error = thrownError { try context.save() }
      #expect(error?.code == NSPersistentStoreOperationError)
      #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [item])
      #expect(error?.localizedDescription.contains("\(item.objectID)") == true)
      #expect(TracedItem.trace.filter { $0 == "validateForInsert x" }.count == 1_000)
      #expect(item.objectID.isTemporaryID && context.hasChanges)
    }
  }

  @Test(
    "S7.16, S-B10 one invalid object prevents the save of all",
    arguments: StoreKind.allCases)
  func oneInvalidObjectPreventsTheSaveOfAll(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    TracedItem.validating = { object in
      guard object.value(forKey: "a") as? Int32 == 5 else { return }
      throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError)
    }
    try context.performAndWait {
      let items = (0..<10).map { context.make("Item", ["name": "\($0)", "a": Int32($0)]) }
      let cost = costs(of: context) { _ = thrownError { try context.save() } }
      #expect(cost.inserts == 0 && cost.transactions == 0)
      #expect(!TracedItem.trace.contains { $0.hasPrefix("willSave") })
      #expect(context.insertedObjects == Set(items))
      items[5].setValue(50, forKey: "a")
      try context.save()
      #expect(!context.hasChanges && items.allSatisfy { !$0.objectID.isTemporaryID })
    }
  }

  @Test("S7.18 permanent IDs can be obtained before the save, for one transaction")
  func permanentIDsCanBeObtainedBeforeTheSave() throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    try context.performAndWait {
      let items = (0..<3).map { context.make("Item", ["a": Int32($0)]) }
      let cost = try costs(of: context) { try context.obtainPermanentIDs(for: items) }
      #expect(cost.transactions == 1 && cost.inserts == 0)
      let ids = items.map(\.objectID)
      #expect(ids.allSatisfy { !$0.isTemporaryID } && items.allSatisfy(\.isInserted))
      #expect(ids.allSatisfy { context.registeredObject(for: $0) != nil })
      #expect(try costs(of: context) { try context.save() }.transactions == 1)
      #expect(items.map(\.objectID) == ids)
      let left = context.make("Item")
      try context.obtainPermanentIDs(for: [left])
      context.rollback()
      #expect(try context.everyObject(of: "Item").count == 3)
    }
  }

  @Test("An object that's listed twice gets one permanent ID")
  func objectListedTwiceGetsOnePermanentID() throws {
    let context = try stack(.sqlite).context()
    try context.performAndWait {
      let items = [context.make("Item"), context.make("Item")]
      try context.obtainPermanentIDs(for: [items[0], items[0]])
      try context.obtainPermanentIDs(for: items)
      #expect(items.map { $0.objectID.uriRepresentation().lastPathComponent } == ["p1", "p2"])
    }
  }

  @Test("Objects without a context have different IDs")
  func objectsWithoutAContextHaveDifferentIDs() throws {
    let model = SavingModels.items()
    let entity = try #require(model.entitiesByName["Item"])
    let items = (0..<2).map { _ in NSManagedObject(entity: entity, insertInto: nil) }
    #expect(items[0].objectID != items[1].objectID && items[0].objectID == items[0].objectID)
    #expect(items.allSatisfy { $0.objectID.isTemporaryID })
    withExtendedLifetime(model) {}
  }

  @Test("An object that's inserted keeps the ID that it had without a context")
  func insertedObjectKeepsItsID() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"])
    for inserting in [context, child] {
      try inserting.performAndWait {
        let item = NSManagedObject(entity: entity, insertInto: nil)
        let id = item.objectID
        inserting.insert(item)
        #expect(item.objectID == id && inserting.registeredObject(for: id) === item)
        try inserting.save()
      }
    }
    try context.performAndWait {
      try context.save()
      #expect(try context.everyObject(of: "Item").count == 2)
    }
  }

  @Test("S7.19, S-B10 a failed statement rolls back the save and keeps IDs temporary")
  func failedStatementRollsBackTheSaveAndKeepsIDsTemporary() throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    defer { connection.close() }
    try connection.execute(
      "CREATE TRIGGER stop BEFORE INSERT ON ZITEM WHEN NEW.ZA = 7 BEGIN "
        + "SELECT RAISE(ABORT, 'no sevens'); END")
    try context.performAndWait {
      let items = (0..<10).map { context.make("Item", ["a": Int32($0)]) }
      let error = thrownError { try context.save() }
      #expect(error?.localizedDescription.contains("no sevens") == true)
      #expect(items.allSatisfy { $0.objectID.isTemporaryID && $0.isInserted })
      #expect(try connection.values("SELECT COUNT(*) FROM ZITEM") == [[.integer(0)]])
      items[7].setValue(70, forKey: "a")
      try context.save()
      #expect(try connection.values("SELECT COUNT(*) FROM ZITEM") == [[.integer(10)]])
    }
  }

  @Test(
    "S7.20, S7.21, S7.22 what one context saves, another reads from the row cache",
    arguments: StoreKind.allCases)
  func savedValuesAreReadFromTheRowCacheByAnotherContext(kind: StoreKind) throws {
    let stack = try stack(kind)
    let (first, second) = (stack.context(), stack.context())
    try first.performAndWait {
      let item = first.make("Item", ["a": Int32(1)])
      try first.save()
      try second.performAndWait {
        let twin = second.twin(of: item)
        let cost = costs(of: second) { #expect(twin.value(forKey: "a") as? Int32 == 1) }
        #expect(cost.selects == 0 && cost.hits == 1 && cost.misses == 0)
        second.refresh(twin, mergeChanges: false)
        item.setValue(2, forKey: "a")
        try first.save()
        let again = costs(of: second) { #expect(twin.value(forKey: "a") as? Int32 == 2) }
        #expect(again.selects == 0 && again.hits == 1)
      }
      #expect(try costs(of: first) { try first.save() }.transactions == 0)
    }
  }

  @Test("S-B12, S-B11 nothing is written before a save, and saved inserts compare no versions")
  func nothingIsWrittenBeforeASaveAndInsertsCompareNoVersions() throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    try context.performAndWait {
      let cost = costs(of: context) {
        for index in 0..<1_000 {
          context.make("Item", ["a": Int32(index)]).setValue(1, forKey: "b")
        }
      }
      #expect(cost.selects == 0 && cost.inserts == 0 && cost.updates == 0)
      let before = stack.events.events.count
      try context.save()
      let texts = stack.events.events.dropFirst(before).compactMap(\.statement?.sql)
      #expect(!texts.contains { $0.contains("Z_OPT=") || $0.hasPrefix("SELECT Z_OPT") })
      #expect(texts.count { $0.hasPrefix("INSERT") } == 1_000)
    }
  }

  @Test("S-B08 a deleted row stays on disk until the save")
  func deletedRowStaysOnDiskUntilTheSave() throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    func rows() throws -> Int { try connection.values("SELECT Z_PK FROM ZITEM").count }
    try context.performAndWait {
      let item = context.make("Item")
      try context.save()
      context.delete(item)
      context.processPendingChanges()
      #expect(try rows() == 1)
      #expect(try costs(of: context) { try context.save() }.deletes == 1)
      #expect(try rows() == 0)
    }
  }

  @Test("S16-5 a fetch during a save's transaction returns the old state immediately")
  func fetchDuringASavesTransactionReturnsTheOldState() throws {
    let stack = try stack(.sqlite)
    let (writer, reader) = (stack.context(), stack.context())
    let counts = Mutex<[Int]>([])
    let listener = FirstEventListener(of: { $0.statement?.kind == .insert }) {
      let count = reader.performAndWait { try? reader.everyObject(of: "Item").count }
      counts.withLock { $0.append(count ?? -1) }
    }
    try writer.performAndWait {
      _ = writer.make("Item")
      try writer.save()
      stack.coordinator.eventHub.add(listener)
      for _ in 0..<2 { _ = writer.make("Item") }
      try writer.save()
    }
    #expect(counts.withLock { $0 } == [1])
    #expect(try reader.performAndWait { try reader.everyObject(of: "Item").count } == 3)
  }
}
