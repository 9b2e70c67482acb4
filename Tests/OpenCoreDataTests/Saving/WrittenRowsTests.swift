import OpenCoreData
import SQLiteDriver
import Testing

/// The rows of a save share a statement: a value bound for one must not be written for the next.
@Suite("Reuse of statements for rows")
struct WrittenRowsTests {
  private let values: [String: any Sendable] = [
    "bool": true, "data": Data([0, 1, 2]), "date": Date(timeIntervalSinceReferenceDate: 7),
    "decimal": Decimal(12), "double": 0.5, "float": Float(1.5), "int16": Int16(-3),
    "int32": Int32(70_000), "int64": Int64.max, "string": String(repeating: "länger ", count: 40),
    "uri": URL(fileURLWithPath: "/a/b"),
    "uuid": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
  ]

  private func articles(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
    return try context.fetch(request).sorted {
      $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
    }
  }

  /// The number of NULL columns of each article, by primary key.
  private func nulls(_ stack: TestStack) throws -> [Int64] {
    let columns = values.keys.map { "(Z\($0.uppercased()) IS NULL)" }.joined(separator: "+")
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    return try connection.values("SELECT \(columns) FROM ZARTICLE ORDER BY Z_PK").map {
      if case .integer(let count) = $0[0] { count } else { -1 }
    }
  }

  @Test("Nils and values can alternate in the INSERTs and in the UPDATEs of one save")
  func nilsAndValuesAlternateInInsertsAndUpdates() throws {
    let stack = try TestStack(model: TestModels.library())
    let all = Int64(values.count)
    let first = try stack.coldContext()
    try first.performAndWait {
      for number in 0..<6 {
        let article = NSEntityDescription.insertNewObject(forEntityName: "Article", into: first)
        if number % 2 == 0 { article.setValuesForKeys(values) }
      }
      try first.save()
    }
    #expect(try nulls(stack) == [0, all, 0, all, 0, all])
    let second = try stack.coldContext()
    try second.performAndWait {
      for (number, article) in try articles(second).enumerated() {
        let isFull = number % 2 == 0
        for (key, value) in values {
          if isFull {
            article.setValue(nil, forKey: key)
          } else {
            article.setValue(value, forKey: key)
          }
        }
      }
      try second.save()
    }
    #expect(try nulls(stack) == [all, 0, all, 0, all, 0])
    let third = try stack.coldContext()
    try third.performAndWait {
      for (number, article) in try articles(third).enumerated() {
        for (key, value) in values {
          let found = article.storedValue(forKey: key)
          if number % 2 == 0 {
            #expect(found == nil, "\(key)")
          } else {
            #expect(found as? AnyHashable == value as? AnyHashable, "\(key)")
          }
        }
      }
    }
  }

  @Test("A failed save leaves no row, and the next one writes the current values")
  func failedSaveLeavesNoRowAndTheNextWritesCurrentValues() throws {
    let stack = try TestStack(model: SavingModels.regions())
    let context = try stack.coldContext()
    try context.performAndWait {
      func person(_ first: String) -> NSManagedObject {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValuesForKeys(["first": first, "last": String(repeating: "a", count: 100)])
        return person
      }
      _ = person("one")
      let again = person("one")
      #expect(throws: NSError.self) { try context.save() }
      again.setValue("two", forKey: "first")
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    #expect(
      try connection.values("SELECT ZFIRST, length(ZLAST) FROM ZPERSON ORDER BY ZFIRST") == [
        [.text("one"), .integer(100)], [.text("two"), .integer(100)],
      ])
  }

  @Test("Entities with equal statements can alternate in a save")
  func entitiesWithEqualStatementsCanAlternate() throws {
    let model = NSManagedObjectModel()
    let animal = NSEntityDescription()
    animal.name = "Animal"
    animal.properties = [TestModels.attribute("name", .stringAttributeType)]
    let cat = NSEntityDescription()
    cat.name = "Cat"
    let dog = NSEntityDescription()
    dog.name = "Dog"
    animal.subentities = [cat, dog]
    model.entities = [animal, cat, dog]
    let stack = try TestStack(model: model)
    let context = try stack.coldContext()
    let names = (0..<9).map { "\($0)".padding(toLength: 60, withPad: "x", startingAt: 0) }
    try context.performAndWait {
      for (number, name) in names.enumerated() {
        let entity = ["Cat", "Dog", "Animal"][number % 3]
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    let rows = try connection.values("SELECT ZNAME, Z_ENT FROM ZANIMAL ORDER BY Z_PK")
    #expect(rows.map { $0[0] } == names.map { .text($0) })
    #expect(Set(rows.map { $0[1] }).count == 3 && rows[0][1] == rows[3][1])
  }
}
