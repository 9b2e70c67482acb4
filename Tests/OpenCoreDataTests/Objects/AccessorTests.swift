import CoreDataCosts
import OpenCoreData
import SQLiteDriver
import Testing

/// A driver with custom accessors: a shade that is decoded lazily from its storage.
final class ShadedDriver: NSManagedObject {
  nonisolated(unsafe) static var decoded = 0
  nonisolated(unsafe) static var encoded = 0
  /// Whether the shade is encoded at each set, or once in `willSave`.
  nonisolated(unsafe) static var encodesInWillSave = false

  static func reset() {
    (decoded, encoded, encodesInWillSave) = (0, 0, false)
  }

  var shade: [Int]? {
    get {
      willAccessValue(forKey: "shade")
      var shade = primitiveValue(forKey: "shade") as? [Int]
      didAccessValue(forKey: "shade")
      if shade == nil, let storage = value(forKey: "storage") as? Data {
        ShadedDriver.decoded += 1
        shade = storage.map(Int.init)
        setPrimitiveValue(shade, forKey: "shade")
      }
      return shade
    }
    set {
      willChangeValue(forKey: "shade")
      setPrimitiveValue(newValue, forKey: "shade")
      didChangeValue(forKey: "shade")
      if !ShadedDriver.encodesInWillSave { encode() }
    }
  }

  /// Without the will and did calls.
  var bareName: String? {
    get { primitiveValue(forKey: "name") as? String }
    set { setPrimitiveValue(newValue, forKey: "name") }
  }

  override func willSave() {
    super.willSave()
    guard ShadedDriver.encodesInWillSave, primitiveValue(forKey: "shade") != nil else { return }
    let bytes = primitiveValue(forKey: "shade").flatMap { $0 as? [Int] }.map(data)
    if bytes != value(forKey: "storage") as? Data { encode() }
  }

  private func encode() {
    ShadedDriver.encoded += 1
    setValue((primitiveValue(forKey: "shade") as? [Int]).map(data), forKey: "storage")
  }

  private func data(_ shade: [Int]) -> Data {
    Data(shade.map { UInt8(truncatingIfNeeded: $0) })
  }
}

/// A driver whose shade is encoded in `willSave`, without will and did calls.
final class TintedDriver: NSManagedObject {
  override func willSave() {
    super.willSave()
    let bytes = (primitiveValue(forKey: "shade") as? [Int])?.map { UInt8(truncatingIfNeeded: $0) }
    setPrimitiveValue(bytes.map { Data($0) }, forKey: "storage")
  }
}

@Suite("Accessors, primitive and transient values", .serialized)
struct AccessorTests {
  private func stack(_ kind: StoreKind) throws -> GraphStack {
    ShadedDriver.reset()
    return try GraphStack(kind, model: DrivingModel.make(driver: ShadedDriver.self))
  }

  private func drivers(_ context: NSManagedObjectContext) throws -> [ShadedDriver] {
    try context.all("Driver").compactMap { $0 as? ShadedDriver }
  }

  @Test(
    "S5.05 a lazy accessor decodes on the first read, and again after a refresh",
    arguments: StoreKind.allCases)
  func lazyAccessorDecodesOncePerRealization(kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      for number in 0..<5 {
        _ = writer.make("Driver", ["name": "\(number)", "storage": Data([1, 2, UInt8(number)])])
      }
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let drivers = try drivers(context)
      for driver in drivers { _ = driver.value(forKey: "name") }
      #expect(ShadedDriver.decoded == 0)
      #expect(drivers.prefix(2).map(\.shade) == [[1, 2, 0], [1, 2, 1]])
      #expect(ShadedDriver.decoded == 2 && drivers[0].shade == [1, 2, 0])
      #expect(ShadedDriver.decoded == 2 && !context.hasChanges)
      context.refresh(drivers[0], mergeChanges: false)
      #expect(drivers[0].shade == [1, 2, 0] && ShadedDriver.decoded == 3)
    }
  }

  @Test("S5.06 a value set five times is encoded five times in its setter, once in willSave")
  func setterEncodesEachTimeAndWillSaveEncodesOnce() throws {
    let stack = try stack(.sqlite)
    let context = try stack.context()
    try context.performAndWait {
      let driver = try #require(context.make("Driver") as? ShadedDriver)
      for number in 0..<5 { driver.shade = [number] }
      try context.save()
      #expect(ShadedDriver.encoded == 5)
      ShadedDriver.reset()
      ShadedDriver.encodesInWillSave = true
      for number in 10..<15 { driver.shade = [number] }
      try context.save()
      #expect(ShadedDriver.encoded == 1)
      #expect(driver.value(forKey: "storage") as? Data == Data([14]))
    }
  }

  @Test(
    "A primitive value that willSave sets is saved, even if only a transient property was changed",
    arguments: StoreKind.allCases)
  func primitiveValueOfWillSaveIsSaved(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: DrivingModel.make(driver: TintedDriver.self))
    let context = try stack.context()
    try context.performAndWait {
      let driver = context.make("Driver", ["name": "a"])
      try context.save()
      driver.setValue([1, 2], forKey: "shade")
      try context.save()
      driver.setValue([1, 2], forKey: "shade")
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.updates == 0 && !context.hasChanges)
    }
    let reader = try stack.context()
    let storage = try reader.performAndWait {
      try reader.all("Driver").first?.value(forKey: "storage") as? Data
    }
    #expect(storage == Data([1, 2]))
  }

  @Test(
    "S5.07 S-D18 a transient has no column, is tracked, isn't saved, and is lost with a refresh",
    arguments: StoreKind.allCases)
  func transientChangesAreTrackedButNotSaved(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = try stack.context()
    try context.performAndWait {
      let driver = context.make("Driver", ["name": "a"])
      try context.save()
      driver.setValue("n", forKey: "note")
      #expect(driver.isUpdated && driver.hasChanges && context.hasChanges)
      #expect(!driver.hasPersistentChangedValues && driver.changedValues().isEmpty)
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.updates == 0 && cost.transactions == 0 && !context.hasChanges)
      #expect(driver.value(forKey: "note") as? String == "n")
      driver.setValue("m", forKey: "note")
      driver.setValue("b", forKey: "name")
      #expect(try costs(of: context) { try context.save() }.updates == stack.statements(1))
      context.refresh(driver, mergeChanges: false)
      #expect(driver.value(forKey: "note") == nil && driver.value(forKey: "name") != nil)
    }
    guard kind == .sqlite else { return }
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    let columns = try connection.values("SELECT name FROM pragma_table_info('ZDRIVER')", [])
    #expect(columns.count > 8 && !columns.contains([.text("ZNOTE")]))
  }

  @Test("S5.11 S-B21 an accessor without will and did calls fires no fault and tracks no change")
  func accessorWithoutNotificationsFiresNoFaultAndTracksNoChange() throws {
    let stack = try stack(.sqlite)
    let writer = try stack.context()
    try writer.performAndWait {
      _ = writer.make("Driver", ["name": "a"])
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let driver = try #require(try drivers(context).first)
      let cost = costs(of: context) { #expect(driver.bareName == nil && driver.isFault) }
      #expect(cost.faults == 0)
      driver.willAccessValue(forKey: "name")
      #expect(driver.bareName == "a")
      driver.bareName = "b"
      #expect(!driver.hasChanges && driver.changedValues().isEmpty)
      #expect(try costs(of: context) { try context.save() }.updates == 0)
      driver.willChangeValue(forKey: "name")
      driver.bareName = "c"
      driver.didChangeValue(forKey: "name")
      #expect(driver.changedValues()["name"] as? String == "c")
      #expect(try costs(of: context) { try context.save() }.updates == 1)
    }
  }

  @Test(
    "S5.09 S-B05 a default value is set by the insert", arguments: StoreKind.allCases)
  func insertSetsDefaultValues(kind: StoreKind) throws {
    let context = try stack(kind).context()
    try context.performAndWait {
      let driver = context.make("Driver")
      #expect(driver.value(forKey: "name") as? String == "N. N.")
      #expect(driver.value(forKey: "hasLicence") as? Bool == false)
      #expect(driver.changedValues().isEmpty)
      try context.save()
      context.refresh(driver, mergeChanges: false)
      #expect(driver.value(forKey: "name") as? String == "N. N.")
    }
  }

  @Test("S5.01 a Boolean is 0 or 1 in its column, a date the seconds since 2001")
  func booleanIsStoredAsIntegerAndDateAsSecondsSince2001() throws {
    let stack = try stack(.sqlite)
    let context = try stack.context()
    try context.performAndWait {
      _ = context.make(
        "Driver", ["hasLicence": true, "born": Date(timeIntervalSince1970: 978_307_200)])
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    let row = try connection.values(
      "SELECT ZHASLICENCE, typeof(ZHASLICENCE), CAST(ZBORN AS REAL) FROM ZDRIVER", [])
    #expect(row == [[.integer(1), .text("integer"), .real(0)]])
  }

  @Test("Setting primitive relationship values between will and did calls updates the inverse")
  func primitiveRelationshipChangeUpdatesInverseWithWillAndDidCalls() throws {
    let context = try stack(.sqlite).context()
    context.performAndWait {
      let drivers = ["a", "b"].map { context.make("Driver", ["name": $0]) }
      let car = context.make("Car", ["name": "c", "driver": drivers[0]])
      car.setPrimitiveValue(drivers[1], forKey: "driver")
      #expect((drivers[1].value(forKey: "cars") as? Set<NSManagedObject>)?.isEmpty == true)
      car.setPrimitiveValue(drivers[0], forKey: "driver")
      car.willChangeValue(forKey: "driver")
      car.setPrimitiveValue(drivers[1], forKey: "driver")
      car.didChangeValue(forKey: "driver")
      #expect(drivers[1].value(forKey: "cars") as? Set<NSManagedObject> == [car])
      #expect((drivers[0].value(forKey: "cars") as? Set<NSManagedObject>)?.isEmpty == true)
      drivers[0].willChangeValue(forKey: "cars", withSetMutation: .union, using: [car])
      drivers[0].setPrimitiveValue([car], forKey: "cars")
      drivers[0].didChangeValue(forKey: "cars", withSetMutation: .union, using: [car])
      #expect(car.value(forKey: "driver") as? NSManagedObject === drivers[0])
      #expect((drivers[1].value(forKey: "cars") as? Set<NSManagedObject>)?.isEmpty == true)
    }
  }

  @Test("Will and did calls for a key that isn't in the model change nothing")
  func keysOutsideTheModelAreIgnored() throws {
    let context = try stack(.sqlite).context()
    try context.performAndWait {
      let driver = context.make("Driver", ["name": "a"])
      try context.save()
      context.refresh(driver, mergeChanges: false)
      driver.willChangeValue(forKey: "title")
      driver.didChangeValue(forKey: "title")
      #expect(driver.isFault && !context.hasChanges)
    }
  }
}
