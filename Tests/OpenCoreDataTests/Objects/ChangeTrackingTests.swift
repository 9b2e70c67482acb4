import CoreDataCosts
import OpenCoreData
import Testing

@Suite("Change tracking")
struct ChangeTrackingTests {
  /// Calls the body with a context that has saved a car and its driver, and with the driver.
  private func saved(
    _ kind: StoreKind, _ body: (NSManagedObjectContext, NSManagedObject) throws -> Void
  ) throws {
    let model = try DrivingModel.make()
    model.entitiesByName["Driver"]?.relationshipsByName["cars"]?.minCount = 0
    let context = try GraphStack(kind, model: model).context()
    try context.performAndWait {
      let driver = context.make("Driver", ["name": "a", "age": Int16(1), "height": 1.0])
      _ = context.make("Car", ["name": "c", "driver": driver])
      try context.save()
      try body(context, driver)
    }
  }

  @Test(
    "S7.01 setting the value it has counts as a change, with nothing to persist",
    arguments: StoreKind.allCases)
  func equalValueIsAChangeWithNothingToPersist(kind: StoreKind) throws {
    try saved(kind) { context, driver in
      driver.setValue("a", forKey: "name")
      #expect(driver.hasChanges && driver.isUpdated && !driver.hasPersistentChangedValues)
      #expect(driver.changedValues().isEmpty && context.updatedObjects == [driver])
    }
  }

  @Test(
    "S7.02 changing a value and restoring it counts as a change, with nothing to persist",
    arguments: StoreKind.allCases)
  func restoredValueIsAChangeWithNothingToPersist(kind: StoreKind) throws {
    try saved(kind) { context, driver in
      driver.setValue("b", forKey: "name")
      #expect(driver.hasPersistentChangedValues)
      driver.setValue("a", forKey: "name")
      #expect(driver.hasChanges && driver.isUpdated && !driver.hasPersistentChangedValues)
    }
  }

  @Test("S7.03 persistent changes are compared with the snapshot, not the store")
  func persistentChangesAreComparedWithTheSnapshot() throws {
    let stack = try GraphStack(.sqlite, model: DrivingModel.make())
    let (mine, theirs) = (try stack.context(), try stack.context())
    try mine.performAndWait {
      let driver = mine.make("Driver", ["name": "a"])
      try mine.save()
      try theirs.performAndWait {
        try theirs.all("Driver").first?.setValue("z", forKey: "name")
        try theirs.save()
      }
      driver.setValue(Int16(3), forKey: "age")
      let cost = costs(of: mine) {
        #expect(driver.changedValues().keys.sorted() == ["age"])
        driver.setValue(nil, forKey: "age")
        #expect(!driver.hasPersistentChangedValues)
      }
      #expect(cost.selects == 0 && cost.faults == 0)
    }
  }

  @Test(
    "S7.04 changed values are the new ones, committed values the old ones, at no cost",
    arguments: StoreKind.allCases)
  func changedValuesAreNewAndCommittedValuesOldAtNoCost(kind: StoreKind) throws {
    try saved(kind) { context, driver in
      let car = try #require((driver.value(forKey: "cars") as? Set<NSManagedObject>)?.first)
      let cost = costs(of: context) {
        driver.setValue("b", forKey: "name")
        driver.setValue(nil, forKey: "age")
        car.setValue(nil, forKey: "driver")
        let changed = driver.changedValues()
        #expect(changed.keys.sorted() == ["age", "cars", "name"])
        #expect(changed["name"] as? String == "b" && changed["age"] is NSNull)
        #expect((changed["cars"] as? Set<NSManagedObject>)?.isEmpty == true)
        let committed = driver.committedValues(forKeys: nil)
        #expect(committed["name"] as? String == "a" && committed["age"] as? Int16 == 1)
        #expect(committed["height"] as? Double == 1 && committed["plate"] is NSNull)
        #expect(committed["cars"] == nil && committed["note"] == nil)
        let cars = driver.committedValues(forKeys: ["cars"])["cars"]
        #expect(cars as? Set<NSManagedObject> == [car])
        #expect(
          car.committedValues(forKeys: ["driver"])["driver"] as? NSManagedObject === driver)
      }
      #expect(cost.selects == 0 && cost.faults == 0)
    }
  }

  @Test(
    "S7.05 the current event's changes have their old values; all changes the new ones",
    arguments: StoreKind.allCases)
  func currentEventContainsOldValuesOfItsChanges(kind: StoreKind) throws {
    try saved(kind) { context, driver in
      let other = context.make("Driver", ["name": "o"])
      let car = try #require((driver.value(forKey: "cars") as? Set<NSManagedObject>)?.first)
      driver.setValue(Int16(2), forKey: "age")
      #expect(driver.changedValuesForCurrentEvent()["age"] as? Int16 == 1)
      context.processPendingChanges()
      #expect(driver.changedValuesForCurrentEvent().isEmpty)
      driver.setValue(2.0, forKey: "height")
      #expect(driver.changedValuesForCurrentEvent().keys.sorted() == ["height"])
      #expect(driver.changedValuesForCurrentEvent()["height"] as? Double == 1)
      #expect(driver.changedValues()["age"] as? Int16 == 2)
      #expect(driver.changedValues()["height"] as? Double == 2)
      driver.setValue(Int16(3), forKey: "age")
      #expect(driver.changedValuesForCurrentEvent()["age"] as? Int16 == 2)
      driver.setValue(Int16(2), forKey: "age")
      car.setValue(other, forKey: "driver")
      #expect(driver.changedValuesForCurrentEvent().keys.sorted() == ["cars", "height"])
      #expect(
        driver.changedValuesForCurrentEvent()["cars"] as? Set<NSManagedObject> == [car])
      context.processPendingChanges()
      car.setValue(nil, forKey: "driver")
      #expect(car.changedValuesForCurrentEvent()["driver"] as? NSManagedObject === other)
    }
  }

  @Test("During the did-change notification, the current event is the posted one")
  func currentEventDuringTheNotificationIsThePostedOne() throws {
    try saved(.sqlite) { context, driver in
      let heard = LineList()
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { note in
        let updated = note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
        for object in updated {
          heard.add(object.changedValuesForCurrentEvent().map { "\($0) was \($1)" }.joined())
        }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      driver.setValue("b", forKey: "name")
      context.processPendingChanges()
      driver.setValue("c", forKey: "name")
      try context.save()
      #expect(heard.lines == ["name was a", "name was b"])
    }
  }

  @Test("S7.06 an object updated, then deleted, is in both sets", arguments: StoreKind.allCases)
  func objectUpdatedThenDeletedIsInBothSets(kind: StoreKind) throws {
    try saved(kind) { context, driver in
      driver.setValue("b", forKey: "name")
      context.delete(driver)
      #expect(context.updatedObjects.contains(driver) && context.deletedObjects == [driver])
      #expect(driver.isUpdated && driver.isDeleted)
      try context.save()
      #expect(!driver.isDeleted && !driver.isUpdated && driver.managedObjectContext == nil)
    }
  }

  @Test(
    "S-C37 identity, entity, context, and state of a fault don't fire it",
    arguments: StoreKind.allCases)
  func identityAndStateMethodsFireNoFault(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: DrivingModel.make())
    let writer = try stack.context()
    try writer.performAndWait {
      for name in ["a", "b"] { _ = writer.make("Driver", ["name": name]) }
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let drivers = try context.all("Driver")
      let cost = costs(of: context) {
        let (one, other) = (drivers[0], drivers[1])
        #expect(one.isEqual(one) && one != other && one.hash == one.hashValue)
        #expect(type(of: one) == NSManagedObject.self && one.isKind(of: NSObject.self))
        #expect(!one.isKind(of: NSArray.self) && one.isMember(of: NSManagedObject.self))
        #expect(one.description.contains("<fault>") && one.self === one)
        #expect(one.managedObjectContext === context && one.entity.name == "Driver")
        #expect(!one.objectID.isTemporaryID && one.objectID != other.objectID)
        #expect(!one.isInserted && !one.isUpdated && !one.isDeleted && !one.hasChanges)
        #expect(one.isFault && one.faultingState != 0 && Set(drivers).count == 2)
      }
      #expect(cost.faults == 0 && cost.selects == 0)
      #expect(drivers.count { $0.isFault } == 2)
    }
  }

  @Test("A new object has no committed values until it's saved", arguments: StoreKind.allCases)
  func newObjectHasNoCommittedValuesUntilSaved(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: DrivingModel.make()).context()
    try context.performAndWait {
      let car = context.make("Car", ["name": "a"])
      #expect(car.committedValues(forKeys: nil).isEmpty)
      #expect(car.committedValues(forKeys: ["name", "driver"]).isEmpty)
      try context.save()
      #expect(car.committedValues(forKeys: ["name"])["name"] as? String == "a")
    }
  }
}
