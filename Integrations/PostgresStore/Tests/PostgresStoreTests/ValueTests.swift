import OpenCoreData
import PostgresDriver
import PostgresStore
import Testing

@Suite("Values")
struct ValueTests {
  private static var values: [(String, [Any])] {
    [
      ("bool", [true, false]),
      ("data", [Data(), Data([0]), Data((0..<100_000).map { UInt8($0 % 256) })]),
      (
        "date",
        [
          0.0, -0.1, 794_000_000.123456789, .ulpOfOne, -63_114_076_800, 1e300, .infinity,
        ].map { Date(timeIntervalSinceReferenceDate: $0) }
      ),
      (
        "decimal",
        [
          "0", "-0.000000001", "12345678901234567890123456789012345678", "1e100", "-1e-100",
        ].compactMap { Decimal(string: $0) }
      ),
      (
        "double",
        [0.1, -0.0, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.infinity] as [Double]
      ),
      ("float", [0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.infinity] as [Float]),
      ("int16", [Int16.min, Int16.max, Int16(0)]), ("int32", [Int32.min, Int32.max]),
      ("int64", [Int64.min, Int64.max, Int64(1) << 53 + 1]),
      (
        "string",
        [
          "", "O'Brien", "\"quoted\"", "\\back\\slash", "$1 %s ?", "e\u{301} ≠ é", "😀👩‍👩‍👧",
          "\u{1}\u{7f}\u{FFFF}",
          "'; DROP TABLE \"Item\"; --", String(repeating: "ü", count: 50_000),
        ]
      ),
      ("uri", ["a:b", "https://example.com/?q=%20#x"].compactMap { URL(string: $0) }),
      ("uuid", [UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))]),
      ("transformable", [["a", "b"], ["k": 1], Data([1, 2]), "text"]),
    ]
  }

  @Test(
    "Values of every type round-trip exactly, also through an update", arguments: values.map(\.0))
  func valuesRoundTrip(name: String) throws {
    let values = try #require(Self.values.first { $0.0 == name }).1
    let stack = try PostgresStack(SampleModels.everyType())
    let context = stack.context()
    let ids = try context.performAndWait {
      let objects = values.map { context.insert("Item", [name: $0]) }
      let updated = values.map { _ in context.insert("Item") }
      try context.save()
      for (object, value) in zip(updated, values) { object.setValue(value, forKey: name) }
      try context.save()
      return (objects + updated).map(\.objectID)
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      for (id, value) in zip(ids, values + values) {
        // The URI is the same for each coordinator.
        let own = try #require(
          cold.persistentStoreCoordinator?.managedObjectID(
            forURIRepresentation: id.uriRepresentation()))
        let read = try cold.existingObject(with: own).value(forKey: name)
        #expect(Self.areEqual(read, value), "\(String(describing: read)) isn't \(value)")
      }
    }
  }

  private static func areEqual(_ read: Any?, _ value: Any) -> Bool {
    switch value {
    case let value as Bool: return (read as? NSNumber)?.boolValue == value
    case let value as [String: Int]:
      return (read as? [AnyHashable: Any])?["k"] as? Int == value["k"]
    case let value as Double:
      return (read as? NSNumber)?.doubleValue.bitPattern == value.bitPattern
    case let value as String: return (read as? String).map { Array($0.utf8) } == Array(value.utf8)
    case let value as any Hashable:
      return (read as? AnyHashable) == AnyHashable(value) || "\(read ?? "")" == "\(value)"
    default: return "\(read ?? "")" == "\(value)"
    }
  }

  @Test("NaN is kept, and nil stays nil")
  func nanAndNilAreKept() throws {
    let stack = try PostgresStack(SampleModels.everyType())
    let context = stack.context()
    try context.performAndWait {
      context.insert("Item", ["string": "nan", "double": Double.nan])
      context.insert("Item", ["string": "nil"])
      try context.save()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let items = try cold.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      let nan = try #require(items.first { $0.value(forKey: "string") as? String == "nan" })
      #expect((nan.value(forKey: "double") as? Double)?.isNaN == true)
      let empty = try #require(items.first { $0.value(forKey: "string") as? String == "nil" })
      for (name, _) in SampleModels.types where name != "string" {
        #expect(empty.value(forKey: name) == nil, "\(name)")
      }
      #expect(empty.value(forKey: "place") == nil)
    }
  }

  @Test("The elements of a composite attribute have columns of their own")
  func compositeAttributesRoundTrip() throws {
    let stack = try PostgresStack(SampleModels.everyType())
    let context = stack.context()
    try context.performAndWait {
      let item = context.insert(
        "Item", ["place": ["latitude": 48.5, "region": ["country": "FR"]] as [String: Any]])
      try context.save()
      item.setValue(
        ["latitude": 49, "region": ["country": "DE"]] as [String: Any], forKey: "place")
      try context.save()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let item = try #require(
        try cold.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
      let place = try #require(item.value(forKey: "place") as? [String: Any])
      #expect((place["latitude"] as? NSNumber)?.doubleValue == 49)
      #expect((place["region"] as? [String: Any])?["country"] as? String == "DE")
    }
    let connection = try TestServer.connection()
    let row = try connection.query(
      "SELECT \"place.latitude\", \"place.region.country\" FROM \(stack.quoted).\"Item\"")
    #expect((row.real(0, 0), row.text(0, 1)) == (49, "DE"))
  }

  @Test("A string with NUL is an error with the property's name, and nothing is saved")
  func nulIsAnError() throws {
    let stack = try PostgresStack(SampleModels.everyType())
    let context = stack.context()
    try context.performAndWait {
      context.insert("Item", ["string": "fine"])
      let item = context.insert("Item", ["string": "a\u{0}b"])
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSPersistentStoreSaveError)
      #expect(error?.localizedDescription.contains("'string' of 'Item'") == true)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "string")
      item.setValue("ab", forKey: "string")
      try context.save()
      let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
      #expect(count == 2)
    }
  }
}
