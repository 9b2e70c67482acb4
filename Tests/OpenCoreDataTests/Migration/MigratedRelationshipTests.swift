import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Lightweight migration of relationships, composite attributes, and names")
struct MigratedRelationshipTests {
  /// A model from the contents of its document.
  private static func model(_ contents: String) throws -> NSManagedObjectModel {
    let data = Data(
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\">\(contents)</model>".utf8)
    return try ModelDocument.read(data: data, file: "Model")
  }

  private static func relationship(
    _ name: String, to entity: String, inverse: String? = nil, _ rest: String = ""
  ) -> String {
    let back = inverse.map { " inverseName=\"\($0)\" inverseEntity=\"\(entity)\"" } ?? ""
    return
      "<relationship name=\"\(name)\" optional=\"YES\" destinationEntity=\"\(entity)\"\(back) \(rest)/>"
  }

  private static let one = "maxCount=\"1\""
  private static let many = "toMany=\"YES\""
  private static let name = "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"

  /// The objects A1 to A3 and B1 to B3, by name, with the relationship `r` from each A.
  private static func fill(
    _ store: MigratedStore, _ model: NSManagedObjectModel, _ links: [(String, String)]
  ) throws {
    let context = try store.open(model)
    try context.performAndWait {
      var objects: [String: NSManagedObject] = [:]
      for entity in ["A", "B"] {
        for number in 1...3 {
          let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          object.setValue("\(entity)\(number)", forKey: "name")
          objects["\(entity)\(number)"] = object
        }
      }
      for (source, destination) in links {
        guard let source = objects[source], let destination = objects[destination],
          let relationship = source.entity.relationshipsByName["r"]
        else { continue }
        if !relationship.isToMany {
          source.setValue(destination, forKey: "r")
        } else if relationship.isOrdered {
          source.mutableOrderedSetValue(forKey: "r").add(destination)
        } else {
          source.mutableSetValue(forKey: "r").add(destination)
        }
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// The pairs of a relationship, by the names of the objects.
  private func links(
    _ name: String, of entity: String, _ store: MigratedStore, _ model: NSManagedObjectModel
  ) throws -> Set<String> {
    let context = try store.open(model)
    return try context.performAndWait {
      var links: Set<String> = []
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
        guard let relationship = object.entity.relationshipsByName[name] else { continue }
        for other in object.relatedObjects(relationship) {
          links.insert(
            "\(object.value(forKey: "name") ?? "nil") \(other.value(forKey: "name") ?? "nil")")
        }
      }
      return links
    }
  }

  private static func entities(_ a: String, _ b: String) -> String {
    "<entity name=\"A\">\(name)\(a)</entity><entity name=\"B\">\(name)\(b)</entity>"
  }

  /// What `r` of A is in two versions, and which pairs both have.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let old: String
    let new: String
    var links = [("A1", "B1"), ("A2", "B2"), ("A2", "B3")]
    var expected: Set<String> = ["A1 B1", "A2 B2", "A2 B3"]
    /// What the other side has in the new version.
    var inverse: String?
  }

  static let cases = [
    Case(
      testDescription: "a to-many without an inverse gets a to-one inverse",
      old: entities(relationship("r", to: "B", many), ""),
      new: entities(
        relationship("r", to: "B", inverse: "i", many),
        relationship("i", to: "A", inverse: "r", one)),
      inverse: "i"),
    Case(
      testDescription: "a to-many without an inverse gets a to-many inverse",
      old: entities(relationship("r", to: "B", many), ""),
      new: entities(
        relationship("r", to: "B", inverse: "i", many),
        relationship("i", to: "A", inverse: "r", many)),
      inverse: "i"),
    Case(
      testDescription: "a one-to-many loses its inverse",
      old: entities(
        relationship("r", to: "B", inverse: "i", many),
        relationship("i", to: "A", inverse: "r", one)),
      new: entities(relationship("r", to: "B", many), "")),
    Case(
      testDescription: "a to-one without an inverse gets a to-many inverse",
      old: entities(relationship("r", to: "B", one), ""),
      new: entities(
        relationship("r", to: "B", inverse: "i", one),
        relationship("i", to: "A", inverse: "r", many)),
      links: [("A1", "B1"), ("A2", "B1"), ("A3", "B2")], expected: ["A1 B1", "A2 B1", "A3 B2"],
      inverse: "i"),
    Case(
      testDescription: "a to-one without an inverse gets a to-one inverse",
      old: entities(relationship("r", to: "B", one), ""),
      new: entities(
        relationship("r", to: "B", inverse: "i", one), relationship("i", to: "A", inverse: "r", one)
      ),
      links: [("A1", "B1"), ("A3", "B2")], expected: ["A1 B1", "A3 B2"], inverse: "i"),
    Case(
      testDescription: "a one-to-one becomes a one-to-many",
      old: entities(
        relationship("r", to: "B", inverse: "i", one), relationship("i", to: "A", inverse: "r", one)
      ),
      new: entities(
        relationship("r", to: "B", inverse: "i", many),
        relationship("i", to: "A", inverse: "r", one)),
      links: [("A1", "B1"), ("A3", "B2")], expected: ["A1 B1", "A3 B2"], inverse: "i"),
    Case(
      testDescription: "a one-to-one becomes a many-to-many",
      old: entities(
        relationship("r", to: "B", inverse: "i", one), relationship("i", to: "A", inverse: "r", one)
      ),
      new: entities(
        relationship("r", to: "B", inverse: "i", many),
        relationship("i", to: "A", inverse: "r", many)),
      links: [("A1", "B1"), ("A3", "B2")], expected: ["A1 B1", "A3 B2"], inverse: "i"),
    Case(
      testDescription: "the destination of a to-one gets a subentity",
      old: entities(relationship("r", to: "B", one), ""),
      new: entities(relationship("r", to: "B", one), "")
        + "<entity name=\"AB\" parentEntity=\"B\"/>",
      links: [("A1", "B1"), ("A3", "B2")], expected: ["A1 B1", "A3 B2"]),
  ]

  /// A store of a case's old version.
  static func store(_ test: Case) throws -> MigratedStore {
    let store = try MigratedStore()
    try fill(store, model(test.old), test.links)
    return store
  }

  @Test(arguments: cases)
  func pairsOfObjectsStay(_ test: Case) throws {
    let store = try Self.store(test)
    let new = try Self.model(test.new)
    #expect(try links("r", of: "A", store, new) == test.expected)
    if let inverse = test.inverse {
      let back = Set(
        test.expected.map { $0.split(separator: " ").reversed().joined(separator: " ") })
      #expect(try links(inverse, of: "B", store, new) == back)
    }
    #expect(try store.values("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test("A many-to-many relationship that loses its inverse isn't inferred")
  func pairsWithoutAPlaceAreRejected() throws {
    let old = Self.entities(
      Self.relationship("r", to: "B", inverse: "i", Self.many),
      Self.relationship("i", to: "A", inverse: "r", Self.many))
    let new = Self.entities(Self.relationship("r", to: "B", Self.many), "")
    let store = try MigratedStore()
    try Self.fill(store, Self.model(old), [("A1", "B1"), ("A2", "B1")])
    let error = try #require(thrownError { try store.migrate(to: Self.model(new)) })
    #expect(error.code == NSMigrationMissingMappingModelError)
  }

  @Test("A relationship of an entity to itself, its own inverse, keeps its pairs")
  func reflexiveRelationshipsKeepTheirPairs() throws {
    func entities(_ rest: String) throws -> NSManagedObjectModel {
      try Self.model(
        Self.entities(Self.relationship("r", to: "A", inverse: "r", Self.many), "") + rest)
    }
    let store = try MigratedStore()
    try Self.fill(store, entities(""), [("A1", "A2"), ("A2", "A3")])
    let expected: Set<String> = ["A1 A2", "A2 A1", "A2 A3", "A3 A2"]
    let old = try entities("")
    #expect(try links("r", of: "A", store, old) == expected)
    // An entity that sorts first changes the entity IDs in the names of tables and columns.
    let new = try entities("<entity name=\"0\"/>")
    #expect(try links("r", of: "A", store, new) == expected)
  }

  @Test(
    "A join table whose entities change order has an index for each direction",
    arguments: [false, true])
  func bothDirectionsOfJoinTablesAreIndexed(isDeferred: Bool) throws {
    let store = try MigratedStore()
    let old = Self.entities(
      Self.relationship("r", to: "B", inverse: "i", Self.many),
      Self.relationship("i", to: "A", inverse: "r", Self.many))
    try Self.fill(store, Self.model(old), [("A1", "B1"), ("A2", "B1"), ("A2", "B3")])
    let new = try Self.model(
      "<entity name=\"B\">\(Self.name)"
        + Self.relationship("i", to: "C", inverse: "r", Self.many) + "</entity>"
        + "<entity name=\"C\" elementID=\"A\">\(Self.name)"
        + Self.relationship("r", to: "B", inverse: "i", Self.many) + "</entity>")
    try store.migrate(
      to: new, options: [NSPersistentStoreDeferredLightweightMigrationOptionKey: isDeferred])
    let expected: Set<String> = ["A1 B1", "A2 B1", "A2 B3"]
    #expect(try links("r", of: "C", store, new) == expected)
    if isDeferred {
      let context = try store.open(new)
      let coordinator = try #require(context.persistentStoreCoordinator)
      try coordinator.finishDeferredLightweightMigration()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
    #expect(try links("r", of: "C", store, new) == expected)
    let first = try store.values(
      "SELECT DISTINCT x.name FROM pragma_index_list('Z_1I') l, pragma_index_info(l.name) x "
        + "WHERE x.seqno = 0 ORDER BY 1")
    #expect(first == [[.text("Z_1R")], [.text("Z_2I")]])
  }

  @Test("To-one relationships that become inverses have to refer to each other")
  func joinedToOneRelationshipsMatch() throws {
    let store = try MigratedStore()
    let old = try Self.model(
      Self.entities(
        Self.relationship("r", to: "B", Self.one), Self.relationship("i", to: "A", Self.one)))
    let new = try Self.model(
      Self.entities(
        Self.relationship("r", to: "B", inverse: "i", Self.one),
        Self.relationship("i", to: "A", inverse: "r", Self.one)))
    try Self.fill(store, old, [("A1", "B1"), ("A2", "B2")])
    func refer(_ name: String, to other: String) throws {
      let context = try store.open(old)
      try context.performAndWait {
        func object(_ name: String) throws -> NSManagedObject {
          let request = NSFetchRequest<NSManagedObject>(entityName: String(name.prefix(1)))
          request.predicate = NSPredicate(format: "name == %@", name)
          return try #require(try context.fetch(request).first)
        }
        try object(name).setValue(object(other), forKey: "i")
        try context.save()
      }
      let coordinator = try #require(context.persistentStoreCoordinator)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
    try refer("B1", to: "A1")
    try refer("B2", to: "A3")
    let copy = store.url.appendingPathExtension("copy")
    try StoreFile.copy(from: store.url, to: copy)
    let trial = try MigrationTrial(ofCopyAt: copy, mapping: InferredMapping(from: old, to: new))
    let found = trial.violations.map { "\($0.entity).\($0.property) \($0.rows ?? -1)" }.sorted()
    #expect(found == ["A.r 1", "B.i 1"])
    let bytes = try Data(contentsOf: store.url)
    let error = thrownError { try store.migrate(to: new) }
    #expect(error?.code == NSMigrationError)
    #expect(error?.localizedDescription.contains("that doesn't refer back") == true)
    #expect(try Data(contentsOf: store.url) == bytes)
    try refer("B2", to: "A2")
    try store.migrate(to: new)
    #expect(try links("i", of: "B", store, new) == ["B1 A1", "B2 A2"])
    #expect(try links("r", of: "A", store, new) == ["A1 B1", "A2 B2"])
  }

  @Test(
    "A required to-one relationship can't lose a destination that's removed or leaves the hierarchy",
    arguments: ["", "<entity name=\"C\"/>"])
  func requiredDestinationsStay(later: String) throws {
    let required = Self.relationship("r", to: "B", Self.one)
      .replacing("optional=\"YES\"", with: "optional=\"NO\"")
    let old = try Self.model(
      Self.entities(required, "") + "<entity name=\"C\" parentEntity=\"B\"/>")
    func store(_ destinations: [String]) throws -> MigratedStore {
      let store = try MigratedStore()
      let context = try store.open(old)
      try context.performAndWait {
        for name in destinations {
          let source = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
          source.setValue(
            NSEntityDescription.insertNewObject(forEntityName: name, into: context), forKey: "r")
        }
        try context.save()
      }
      let coordinator = try #require(context.persistentStoreCoordinator)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      return store
    }
    let new = try Self.model(Self.entities(required, "") + later)
    let losing = try store(["B", "C", "C"])
    let bytes = try Data(contentsOf: losing.url)
    let error = thrownError { try losing.migrate(to: new) }
    #expect(error?.code == NSMigrationError)
    let reason = "2 objects have no destination for the required relationship A.r."
    #expect(error?.localizedDescription.contains(reason) == true)
    #expect(try Data(contentsOf: losing.url) == bytes)
    let keeping = try store(["B", "B"])
    try keeping.migrate(to: new)
    #expect(try keeping.values("SELECT COUNT(ZR) FROM ZA") == [[.integer(2)]])
  }

  @Test("A to-one relationship becomes to-many if no destination has two objects and one place")
  func sharedDestinationsKeepAllOwners() throws {
    let old = try Self.model(Self.entities(Self.relationship("r", to: "B", Self.one), ""))
    let versions = try ["", " ordered=\"YES\""].map { order in
      try Self.model(
        Self.entities(
          Self.relationship("r", to: "B", inverse: "i", Self.many + order),
          Self.relationship("i", to: "A", inverse: "r", Self.one)))
    }
    let alone = try Self.model(Self.entities(Self.relationship("r", to: "B", Self.many), ""))
    for (new, words) in zip(versions + [alone], ["to-one now", "to-one now", "without an inverse"])
    {
      let shared = try MigratedStore()
      try Self.fill(shared, old, [("A1", "B1"), ("A2", "B1"), ("A3", "B2")])
      let bytes = try Data(contentsOf: shared.url)
      let error = try #require(thrownError { try shared.migrate(to: new) })
      #expect(error.code == NSMigrationError)
      #expect(
        error.localizedDescription.contains(
          "1 object is the destination of several objects in A.r"))
      #expect(error.localizedDescription.contains(words), "\(error.localizedDescription)")
      #expect(try Data(contentsOf: shared.url) == bytes)
      let unshared = try MigratedStore()
      try Self.fill(unshared, old, [("A1", "B1"), ("A3", "B2")])
      #expect(try links("r", of: "A", unshared, new) == ["A1 B1", "A3 B2"])
    }
    let both = try Self.model(
      Self.entities(
        Self.relationship("r", to: "B", inverse: "i", Self.many),
        Self.relationship("i", to: "A", inverse: "r", Self.many)))
    let shared = try MigratedStore()
    try Self.fill(shared, old, [("A1", "B1"), ("A2", "B1")])
    #expect(try links("i", of: "B", shared, both) == ["B1 A1", "B1 A2"])
  }

  @Test(
    "Relationships that become inverses, one of them to-many, have to refer to each other",
    arguments: [one, many])
  func joinedToManyRelationshipsMatch(kind: String) throws {
    let old = try Self.model(
      Self.entities(
        Self.relationship("r", to: "B", Self.many), Self.relationship("i", to: "A", kind)))
    let new = try Self.model(
      Self.entities(
        Self.relationship("r", to: "B", inverse: "i", Self.many),
        Self.relationship("i", to: "A", inverse: "r", kind)))
    let store = try MigratedStore()
    try Self.fill(store, old, [("A1", "B1"), ("A2", "B2")])
    let copy = store.url.appendingPathExtension("copy")
    try StoreFile.copy(from: store.url, to: copy)
    let trial = try MigrationTrial(ofCopyAt: copy, mapping: InferredMapping(from: old, to: new))
    #expect(trial.violations.map { "\($0.entity).\($0.property) \($0.rows ?? -1)" } == ["A.r 2"])
    let bytes = try Data(contentsOf: store.url)
    let error = thrownError { try store.migrate(to: new) }
    #expect(error?.localizedDescription.contains("that doesn't refer back") == true)
    #expect(try Data(contentsOf: store.url) == bytes)
    let context = try store.open(old)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      for object in try context.fetch(request) {
        let others = object.value(forKey: "r") as? Set<NSManagedObject> ?? []
        let value: Any = kind == Self.one ? object : Set([object])
        for other in others { other.setValue(value, forKey: "i") }
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    #expect(try links("r", of: "A", store, new) == ["A1 B1", "A2 B2"])
    #expect(try links("i", of: "B", store, new) == ["B1 A1", "B2 A2"])
  }

  @Test(
    "Objects have to refer to each other in a relationship that becomes its own inverse",
    arguments: [
      relationship("r", to: "A", inverse: "i", many)
        + relationship("i", to: "A", inverse: "r", many),
      relationship("r", to: "A", inverse: "i", many)
        + relationship("i", to: "A", inverse: "r", one),
      relationship("r", to: "A", many), relationship("r", to: "A", one),
    ])
  func ownInversesMatch(_ former: String) throws {
    let old = try Self.model(Self.entities(former, ""))
    let new = try Self.model(
      Self.entities(Self.relationship("r", to: "A", inverse: "r", Self.many), ""))
    let store = try MigratedStore()
    try Self.fill(store, old, [("A1", "A2"), ("A2", "A1"), ("A3", "A3")])
    #expect(try links("r", of: "A", store, new) == ["A1 A2", "A2 A1", "A3 A3"])
    let asymmetric = try MigratedStore()
    try Self.fill(asymmetric, old, [("A1", "A2"), ("A3", "A1")])
    let bytes = try Data(contentsOf: asymmetric.url)
    let error = try #require(thrownError { try asymmetric.migrate(to: new) })
    #expect(error.code == NSMigrationError)
    #expect(
      error.localizedDescription.contains(
        "2 objects have a destination in A.r that doesn't refer back"))
    #expect(try Data(contentsOf: asymmetric.url) == bytes)
  }

  @Test("A parent's inverses have to match, although those of one subentity were inverses already")
  func mergedInversesMatch() throws {
    func model(_ parent: String, _ sub: String, _ other: String) throws -> NSManagedObjectModel {
      try Self.model(
        "<entity name=\"P\">\(Self.name)\(parent)</entity>"
          + "<entity name=\"A\" parentEntity=\"P\">\(other)</entity>"
          + "<entity name=\"B\" parentEntity=\"P\">\(sub)</entity>")
    }
    func both(_ entity: String, _ r: String?, _ i: String?) -> String {
      Self.relationship("r", to: entity, inverse: i, Self.many)
        + Self.relationship("i", to: entity, inverse: r, Self.many)
    }
    let old = try model("", both("B", "r", "i"), both("A", nil, nil))
    let new = try model(both("P", "r", "i"), "", "")
    let store = try MigratedStore()
    try Self.fill(store, old, [("A1", "A2")])
    let error = try #require(thrownError { try store.migrate(to: new) })
    #expect(error.code == NSMigrationError)
    #expect(error.localizedDescription.contains("1 object has a destination in P.r"))
    let empty = try MigratedStore()
    try Self.fill(empty, old, [])
    #expect(try links("r", of: "P", empty, new) == [])
  }

  @Test("Elements of a renamed composite attribute keep their values")
  func compositeElementsKeepTheirValues() throws {
    func model(_ name: String, _ rest: String) throws -> NSManagedObjectModel {
      try Self.model(
        "<entity name=\"A\"><composite name=\"\(name)\" optional=\"YES\" \(rest)>"
          + "<attribute name=\"x\" optional=\"YES\" attributeType=\"Double\"/>"
          + "<attribute name=\"y\" optional=\"YES\" attributeType=\"String\"/></composite></entity>"
      )
    }
    let store = try MigratedStore()
    let context = try store.open(model("spot", ""))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(["x": 1.5, "y": "why"], forKey: "spot")
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let migrated = try store.open(model("place", "elementID=\"spot\""))
    try migrated.performAndWait {
      let object = try #require(
        try migrated.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).first)
      let place = try #require(object.value(forKey: "place") as? [String: Any])
      #expect(place["x"] as? Double == 1.5 && place["y"] as? String == "why")
    }
  }

  @Test("Two entities swap names, and tables with names that differ in case stay apart")
  func tablesSwapNames() throws {
    let store = try MigratedStore()
    try Self.fill(store, Self.model(Self.entities("", "")), [])
    let swapped = try Self.model(
      "<entity name=\"B\" elementID=\"A\">\(Self.name)</entity>"
        + "<entity name=\"A\" elementID=\"B\">\(Self.name)</entity><entity name=\"a\"/>")
    let context = try store.open(swapped)
    try context.performAndWait {
      let names = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "B"))
        .compactMap { $0.value(forKey: "name") as? String }
      #expect(Set(names) == ["A1", "A2", "A3"])
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "a")) == 0)
    }
  }

  @Test("A store without a WAL, as an option requests, is migrated as well")
  func storeWithoutAWALIsMigrated() throws {
    let store = try MigratedStore()
    try Self.fill(store, Self.model(Self.entities("", "")), [])
    let new = try Self.model(
      Self.entities("<attribute name=\"z\" optional=\"YES\" attributeType=\"String\"/>", ""))
    try store.migrate(to: new, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    #expect(try store.values("SELECT COUNT(*) FROM ZA WHERE ZZ IS NULL") == [[.integer(3)]])
  }
}
