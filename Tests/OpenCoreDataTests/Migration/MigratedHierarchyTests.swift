import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Lightweight migration of properties that move in a hierarchy, and of narrower types")
struct MigratedHierarchyTests {
  /// A model from the contents of its document.
  private static func model(_ contents: String) throws -> NSManagedObjectModel {
    let data = Data(
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\">\(contents)</model>".utf8)
    return try ModelDocument.read(data: data, file: "Model")
  }

  private static func entity(
    _ name: String, below parent: String? = nil, _ contents: String = ""
  ) -> String {
    let superentity = parent.map { " parentEntity=\"\($0)\"" } ?? ""
    return "<entity name=\"\(name)\"\(superentity)>\(contents)</entity>"
  }

  private static func attribute(
    _ name: String, _ type: String = "String", _ rest: String = ""
  ) -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\" \(rest)/>"
  }

  private static let unique =
    "<uniquenessConstraints><uniquenessConstraint><constraint value=\"code\"/>"
    + "</uniquenessConstraint></uniquenessConstraints>"

  /// A store with objects, each by its entity and values.
  private static func store(
    _ model: NSManagedObjectModel, _ objects: [(String, [String: Any])]
  ) throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(model)
    try context.performAndWait {
      for (entity, values) in objects {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (name, value) in values { object.setValue(value, forKey: name) }
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return store
  }

  @Test("An entity can become abstract if all of its objects are of subentities")
  func entitiesWithoutObjectsBecomeAbstract() throws {
    func animals(_ isAbstract: Bool) throws -> NSManagedObjectModel {
      let model = try Self.model(
        Self.entity("Animal", Self.attribute("name")) + Self.entity("Dog", below: "Animal"))
      model.entitiesByName["Animal"]?.isAbstract = isAbstract
      return model
    }
    let dogs = try Self.store(animals(false), [("Dog", ["name": "Rex"])])
    try dogs.migrate(to: animals(true))
    #expect(try dogs.values("SELECT ZNAME FROM ZANIMAL") == [[.text("Rex")]])
    let mixed = try Self.store(animals(false), [("Dog", [:]), ("Animal", [:]), ("Animal", [:])])
    let files = try mixed.contents()
    let error = try #require(thrownError { try mixed.migrate(to: animals(true)) })
    #expect(error.code == NSMigrationError)
    #expect(error.localizedDescription.contains("2 objects are of Animal and of no subentity"))
    #expect(try mixed.contents() == files)
    let trial = try MigrationTrial(
      ofCopyAt: mixed.url, mapping: InferredMapping(from: animals(false), to: animals(true)))
    #expect(trial.violations.map { $0.rows } == [2])
  }

  @Test("An attribute that moves up is compared with those of all subentities")
  func movedAttributesAreNotConverted() throws {
    let old = try Self.model(
      Self.entity("P", Self.attribute("name"))
        + Self.entity("A", below: "P", Self.attribute("x", "Integer 64"))
        + Self.entity("B", below: "P", Self.attribute("x")) + Self.entity("C", below: "P"))
    for type in ["Integer 64", "Date"] {
      let new = try Self.model(
        Self.entity("P", Self.attribute("name") + Self.attribute("x", type))
          + ["A", "B", "C"].map { Self.entity($0, below: "P") }.joined())
      let store = try Self.store(old, [("B", ["x": "one"])])
      let bytes = try Data(contentsOf: store.url)
      let error = try #require(thrownError { try store.migrate(to: new) })
      #expect(error.code == NSMigrationMissingMappingModelError)
      #expect(error.localizedDescription.contains("B.x: changed, type from String to \(type)"))
      #expect(try Data(contentsOf: store.url) == bytes)
    }
  }

  @Test("An attribute that moves down is null in the rows of the superentity")
  func movedAttributesAreClearedAbove() throws {
    let old = try Self.model(
      Self.entity("P", Self.attribute("name") + Self.attribute("code"))
        + Self.entity("A", below: "P"))
    let new = try Self.model(
      Self.entity("P", Self.attribute("name"))
        + Self.entity("A", below: "P", Self.attribute("code") + Self.unique))
    let store = try Self.store(
      old, [("P", ["name": "p", "code": "1"]), ("A", ["name": "a", "code": "1"])])
    // A value that's left in the row of P would violate the constraint.
    try store.migrate(to: new)
    #expect(
      try store.values("SELECT ZNAME, ZCODE FROM ZP ORDER BY 1") == [
        [.text("a"), .text("1")], [.text("p"), .null],
      ])
    try store.migrate(to: old)
    #expect(
      try store.values("SELECT ZNAME, ZCODE FROM ZP ORDER BY 1") == [
        [.text("a"), .text("1")], [.text("p"), .null],
      ])
  }

  @Test("A to-one relationship that moves down has no destinations in the rows of the superentity")
  func movedRelationshipsAreClearedAbove() throws {
    func relationship(_ inverse: String = "") -> String {
      "<relationship name=\"owner\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"O\" "
        + "\(inverse)/>"
    }
    let old = try Self.model(
      Self.entity("P", Self.attribute("name") + relationship()) + Self.entity("A", below: "P")
        + Self.entity("O", Self.attribute("name")))
    let new = try Self.model(
      Self.entity("P", Self.attribute("name"))
        + Self.entity(
          "A", below: "P", relationship("inverseName=\"items\" inverseEntity=\"O\""))
        + Self.entity(
          "O",
          Self.attribute("name")
            + "<relationship name=\"items\" optional=\"YES\" toMany=\"YES\" "
            + "destinationEntity=\"A\" inverseName=\"owner\" inverseEntity=\"A\"/>"))
    let store = try Self.store(
      old, [("O", ["name": "o"]), ("P", ["name": "p"]), ("A", ["name": "a"])])
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("UPDATE ZP SET ZOWNER = (SELECT Z_PK FROM ZO)")
    connection.close()
    let context = try store.open(new)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "O")
      request.predicate = NSPredicate(format: "items.@count == 1")
      let count = try context.count(for: request)
      #expect(count == 1)
    }
    #expect(
      try store.values("SELECT ZNAME, ZOWNER IS NULL FROM ZP ORDER BY 1") == [
        [.text("a"), .integer(0)], [.text("p"), .integer(1)],
      ])
  }

  @Test("M-13 An entity can't join another hierarchy, and the error names both entities")
  func hierarchiesAreNotMerged() throws {
    let animals =
      Self.entity("Animal", Self.attribute("name"))
      + Self.entity("Dog", below: "Animal")
    let old = try Self.model(animals + Self.entity("Cat", Self.attribute("name")))
    let new = try Self.model(animals + Self.entity("Cat", below: "Animal"))
    let store = try Self.store(old, [("Cat", ["name": "c"]), ("Dog", ["name": "d"])])
    let bytes = try Data(contentsOf: store.url)
    let error = try #require(thrownError { try store.migrate(to: new) })
    #expect(error.code == NSMigrationMissingMappingModelError)
    #expect(
      error.localizedDescription.contains(
        "Cat and Animal have no common parent in the earlier version"))
    #expect(try Data(contentsOf: store.url) == bytes)
  }

  @Test("An entity moves up and down in its hierarchy, and gets a new root, with its values")
  func entitiesMoveInTheirHierarchy() throws {
    let (name, a, b) = (Self.attribute("name"), Self.attribute("a"), Self.attribute("b"))
    let deep =
      Self.entity("P", name) + Self.entity("A", below: "P", a) + Self.entity("B", below: "A", b)
    let flat =
      Self.entity("P", name) + Self.entity("A", below: "P", a) + Self.entity("B", below: "P", b)
    let rooted =
      Self.entity("Q", name) + Self.entity("P", below: "Q") + Self.entity("A", below: "P", a)
      + Self.entity("B", below: "A", b)
    let store = try Self.store(
      Self.model(deep),
      [
        ("P", ["name": "p"]), ("A", ["name": "a", "a": "1"]), ("B", ["name": "b", "b": "2"]),
      ])
    var expected = ["P": ["name: p"], "A": ["a: 1, name: a"], "B": ["b: 2, name: b"]]
    #expect(try content(of: store.open(Self.model(flat))) == expected)
    expected["B"] = ["a: nil, b: 2, name: b"]
    #expect(try content(of: store.open(Self.model(deep))) == expected)
    expected["P"] = ["name: p"]
    expected["Q"] = []
    #expect(try content(of: store.open(Self.model(rooted))) == expected)
    #expect(
      try store.values("SELECT Z_PK FROM ZQ ORDER BY 1") == [1, 2, 3].map { [.integer($0)] })
    expected["Q"] = nil
    #expect(try content(of: store.open(Self.model(deep))) == expected)
  }

  @Test("A transient attribute can be stored with another type, as it has no values")
  func transientAttributesGetAnotherType() throws {
    let old = try Self.model(
      Self.entity(
        "A", Self.attribute("name") + Self.attribute("x", "String", "transient=\"YES\"")))
    let new = try Self.model(
      Self.entity(
        "A",
        Self.attribute("name") + Self.attribute("x", "Integer 64", "defaultValueString=\"7\"")))
    let store = try Self.store(old, [("A", ["name": "a"])])
    try store.migrate(to: new)
    #expect(try store.values("SELECT ZX FROM ZA") == [[.integer(7)]])
  }

  @Test(
    "A double must fit a float",
    arguments: [(3.4e38, true), (-1e300, false), (Double.infinity, true)])
  func narrowedDoublesMustFit(value: Double, fits: Bool) throws {
    let models = try ["Double", "Float"].map {
      try Self.model(Self.entity("A", Self.attribute("x", $0)))
    }
    let store = try Self.store(models[0], [("A", ["x": value])])
    let error = thrownError { try store.migrate(to: models[1]) }
    #expect(error?.code == (fits ? nil : NSMigrationError))
    #expect(error?.localizedDescription.contains("can't represent") ?? true)
    #expect(try store.values("SELECT ZX FROM ZA") == [[.real(value)]])
  }

  /// The row of a renamed entity in `Z_PRIMARYKEY` keeps its former name, but not if another entity
  /// has that name now: the two would be read as each other.
  @Test(arguments: [
    (["Note"], ["Memo": "Note", "Note": ""]), (["A", "B"], ["B": "A", "C": "B"]),
    (["A", "B"], ["A": "B", "B": "A"]), (["A"], ["B": "A"]),
  ])
  func entityCanGetTheFormerNameOfAnother(before: [String], after: [String: String]) throws {
    // Equal entities have equal version hashes, so a swap alone isn't another version.
    func contents(_ entities: [(String, String)], _ name: String) -> String {
      entities.map { entity, former in
        let identifier = former.isEmpty ? "" : " elementID=\"\(former)\""
        return "<entity name=\"\(entity)\"\(identifier)>\(name)</entity>"
      }.joined()
    }
    let store = try Self.store(
      try Self.model(contents(before.map { ($0, "") }, Self.attribute("name"))),
      before.flatMap { entity in (1...2).map { (entity, ["name": "\(entity)\($0)"]) } })
    let later = contents(
      after.sorted { $0.key < $1.key }, Self.attribute("name") + Self.attribute("note"))
    var latest = try Self.model(later)
    try store.migrate(to: latest)
    // Opened again, and migrated once more without a rename.
    for round in 1...2 {
      let context = try store.open(latest)
      try context.performAndWait {
        for (entity, former) in after {
          let found = try context.everyObject(of: entity).compactMap(\.label).sorted()
          #expect(found == (former.isEmpty ? [] : ["\(former)1", "\(former)2"]), "round \(round)")
          _ = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        }
        try context.save()
        for entity in after.keys {
          for object in try context.everyObject(of: entity) where object.label == nil {
            context.delete(object)
          }
        }
        try context.save()
      }
      for store in try #require(context.persistentStoreCoordinator).persistentStores {
        try context.persistentStoreCoordinator?.remove(store)
      }
      latest = try Self.model(later + Self.entity("Zoo", Self.attribute("name")))
      try store.migrate(to: latest)
    }
  }

  /// Their rows in `Z_PRIMARYKEY` would be found by the renaming identifiers of each other.
  @Test("Entities that have exchanged their names can be renamed, and get new objects")
  func entitiesThatExchangedNamesAreRenamed() throws {
    func model(
      _ entities: [(name: String, former: String)], _ attributes: [String]
    ) throws -> NSManagedObjectModel {
      try Self.model(
        entities.map { name, former in
          let identifier = former.isEmpty ? "" : " elementID=\"\(former)\""
          let contents = attributes.map { Self.attribute($0) }.joined()
          return "<entity name=\"\(name)\"\(identifier)>\(contents)</entity>"
        }.joined())
    }
    let store = try Self.store(
      try model([("A", ""), ("B", "")], ["name"]),
      [("A", ["name": "A1"]), ("A", ["name": "A2"]), ("B", ["name": "B1"])])
    try store.migrate(to: try model([("A", "B"), ("B", "A")], ["name", "note"]))
    let renamed = try model([("C", "A"), ("D", "B")], ["name", "note", "rank"])
    try store.migrate(to: renamed)
    let context = try store.open(renamed)
    try context.performAndWait {
      for entity in ["C", "D"] {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          .setValue("new \(entity)", forKey: "name")
      }
      try context.save()
      let labels = try ["C", "D"].map { entity in
        try context.everyObject(of: entity).compactMap(\.label).sorted()
      }
      #expect(labels == [["A1", "A2", "new C"], ["B1", "new D"]])
    }
    #expect(try store.values("SELECT DISTINCT Z_ENT FROM ZC") == [[.integer(1)]])
    #expect(try store.values("SELECT DISTINCT Z_ENT FROM ZD") == [[.integer(2)]])
  }

  private static func relationship(
    _ name: String, to entity: String, inverse: String? = nil, isToMany: Bool
  ) -> String {
    let back = inverse.map { " inverseName=\"\($0)\" inverseEntity=\"\(entity)\"" } ?? ""
    let count = isToMany ? "toMany=\"YES\"" : "maxCount=\"1\""
    return "<relationship name=\"\(name)\" optional=\"YES\" \(count) "
      + "destinationEntity=\"\(entity)\"\(back)/>"
  }

  /// The rows of the owners have several entity IDs.
  @Test func firstInverseOfAToManyGetsTheEntityIDsOfItsOwners() throws {
    func model(inverse: Bool) throws -> NSManagedObjectModel {
      try Self.model(
        Self.entity(
          "Person",
          Self.attribute("name")
            + Self.relationship(
              "pets", to: "Pet", inverse: inverse ? "owner" : nil, isToMany: true))
          + Self.entity("Employee", below: "Person", Self.attribute("rank"))
          + Self.entity(
            "Pet",
            Self.attribute("name")
              + (inverse
                ? Self.relationship("owner", to: "Person", inverse: "pets", isToMany: false) : "")))
    }
    let store = try MigratedStore()
    let context = try store.open(try model(inverse: false))
    try context.performAndWait {
      for entity in ["Person", "Employee"] {
        let owner = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        owner.setValue(entity, forKey: "name")
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
        pet.setValue("of \(entity)", forKey: "name")
        owner.mutableSetValue(forKey: "pets").add(pet)
      }
      try context.save()
    }
    for store in try #require(context.persistentStoreCoordinator).persistentStores {
      try context.persistentStoreCoordinator?.remove(store)
    }
    try store.migrate(to: try model(inverse: true))
    let migrated = try store.open(try model(inverse: true))
    try migrated.performAndWait {
      for pet in try migrated.everyObject(of: "Pet") {
        let owner = try #require(pet.value(forKey: "owner") as? NSManagedObject)
        #expect(pet.label == "of \(owner.label ?? "")" && owner.entity.name == owner.label)
      }
    }
  }

  /// The column of a removed inverse becomes that of a to-many without an inverse.
  @Test func toManyThatLosesItsInverseHasNoKeysOfRemovedObjects() throws {
    func model(_ isBefore: Bool) throws -> NSManagedObjectModel {
      let owner = Self.relationship("owner", to: "Person", inverse: "pets", isToMany: false)
      return try Self.model(
        Self.entity(
          "Person",
          Self.attribute("name")
            + Self.relationship(
              "pets", to: "Pet", inverse: isBefore ? "owner" : nil, isToMany: true))
          + (isBefore ? Self.entity("Employee", below: "Person") : "")
          + Self.entity("Pet", Self.attribute("name") + (isBefore ? owner : "")))
    }
    let store = try MigratedStore()
    let context = try store.open(try model(true))
    try context.performAndWait {
      for entity in ["Person", "Employee"] {
        let owner = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
        pet.setValue(owner, forKey: "owner")
      }
      try context.save()
    }
    for store in try #require(context.persistentStoreCoordinator).persistentStores {
      try context.persistentStoreCoordinator?.remove(store)
    }
    try store.migrate(to: try model(false))
    #expect(
      try store.values(
        "SELECT COUNT(*) FROM ZPET WHERE Z1PETS IS NOT NULL "
          + "AND Z1PETS NOT IN (SELECT Z_PK FROM ZPERSON)") == [[.integer(0)]])
    #expect(
      try store.values("SELECT COUNT(*) FROM ZPET WHERE Z1PETS IS NOT NULL") == [[.integer(1)]])
  }

  /// The pairs of both relationships are in one column, or in one join table.
  @Test(
    "An entity that leaves a hierarchy can't take a part of a to-many relationship along",
    arguments: [false, true])
  func toManyRelationshipsAreNotDivided(isManyToMany: Bool) throws {
    func owner(_ name: String, to entity: String) -> String {
      Self.relationship(name, to: entity, inverse: "owners", isToMany: isManyToMany)
    }
    func owners(inverse: String) -> String {
      Self.attribute("name")
        + Self.relationship("owners", to: "Owner", inverse: inverse, isToMany: true)
    }
    let before = try Self.model(
      Self.entity("Animal", owners(inverse: "pet")) + Self.entity("Dog", below: "Animal")
        + Self.entity("Owner", owner("pet", to: "Animal")))
    func after(_ animal: String, _ dog: String, _ owner: String) throws -> NSManagedObjectModel {
      try Self.model(
        Self.entity("Animal", animal) + Self.entity("Dog", dog) + Self.entity("Owner", owner))
    }
    let pets = owner("pet", to: "Animal") + owner("dog", to: "Dog")
    let divided = try after(owners(inverse: "pet"), owners(inverse: "dog"), pets)
    let obstacles = InferredMapping(from: before, to: divided).obstacles
    #expect(obstacles.map(\.path) == ["Dog.owners"])
    #expect(
      obstacles.map(\.reason) == [
        "An inferred mapping can't divide the objects of Animal.owners between Dog.owners and "
          + "Animal.owners."
      ])
    #expect(
      obstacles.map(\.leastChange) == [
        "Give the new owners another name and no renaming identifier."
      ])
    let store = try Self.store(before, [("Animal", ["name": "a"]), ("Dog", ["name": "d"])])
    let bytes = try Data(contentsOf: store.url)
    let error = try #require(thrownError { try store.migrate(to: divided) })
    #expect(error.code == NSMigrationMissingMappingModelError)
    #expect(error.localizedDescription.contains("between Dog.owners and Animal.owners"))
    #expect(try Data(contentsOf: store.url) == bytes)
    // Another name makes it a new relationship.
    let renamed = try after(
      owners(inverse: "pet"),
      Self.attribute("name")
        + Self.relationship("people", to: "Owner", inverse: "dog", isToMany: true),
      owner("pet", to: "Animal")
        + Self.relationship("dog", to: "Dog", inverse: "people", isToMany: isManyToMany))
    #expect(InferredMapping(from: before, to: renamed).obstacles == [])
  }

  @Test("An entity that leaves a hierarchy can't take pairs along that the inverse keeps")
  func inversesAreNotDivided() throws {
    let owners = Self.relationship("owners", to: "Owner", inverse: "pet", isToMany: true)
    let pet = Self.relationship("pet", to: "Animal", inverse: "owners", isToMany: false)
    let before = try Self.model(
      Self.entity("Animal", owners) + Self.entity("Dog", below: "Animal")
        + Self.entity("Owner", pet))
    let after = try Self.model(
      Self.entity("Animal", Self.attribute("name"))
        + Self.entity(
          "Dog", Self.relationship("owners", to: "Owner", inverse: "dog", isToMany: true))
        + Self.entity(
          "Owner",
          Self.relationship("pet", to: "Animal", isToMany: false)
            + Self.relationship("dog", to: "Dog", inverse: "owners", isToMany: false)))
    let obstacles = InferredMapping(from: before, to: after).obstacles
    #expect(
      obstacles.map(\.reason) == [
        "An inferred mapping can't divide the objects of Animal.owners between Dog.owners and "
          + "Owner.pet."
      ])
  }
}
