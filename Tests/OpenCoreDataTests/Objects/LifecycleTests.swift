import CoreDataCosts
import OpenCoreData
import Testing

/// Records the methods that the framework calls.
final class TalkativeCar: NSManagedObject {
  nonisolated(unsafe) static var calls: [String] = []
  /// The driver that `awakeFromFetch` sets.
  nonisolated(unsafe) static var driverAtFetch: NSManagedObject?
  /// The context that `awakeFromFetch` releases.
  nonisolated(unsafe) static var contextUntilFetch: NSManagedObjectContext?
  /// The name that `willTurnIntoFault` sets.
  nonisolated(unsafe) static var nameAtFault: String?

  private func note(_ call: String) {
    TalkativeCar.calls.append("\(primitiveValue(forKey: "name") ?? "-").\(call)")
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue("new", forKey: "name")
    note("insert")
  }

  override func awakeFromFetch() {
    super.awakeFromFetch()
    note("fetch")
    TalkativeCar.contextUntilFetch = nil
    guard let driver = TalkativeCar.driverAtFetch else { return }
    setValue("fetched", forKey: "name")
    setValue(driver, forKey: "driver")
  }

  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    note("snapshot \(flags.rawValue)")
  }

  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    note("willTurnIntoFault")
    if let name = TalkativeCar.nameAtFault { setValue(name, forKey: "name") }
  }

  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    note("didTurnIntoFault")
  }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    note("prepareForDeletion")
    // Deletes the driver with its last car.
    guard let driver = value(forKey: "driver") as? NSManagedObject,
      let cars = driver.value(forKey: "cars") as? Set<NSManagedObject>
    else { return }
    if cars.allSatisfy(\.isDeleted) { managedObjectContext?.delete(driver) }
  }

  override func willSave() {
    super.willSave()
    note("willSave")
  }

  override func didSave() {
    super.didSave()
    note("didSave")
  }

  /// Removes and returns the recorded calls.
  static func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }
}

@Suite("Life-cycle methods of objects", .serialized)
struct LifecycleTests {
  private func stack(_ kind: StoreKind) throws -> GraphStack {
    TalkativeCar.registerClass()
    TalkativeCar.driverAtFetch = nil
    let model = try DrivingModel.make()
    model.entitiesByName["Car"]?.managedObjectClassName = "TalkativeCar"
    let driver = model.entitiesByName["Driver"]?.relationshipsByName["cars"]
    driver?.minCount = 0
    return try GraphStack(kind, model: model)
  }

  @Test(
    "S5.10 S-B06 awakeFromInsert runs once, and its values are changes until the save",
    arguments: StoreKind.allCases)
  func awakeFromInsertRunsOnceAndItsValuesAreChanges(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = try stack.context()
    _ = TalkativeCar.takeCalls()
    try context.performAndWait {
      let car = context.make("Car")
      #expect(car.value(forKey: "name") as? String == "new")
      #expect(car.changedValues()["name"] as? String == "new" && car.isInserted)
      #expect(TalkativeCar.takeCalls() == ["new.insert"])
      car.setValue("a", forKey: "name")
      #expect(car.changedValues()["name"] as? String == "a")
      try context.save()
      #expect(TalkativeCar.takeCalls() == ["a.willSave", "a.didSave"])
      context.refresh(car, mergeChanges: false)
      #expect(TalkativeCar.takeCalls() == ["a.willTurnIntoFault", "-.didTurnIntoFault"])
      _ = car.value(forKey: "name")
      #expect(TalkativeCar.takeCalls() == ["a.fetch"])
      car.setValue("b", forKey: "name")
      context.refresh(car, mergeChanges: true)
      #expect(TalkativeCar.takeCalls() == ["b.snapshot 32"])
      context.rollback()
    }
    let other = try stack.context()
    _ = TalkativeCar.takeCalls()
    try other.performAndWait {
      let car = try #require(try other.all("Car").first)
      _ = car.value(forKey: "name")
      #expect(TalkativeCar.takeCalls() == ["a.fetch"])
    }
  }

  @Test("S-B07 values set in awakeFromFetch aren't changes")
  func valuesSetInAwakeFromFetchAreNotChanges() throws {
    let stack = try stack(.sqlite)
    let writer = try stack.context()
    try writer.performAndWait {
      _ = writer.make("Car", ["name": "a"])
      _ = writer.make("Driver")
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let driver = try #require(try context.all("Driver").first)
      TalkativeCar.driverAtFetch = driver
      defer { TalkativeCar.driverAtFetch = nil }
      let car = try #require(try context.all("Car").first)
      #expect(car.value(forKey: "name") as? String == "fetched")
      #expect(car.value(forKey: "driver") as? NSManagedObject === driver)
      #expect(!car.hasChanges && !driver.hasChanges && !context.hasChanges)
      #expect((driver.value(forKey: "cars") as? Set<NSManagedObject>)?.isEmpty == true)
      #expect(car.changedValues().isEmpty && !car.hasPersistentChangedValues)
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.transactions == 0)
    }
  }

  @Test("awakeFromFetch may release the object's context", arguments: StoreKind.allCases)
  func awakeFromFetchMayReleaseTheContext(kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      _ = writer.make("Car", ["name": "a"])
      try writer.save()
    }
    var context: NSManagedObjectContext? = try stack.context()
    let car = try #require(try context.flatMap { try $0.all("Car").first })
    TalkativeCar.contextUntilFetch = context
    context = nil
    #expect(car.isFault && car.managedObjectContext != nil)
    #expect(car.value(forKey: "name") as? String == "a")
    #expect(!car.isFault && car.managedObjectContext == nil)
  }

  @Test(
    "S-D17 didTurnIntoFault is called by a refresh and when the context releases the object",
    arguments: StoreKind.allCases)
  func didTurnIntoFaultIsCalledOnRefreshAndRelease(kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      for name in ["a", "b", "c"] { _ = writer.make("Car", ["name": name]) }
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      var cars = try context.all("Car")
      for car in cars { _ = car.value(forKey: "name") }
      _ = TalkativeCar.takeCalls()
      context.refresh(cars[0], mergeChanges: false)
      #expect(TalkativeCar.takeCalls() == ["a.willTurnIntoFault", "-.didTurnIntoFault"])
      // A refreshed object is retained until the notification is posted.
      context.processPendingChanges()
      cars = [cars[2]]
      #expect(context.registeredObjects == Set(cars))
      // The first one was a fault already.
      #expect(TalkativeCar.takeCalls() == ["b.willTurnIntoFault", "-.didTurnIntoFault"])
    }
  }

  @Test("A value that's set in willTurnIntoFault is discarded", arguments: StoreKind.allCases)
  func valueSetInWillTurnIntoFaultIsDiscarded(kind: StoreKind) throws {
    let context = try stack(kind).context()
    defer { TalkativeCar.nameAtFault = nil }
    try context.performAndWait {
      let car = context.make("Car", ["name": "a"])
      try context.save()
      TalkativeCar.nameAtFault = "late"
      context.refresh(car, mergeChanges: false)
      TalkativeCar.nameAtFault = nil
      #expect(car.isFault && !car.hasChanges && !context.hasChanges)
      #expect(context.updatedObjects.isEmpty)
      #expect(car.value(forKey: "name") as? String == "a")
      car.setValue("b", forKey: "name")
      #expect(context.updatedObjects == [car])
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test(
    "S4.10 prepareForDeletion deletes empty parents, once per object",
    arguments: StoreKind.allCases)
  func prepareForDeletionDeletesEmptyParentsOncePerObject(kind: StoreKind) throws {
    let context = try stack(kind).context()
    try context.performAndWait {
      let driver = context.make("Driver", ["name": "d"])
      let cars = ["a", "b"].map { context.make("Car", ["name": $0, "driver": driver]) }
      try context.save()
      _ = TalkativeCar.takeCalls()
      context.delete(cars[0])
      #expect(TalkativeCar.takeCalls() == ["a.prepareForDeletion"])
      context.processPendingChanges()
      #expect(TalkativeCar.takeCalls().isEmpty)
      #expect(context.deletedObjects == [cars[0]])
      let first = try costs(of: context) { try context.save() }
      #expect(first.deletes == (kind.runsSQL ? 1 : 0) && !driver.isDeleted)
      _ = TalkativeCar.takeCalls()
      context.delete(cars[1])
      try context.save()
      #expect(TalkativeCar.takeCalls().count { $0 == "b.prepareForDeletion" } == 1)
      #expect(try context.all("Driver").isEmpty && context.all("Car").isEmpty)
    }
  }

  @Test(
    "prepareForDeletion is called during a delete, and again only after a rollback",
    arguments: StoreKind.allCases)
  func prepareForDeletionIsCalledDuringDelete(kind: StoreKind) throws {
    let context = try stack(kind).context()
    try context.performAndWait {
      let car = context.make("Car")
      car.setValue("a", forKey: "name")
      try context.save()
      let id = car.objectID
      _ = TalkativeCar.takeCalls()
      context.delete(car)
      #expect(car.isDeleted && context.deletedObjects == [car])
      #expect(TalkativeCar.takeCalls() == ["a.prepareForDeletion"])
      context.delete(car)
      #expect(TalkativeCar.takeCalls() == ["a.prepareForDeletion"])
      context.rollback()
      #expect(!car.isDeleted && car.value(forKey: "name") as? String == "a")
      _ = TalkativeCar.takeCalls()
      context.delete(car)
      #expect(TalkativeCar.takeCalls() == ["a.prepareForDeletion"])
      context.processPendingChanges()
      try context.save()
      #expect(TalkativeCar.takeCalls() == ["a.willSave", "a.didSave"])
      #expect(car.objectID == id)
      // Nothing is left to delete.
      context.delete(car)
      #expect(car.managedObjectContext == nil && !context.hasChanges)
      #expect(TalkativeCar.takeCalls() == [])
      let new = context.make("Car")
      context.delete(new)
      context.processPendingChanges()
      context.delete(new)
      #expect(!context.hasChanges && new.managedObjectContext == nil)
    }
  }

  @Test(
    "Inserting an object again into its context changes nothing", arguments: StoreKind.allCases)
  func insertingAnObjectAgainChangesNothing(kind: StoreKind) throws {
    let context = try stack(kind).context()
    _ = TalkativeCar.takeCalls()
    try context.performAndWait {
      let car = context.make("Car")
      let id = car.objectID
      context.insert(car)
      #expect(car.objectID == id && context.insertedObjects == [car])
      #expect(TalkativeCar.takeCalls() == ["new.insert"])
      try context.save()
      context.insert(car)
      #expect(!car.isInserted && !context.hasChanges)
      try context.save()
      #expect(try context.all("Car").count == 1)
    }
  }

  @Test(
    "Each undo and redo calls awake(fromSnapshotEvents:) once", arguments: StoreKind.allCases)
  func undoAndRedoCallAwakeOnce(kind: StoreKind) throws {
    let context = try stack(kind).context()
    try context.performAndWait {
      context.undoManager = UndoManager()
      let car = context.make("Car", ["name": "a"])
      context.processPendingChanges()
      _ = TalkativeCar.takeCalls()
      for _ in 0..<3 {
        context.undo()
        #expect(TalkativeCar.takeCalls() == ["a.snapshot 2"] && !car.isInserted)
        context.redo()
        #expect(TalkativeCar.takeCalls() == ["a.snapshot 4"] && car.isInserted)
      }
      try context.save()
      context.undoManager?.removeAllActions()
      context.delete(car)
      context.processPendingChanges()
      _ = TalkativeCar.takeCalls()
      for _ in 0..<3 {
        context.undo()
        #expect(TalkativeCar.takeCalls() == ["a.snapshot 4"] && !car.isDeleted)
        context.redo()
        #expect(TalkativeCar.takeCalls() == ["a.snapshot 2"] && car.isDeleted)
      }
      try context.save()
      #expect(try context.all("Car").isEmpty)
    }
  }
}
