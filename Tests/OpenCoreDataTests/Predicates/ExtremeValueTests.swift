import ManagedModel
import Testing

@testable import OpenCoreData

/// Predicates match extreme values in SQL as in memory, saved or not.
@Suite struct ExtremeValueTests {
  private static func model() -> NSManagedObjectModel {
    let item = SchemaModels.entity(
      "Item",
      [
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("whole", .integer64AttributeType),
        SchemaModels.attribute("real", .doubleAttributeType),
        SchemaModels.attribute("price", .decimalAttributeType),
        SchemaModels.attribute("day", .dateAttributeType),
        SchemaModels.attribute("key", .UUIDAttributeType),
      ])
    let part = SchemaModels.entity(
      "Part",
      [
        SchemaModels.attribute("size", .integer64AttributeType),
        SchemaModels.attribute("weight", .doubleAttributeType),
      ])
    SchemaModels.relate(item, "parts", many: true, part, "item", many: false)
    let model = NSManagedObjectModel()
    model.entities = [item, part]
    return model
  }

  /// 2^53 as a floating-point number, which has no successor.
  private static let last = 9_007_199_254_740_992.0

  /// Items a to f: the lowest integer, the highest one, integers around 2^53, 1, values that aren't
  /// numbers, and nils.
  private func fill(_ context: NSManagedObjectContext) {
    let nan = Double.nan
    let rows: [(String, Int64?, Double?, Decimal?, Double?)] = [
      ("a", .min, -0x1p63, Decimal(Int64.min), -1), ("b", .max, 0x1p63, Decimal(Int64.max), 1),
      ("c", 9_007_199_254_740_993, Self.last, 0.5, 0.5), ("d", 1, 1, 1, 2),
      ("e", 2, nan, .nan, nan), ("f", nil, nil, nil, nil),
    ]
    for (name, whole, real, price, day) in rows {
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue(name, forKey: "name")
      item.setValue(whole, forKey: "whole")
      item.setValue(real, forKey: "real")
      item.setValue(price.map { NSDecimalNumber(decimal: $0) }, forKey: "price")
      item.setValue(day.map { Date(timeIntervalSinceReferenceDate: $0) }, forKey: "day")
      let parts: [(Int64?, Double?)] =
        switch name {
        case "a": [(.max, .infinity), (.max - 1, -.infinity)]
        case "d": [(1, 1), (2, nan)]
        default: []
        }
      for (size, weight) in parts {
        let part = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
        part.setValue(size, forKey: "size")
        part.setValue(weight, forKey: "weight")
        part.setValue(item, forKey: "item")
      }
    }
  }

  /// Formats with the arguments and the names of the matching items.
  private static var found: [(String, [Any?], String)] {
    computed + [
      // The lowest integer has an absolute value, which is real.
      ("abs:(whole) > 9e18", [], "ab"), ("abs:(price) > 9e18", [], "ab"),
      ("abs:(whole) == abs:(real) AND whole != nil", [], "ad"), ("abs:(whole) < 3", [], "de"),
      // Integers and floating-point numbers are compared exactly.
      ("real == 9007199254740993", [], ""), ("real < 9007199254740993", [], "acd"),
      ("real == 9007199254740992", [], "c"), ("real >= 9007199254740993", [], "b"),
      ("real IN {9007199254740993, 1, 5, 7}", [], "d"), ("whole == %@", [last], ""),
      ("whole > %@", [last], "bc"), ("whole > real", [], "c"), ("real > whole", [], "b"),
      ("real IN %@", [numbers(9_007_199_254_740_993, 2)], ""),
      ("whole IN %@", [numbers(9_007_199_254_740_993, 2.5)], "c"),
      ("max:(whole, real) == 9007199254740993", [], "c"),
      // What isn't a number is nil.
      ("real == %@", [Double.nan], "ef"), ("real != %@", [Double.nan], "abcd"),
      ("real == nil", [], "ef"), ("price != nil", [], "abcd"), ("day == nil", [], "ef"),
      ("price == %@", [NSDecimalNumber.notANumber], "ef"), ("price > 0", [], "bcd"),
      ("day != %@", [Date(timeIntervalSinceReferenceDate: .nan)], "abcd"),
      ("real IN %@", [[Double.nan, 1]], "def"), ("real + 1 == nil AND whole > 0", [], "e"),
      ("whole ** (real * 0) == 1", [], "abcd"), ("ANY parts.weight != 1", [], "a"),
      ("parts.@avg.weight == nil", [], "a"), ("parts.@avg.weight == 0.5", [], "d"),
    ]
  }

  /// A list that's too long for parameters, and begins with two numbers.
  private static func numbers(_ first: Int64, _ second: Double) -> [NSNumber] {
    [NSNumber(value: first), NSNumber(value: second)] + (3...31_000).map { NSNumber(value: $0) }
  }

  private static var computed: [(String, [Any?], String)] {
    [
      // Integers beyond 64 bits become real.
      ("whole + 1 == 9223372036854775808", [], "b"), ("whole * 2 > 1e19", [], "b"),
      ("modulus:by:(whole * 4, 3) >= 0", [], "bcde"),
      ("bitwiseAnd:with:(whole * 4, 4) == 4", [], "cd"),
      ("onesComplement:(whole * 4) < 0", [], "cde"), ("sum:(parts.size) > 1e19", [], "a"),
      ("sum:(parts.size) / 2 == 1", [], "d"),
    ]
  }

  private func names(
    _ format: String, _ arguments: [Any?], _ context: NSManagedObjectContext
  ) throws -> String {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = try NSPredicate.parse(format, arguments: arguments)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.joined()
  }

  @Test(arguments: [StoreKind.sqlite, .memory])
  func extremeValuesMatchInSQLAsInMemory(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      for (format, arguments, names) in Self.found {
        let found = try self.names(format, arguments, context)
        #expect(found == names, "unsaved: \(format)")
      }
      try context.save()
      for (format, arguments, names) in Self.found {
        let found = try self.names(format, arguments, context)
        #expect(found == names, "saved: \(format)")
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let items = try context.fetch(request)
      for (format, arguments, names) in Self.found {
        let predicate = try NSPredicate.parse(format, arguments: arguments)
        let found = items.filter { predicate.evaluate(with: $0) }
          .compactMap { $0.value(forKey: "name") as? String }.joined()
        #expect(found == names, "evaluated: \(format)")
      }
    }
  }

  @Test func saveOfADecimalThatIsNotANumberIsNil() throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      let fresh = stack.context()
      try fresh.performAndWait {
        let request = NSFetchRequest<[String: Any]>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "price"]
        request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
        let found = try fresh.fetch(request)
        #expect(found.map { $0["price"] != nil } == [true, true, true, true, false, false])
      }
    }
  }

  @Test(arguments: [4, 20, 31_000])
  func listsOfAnyLengthMatchTheSameStrings(count: Int) throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      for name in ["A", "a\u{0}b", nil] {
        NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
      let list = ["a\u{0}b"] + (1..<count).map { "n\($0)" }
      let options = count > 1_000 ? "" : "[c]"
      #expect(try names("name IN\(options) %@", [list], context) == "a\u{0}b")
      // As in SQL, nil isn't known to be outside of a list.
      #expect(try names("NOT (name IN\(options) %@)", [list], context) == "A")
      let letters = ["a", "x"] + (2..<count).map { "n\($0)" }
      #expect(try names("name IN\(options) %@", [letters], context) == (count > 1_000 ? "" : "A"))
    }
  }
  @Test(arguments: [20, 33_000])
  func listsOfAnyLengthMatchTheSameUUIDs(count: Int) throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      let keys = (0..<count).map { _ in UUID() }
      let rows: [(String, UUID?)] = [
        ("a", keys[0]), ("b", UUID()), ("c", nil), ("d", keys[count - 1]),
      ]
      for (name, key) in rows {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        item.setValue(key, forKey: "key")
      }
      try context.save()
      let lists: [[Any]] = [keys, keys.map { $0.uuidString }]
      for list in lists {
        #expect(try names("key IN %@", [list], context) == "ad")
        #expect(try names("NOT (key IN %@)", [list], context) == "b")
      }
      let next = [UUID()] + keys.dropFirst()
      #expect(try names("key IN %@", [next], context) == "d")
    }
  }
}
