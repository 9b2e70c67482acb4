import OpenCoreData
import PostgresDriver
import PostgresStore
import Testing

import class ManagedModel.NSExpression
import class ManagedModel.NSExpressionDescription
import class ManagedModel.NSManagedObjectModel

@Suite("Numbers at the ends of their ranges")
struct ExtremeNumberTests {
  /// People with the largest and the smallest numbers, in a PostgreSQL and in a SQLite store.
  private let stack: PostgresStack
  private let sqlite: NSPersistentStoreCoordinator

  init() throws {
    func model() -> NSManagedObjectModel {
      let person = SampleModels.entity(
        "Person",
        [
          SampleModels.attribute("name", .stringAttributeType),
          SampleModels.attribute("big", .integer64AttributeType),
          SampleModels.attribute("score", .doubleAttributeType),
        ])
      SampleModels.relate(
        person, "boss", SampleModels.one, person, "reports", SampleModels.many)
      return SampleModels.model([person])
    }
    stack = try PostgresStack(model())
    sqlite = NSPersistentStoreCoordinator(managedObjectModel: model())
    try sqlite.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
    for coordinator in [stack.coordinator, sqlite] {
      let context = stack.context(coordinator)
      try context.performAndWait {
        let max = context.insert("Person", ["name": "max", "big": Int64.max, "score": 1e300])
        context.insert("Person", ["name": "min", "big": Int64.min, "score": -2e300, "boss": max])
        context.insert("Person", ["name": "odd", "big": -7, "score": 1.1e-20, "boss": max])
        context.insert("Person", ["name": "nil", "boss": max])
        try context.save()
      }
    }
  }

  private func names(
    _ coordinator: NSPersistentStoreCoordinator, _ predicate: NSPredicate
  ) throws -> [String] {
    let context = stack.context(coordinator)
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = predicate
      return try context.fetch(request).compactMap(\.name).sorted()
    }
  }

  @Test(
    "Arithmetic with integers, and functions, aren't out of range",
    arguments: [
      ("big + 1 > 0", ["max"]), ("big - 1 < 0", ["min", "odd"]), ("big * 2 > 0", ["max"]),
      ("big / -1 > 0", ["min", "odd"]), ("big / 2 == -3", ["odd"]), ("big / 0 == 1", []),
      ("big + 0.5 < 0", ["min", "odd"]), ("big + 1 IN {-6, 5}", ["odd"]),
      ("reports.@avg.score < 0", ["max"]), ("reports.@avg.score == 0", ["min", "nil", "odd"]),
    ])
  func arithmetic(format: String, expected: [String]) throws {
    try expectEqual(names(stack.coordinator, NSPredicate(format: format)), expected)
    try expectEqual(names(sqlite, NSPredicate(format: format)), expected)
  }

  @Test(
    "A result that isn't a number is nil",
    arguments: [
      ("score - score > 0", []), ("score - score == nil", ["chief", "inf", "nil", "ninf"]),
      ("NOT score - score > 0", ["max", "min", "odd"]), ("score * 0 == 0", ["max", "min", "odd"]),
      ("reports.@sum.score == nil", ["chief"]), ("reports.@avg.score > 0", []),
    ])
  func resultsThatAreNotNumbers(format: String, expected: [String]) throws {
    for coordinator in [stack.coordinator, sqlite] {
      let context = stack.context(coordinator)
      try context.performAndWait {
        let chief = context.insert("Person", ["name": "chief"])
        context.insert("Person", ["name": "inf", "score": Double.infinity, "boss": chief])
        context.insert("Person", ["name": "ninf", "score": -Double.infinity, "boss": chief])
        try context.save()
      }
      try expectEqual(names(coordinator, NSPredicate(format: format)), expected)
    }
  }

  @Test("The absolute value of the smallest integer is a number")
  func absoluteValue() throws {
    try expectEqual(
      names(stack.coordinator, NSPredicate(format: "abs(big) > 7")), ["max", "min"])
  }

  @Test("A decimal constant is compared with a double as the nearest one")
  func decimalConstants() throws {
    for number in [Decimal(string: "1.1e-20"), Decimal(string: "1.1000e-20")] {
      let constant = NSDecimalNumber(decimal: try #require(number))
      for predicate in [
        NSPredicate(format: "score == %@", constant),
        NSPredicate(format: "score IN %@", [constant]),
      ] {
        try expectEqual(names(stack.coordinator, predicate), ["odd"])
        try expectEqual(names(sqlite, predicate), ["odd"])
      }
    }
  }

  @Test("Sums may be larger than the numbers, and functions may return infinity")
  func functions() throws {
    let context = stack.context()
    try context.performAndWait {
      context.insert("Person", ["name": "more", "big": Int64.max, "score": Double.infinity])
      try context.save()
      func value(_ format: String, _ type: NSAttributeType) throws -> Any? {
        let description = NSExpressionDescription()
        description.name = "value"
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [description]
        request.predicate = NSPredicate(format: "big > 0")
        return try context.fetch(request).first?["value"]
      }
      let sum = try value("sum:(big)", .integer64AttributeType) as? NSNumber
      #expect(sum?.doubleValue == 18_446_744_073_709_551_616)
      // A decimal number can't be infinite.
      let max = try value("max:(score)", .decimalAttributeType) as? NSNumber
      #expect(max?.doubleValue == .infinity)
    }
  }

  @Test("Two constant strings are compared by their bytes, whatever the database's order is")
  func constantStrings() throws {
    let connection = try TestServer.connection()
    let name = "linguistic_\(UInt32.random(in: 0...(.max)))"
    // The first server with such databases is PostgreSQL 15, which may be built without ICU.
    let creation =
      "CREATE DATABASE \(name) LOCALE_PROVIDER icu ICU_LOCALE 'en-US' ENCODING UTF8 TEMPLATE template0"
    guard (try? connection.execute(creation)) != nil else { return }
    defer { _ = try? connection.execute("DROP DATABASE \(name) WITH (FORCE)") }
    let uri = TestServer.uri.replacing(":///postgres", with: ":///\(name)")
    let url = try #require(URL(string: uri))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleModels.accounts())
    try coordinator.addPersistentStore(type: .postgres, at: url)
    let context = stack.context(coordinator)
    try context.performAndWait {
      context.insert("Account", ["name": "a"])
      try context.save()
      try expectEqual(context.all("Account", "'a' < 'B'").count, 0)
      try expectEqual(context.all("Account", "'a' > 'B'").count, 1)
      try expectEqual(context.all("Account", "name > 'B'").count, 1)
    }
  }
}
