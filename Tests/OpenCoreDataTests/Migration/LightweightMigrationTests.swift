import ManagedModel
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Lightweight migration")
struct LightweightMigrationTests {
  /// A model of persons and the cities where they live; a test changes it to make a version.
  static func model(
    _ change: (_ person: NSEntityDescription, _ city: NSEntityDescription) -> Void = { _, _ in }
  )
    -> NSManagedObjectModel
  {
    let (person, city) = (NSEntityDescription(), NSEntityDescription())
    (person.name, city.name) = ("Person", "City")
    let home = NSRelationshipDescription()
    let residents = NSRelationshipDescription()
    (home.name, home.destinationEntity, home.maxCount) = ("home", city, 1)
    (residents.name, residents.destinationEntity) = ("residents", person)
    (home.inverseRelationship, residents.inverseRelationship) = (residents, home)
    person.properties = [
      attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType), home,
    ]
    city.properties = [attribute("name", .stringAttributeType), residents]
    change(person, city)
    let model = NSManagedObjectModel()
    model.entities = [person, city]
    return model
  }

  static func attribute(
    _ name: String, _ type: NSAttributeType, default value: Any? = nil, isOptional: Bool = true,
    renaming former: String? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
    attribute.defaultValue = value
    if let former { attribute.renamingIdentifier = former }
    return attribute
  }

  /// Replaces an attribute of an entity.
  static func replace(
    _ name: String, of entity: NSEntityDescription, by attribute: NSAttributeDescription
  ) {
    entity.properties = entity.properties.map { $0.name == name ? attribute : $0 }
  }

  /// A store with the persons Ada, who is 36 and lives in London, Bo without an age, and Cy, who
  /// is 7.
  static func store(_ model: NSManagedObjectModel = model()) throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(model)
    try context.performAndWait {
      func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
      }
      let london = insert("City", ["name": "London"])
      _ = insert("Person", ["name": "Ada", "age": 36, "home": london])
      _ = insert("Person", ["name": "Bo"])
      _ = insert("Person", ["name": "Cy", "age": 7])
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return store
  }

  /// The values of an attribute of all persons, by name.
  private func values(_ name: String, _ context: NSManagedObjectContext) throws -> [String?] {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).map { $0.value(forKey: name).map { "\($0)" } }
    }
  }

  @Test("S14-2 S-H08 A container migrates the store and infers the mapping")
  func containerMigratesByDefault() throws {
    let store = try Self.store()
    let container = NSPersistentContainer(
      name: "Model",
      managedObjectModel: Self.model { person, _ in
        person.properties.append(Self.attribute("rating", .integer16AttributeType, default: 3))
      })
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store.url)]
    var problem: (any Error)?
    container.loadPersistentStores { problem = $1 }
    #expect(problem == nil)
    #expect(try values("rating", container.viewContext) == ["3", "3", "3"])
  }

  @Test("S14-5 Rows that don't change aren't written, and keep keys and versions")
  func addedColumnLeavesRowsAsTheyAre() throws {
    let store = try Self.store()
    let rows = try store.rows(of: "ZPERSON")
    let context = try store.open(
      Self.model { person, _ in
        person.properties.append(Self.attribute("nickname", .stringAttributeType))
      })
    #expect(try values("nickname", context) == [nil, nil, nil])
    #expect(
      try store.rows(of: "ZPERSON") == rows.map { $0.merging(["ZNICKNAME": .null]) { $1 } })
    let sql = try store.values("SELECT sql FROM sqlite_master WHERE name = 'ZPERSON'")
    #expect("\(sql)".contains("ZNICKNAME VARCHAR"))
  }

  @Test(
    "S14-5 Numbers are converted to wider types",
    arguments: [
      NSAttributeType.integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType,
    ])
  func numbersAreWidened(type: NSAttributeType) throws {
    let store = try Self.store()
    let context = try store.open(
      Self.model { person, _ in Self.replace("age", of: person, by: Self.attribute("age", type)) })
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "age > 30")
      let ada = try #require(try context.fetch(request).first)
      #expect((ada.value(forKey: "age") as? NSNumber)?.doubleValue == 36)
      ada.setValue(40, forKey: "age")
      try context.save()
    }
    let expected = type == .doubleAttributeType || type == .floatAttributeType ? "real" : "integer"
    #expect(
      try store.values("SELECT DISTINCT typeof(ZAGE) FROM ZPERSON WHERE ZAGE IS NOT NULL")
        == [[.text(expected)]])
  }

  @Test("Numbers that a narrower type can't represent are an error")
  func narrowedNumbersMustFit() throws {
    func model(_ type: NSAttributeType) -> NSManagedObjectModel {
      Self.model { person, _ in Self.replace("age", of: person, by: Self.attribute("age", type)) }
    }
    let store = try Self.store(model(.integer64AttributeType))
    try store.migrate(to: model(.integer32AttributeType))
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("UPDATE ZPERSON SET ZAGE = 70000 WHERE ZNAME = 'Cy'")
    connection.close()
    let error = try #require(thrownError { try store.migrate(to: model(.integer16AttributeType)) })
    #expect(error.code == NSMigrationError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.localizedDescription.hasPrefix("1 object has a value of Person.age"))
  }

  @Test("Types whose values aren't numbers aren't converted")
  func stringsAreNotConverted() throws {
    let store = try Self.store()
    let before = try store.contents()
    let error = try #require(
      thrownError {
        try store.migrate(
          to: Self.model { person, _ in
            Self.replace("age", of: person, by: Self.attribute("age", .stringAttributeType))
          })
      })
    #expect(error.code == NSMigrationMissingMappingModelError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.userInfo["entity"] as? String == "Person")
    #expect(cause.userInfo["property"] as? String == "age")
    #expect(try store.contents() == before)
  }

  @Test("S14-6 A required attribute needs a value in each row, which the default value fills")
  func requiredAttributesNeedValues() throws {
    func required(_ value: Any?) -> NSManagedObjectModel {
      Self.model { person, _ in
        let age = Self.attribute("age", .integer16AttributeType, default: value, isOptional: false)
        Self.replace("age", of: person, by: age)
      }
    }
    let store = try Self.store()
    let rows = try store.rows(of: "ZPERSON")
    let error = try #require(thrownError { try store.migrate(to: required(nil)) })
    #expect(error.code == NSMigrationError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.userInfo["entity"] as? String == "Person")
    #expect(cause.userInfo["property"] as? String == "age")
    #expect(try store.rows(of: "ZPERSON") == rows)
    #expect(try values("age", store.open(required(18))) == ["36", "18", "7"])
  }

  @Test("A required attribute without a default value can be added if there are no rows")
  func requiredAttributeIsAddedToAnEmptyTable() throws {
    let next = Self.model { _, city in
      city.properties.append(Self.attribute("code", .stringAttributeType, isOptional: false))
    }
    let store = try Self.store()
    #expect(thrownError { try store.migrate(to: next) }?.code == NSMigrationError)
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("DELETE FROM ZCITY")
    connection.close()
    try store.migrate(to: next)
    #expect(try store.values("SELECT ZCODE FROM ZCITY") == [])
  }

  @Test("S14-7 S14-8 A renaming identifier keeps the values, from either version")
  func renamingIdentifierKeepsValues() throws {
    func renamed(_ name: String, _ former: String?) -> NSManagedObjectModel {
      Self.model { person, _ in
        Self.replace(
          "age", of: person, by: Self.attribute(name, .integer16AttributeType, renaming: former))
      }
    }
    let store = try Self.store()
    let direct = try Self.store()
    try store.migrate(to: renamed("years", "age"))
    #expect(try values("years", store.open(renamed("years", "age"))) == ["36", nil, "7"])
    // The third version has the identifier of the second.
    try store.migrate(to: renamed("yearsOfAge", "age"))
    try direct.migrate(to: renamed("yearsOfAge", "age"))
    #expect(try values("yearsOfAge", store.open(renamed("yearsOfAge", "age"))) == ["36", nil, "7"])
    #expect(try store.rows(of: "ZPERSON") == direct.rows(of: "ZPERSON"))
    // Without one, the attribute is a new one.
    #expect(try values("seniority", direct.open(renamed("seniority", nil))) == [nil, nil, nil])
  }

  @Test("A renamed attribute, and a new one with its first name, both keep their values")
  func attributesWithOneFirstNameKeepTheirValues() throws {
    func version(_ name: String) -> NSManagedObjectModel {
      Self.model { person, _ in
        person.properties.append(Self.attribute(name, .integer16AttributeType, renaming: "age"))
      }
    }
    let store = try Self.store(version("years"))
    try store.migrate(to: version("yearsOfAge"))
    #expect(try values("age", store.open(version("yearsOfAge"))) == ["36", nil, "7"])
    #expect(try values("yearsOfAge", store.open(version("yearsOfAge"))) == [nil, nil, nil])
  }

  @Test("An attribute renamed to the name of one that a version in between removed is a new one")
  func attributeWithAFormerNameIsNew() throws {
    let next = Self.model { person, _ in
      Self.replace(
        "age", of: person, by: Self.attribute("age", .dateAttributeType, renaming: "born"))
    }
    let store = try Self.store()
    try store.migrate(to: next)
    #expect(try values("age", store.open(next)) == [nil, nil, nil])
  }

  @Test(
    "M-9 A renamed entity keeps its rows and its former name in Z_PRIMARYKEY, as in Core Data's stores"
  )
  func renamedEntityKeepsItsRows() throws {
    let store = try Self.store()
    let next = Self.model { person, _ in
      (person.name, person.renamingIdentifier) = ("Human", "Person")
    }
    let context = try store.open(next)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Human")
      request.predicate = NSPredicate(format: "home.name == 'London'")
      #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Ada"])
      let dee = NSEntityDescription.insertNewObject(forEntityName: "Human", into: context)
      try context.save()
      #expect(dee.objectID.uriRepresentation().lastPathComponent == "p4")
    }
    #expect(
      try store.values("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT = 2") == [[.text("Person")]])
    #expect(try store.values("SELECT COUNT(*) FROM ZHUMAN") == [[.integer(4)]])
  }

  @Test("An attribute that's derived from another derived attribute is computed after it")
  func derivedAttributesAreComputedInOrder() throws {
    func derived(
      _ name: String, _ type: NSAttributeType, _ formula: String
    ) -> NSDerivedAttributeDescription {
      let attribute = NSDerivedAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      attribute.derivationExpression = NSExpression(format: formula)
      return attribute
    }
    let store = try Self.store()
    try store.migrate(
      to: Self.model { person, city in
        person.properties += [
          derived("again", .stringAttributeType, "uppercase:(plain)"),
          derived("plain", .stringAttributeType, "lowercase:(name)"),
          derived("years", .integer64AttributeType, "age"),
        ]
        city.properties.append(derived("ages", .integer64AttributeType, "residents.@sum.years"))
      })
    #expect(
      try store.values("SELECT ZAGAIN, ZPLAIN FROM ZPERSON ORDER BY ZNAME") == [
        [.text("ADA"), .text("ada")], [.text("BO"), .text("bo")], [.text("CY"), .text("cy")],
      ])
    #expect(try store.values("SELECT ZAGES FROM ZCITY") == [[.integer(36)]])
  }

  @Test("S14-9 An index is created if a hash modifier makes the store migrate")
  func indexNeedsAHashModifier() throws {
    func indexed(_ modifier: String?) -> NSManagedObjectModel {
      Self.model { person, _ in
        person.versionHashModifier = modifier
        let name = person.properties[0]
        person.indexes = [
          NSFetchIndexDescription(
            name: "byName",
            elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
      }
    }
    let store = try Self.store()
    let plan = "EXPLAIN QUERY PLAN SELECT Z_PK FROM ZPERSON WHERE ZNAME = 'Ada'"
    func reads(_ model: NSManagedObjectModel) throws -> String {
      try store.migrate(to: model)
      return try store.values(plan).map { "\($0)" }.joined()
    }
    #expect(try reads(indexed(nil)).contains("SCAN ZPERSON"))
    #expect(try reads(indexed("2")).contains("USING COVERING INDEX Z_Person_byName"))
    // Without the index in the model, it's dropped.
    #expect(try reads(Self.model()).contains("SCAN ZPERSON"))
  }

  @Test("A uniqueness constraint over duplicates is an error that names them")
  func duplicatesViolateANewConstraint() throws {
    let next = Self.model { person, _ in person.uniquenessConstraints = [["name"]] }
    let store = try Self.store()
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("UPDATE ZPERSON SET ZNAME = 'Ada' WHERE ZNAME = 'Cy'")
    connection.close()
    let rows = try store.rows(of: "ZPERSON")
    let error = try #require(thrownError { try store.migrate(to: next) })
    #expect(error.code == NSMigrationError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.code == NSMigrationConstraintViolationError)
    #expect(cause.userInfo["property"] as? String == "name")
    let reason = "the same values for Person.name, which must be unique."
    #expect(error.localizedDescription.contains(reason), "\(error.localizedDescription)")
    #expect(try store.rows(of: "ZPERSON") == rows)
  }

  @Test(
    "S14-12 S14-13 S14-28 The metadata has the hashes of the new version, and keeps the UUID and the app's keys"
  )
  func metadataFollowsTheVersion() throws {
    let store = try Self.store()
    try NSPersistentStoreCoordinator.setMetadata(["flavor": "sweet"], type: .sqlite, at: store.url)
    func metadata() throws -> [String: Any] {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)
    }
    let before = try metadata()
    let next = Self.model { person, _ in
      person.properties.append(Self.attribute("rating", .integer16AttributeType))
    }
    next.versionIdentifiers = ["2"]
    try store.migrate(to: next)
    let after = try metadata()
    #expect(
      after[NSStoreModelVersionHashesKey] as? [String: Data] == next.entityVersionHashesByName)
    #expect(after[NSStoreModelVersionIdentifiersKey] as? [String] == ["2"])
    #expect(after["flavor"] as? String == "sweet")
    #expect(after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
    #expect(
      try NSManagedObjectModel.inStore(at: store.url).entityDigestsByName
        == next.entityDigestsByName)
    // Other identifiers alone don't make a version.
    let contents = try store.contents()
    let same = next.copy() as? NSManagedObjectModel
    same?.versionIdentifiers = ["3"]
    try store.migrate(to: #require(same))
    #expect(try store.contents() == contents)
  }

  @Test("S14-21 A failure before any statement leaves the rows of the old version")
  func failureLeavesTheOldVersion() throws {
    struct Stop: Error {}
    let old = Self.model()
    let next = Self.model { person, city in
      person.properties.removeAll { $0.name == "age" }
      city.properties.append(Self.attribute("area", .doubleAttributeType, default: 1.5))
      (city.name, city.renamingIdentifier) = ("Town", "City")
    }
    let store = try Self.store(old)
    let dump = try (store.rows(of: "ZPERSON"), store.rows(of: "ZCITY"))
    let main = try store.contents()["Store.sqlite"]
    var failed = 0
    while true {
      let place = failed
      var migration = LightweightMigration(
        url: store.url, mapping: InferredMapping(from: old, to: next), configuration: nil,
        options: nil, hub: EventHub())
      migration.progress = { completed, total in if completed == place { throw Stop() } }
      do {
        try migration.run()
        break
      } catch is Stop {
        failed += 1
      }
      #expect(try store.rows(of: "ZPERSON") == dump.0)
      #expect(try store.rows(of: "ZCITY") == dump.1)
      #expect(try store.contents()["Store.sqlite"] == main)
      #expect(try Set(store.contents().keys) == ["Store.sqlite"])
    }
    #expect(failed > 8)
    #expect(try store.values("SELECT ZNAME, ZAREA FROM ZTOWN") == [[.text("London"), .real(1.5)]])
  }

  @Test("A store that is open elsewhere isn't migrated")
  func openStoreIsNotMigrated() throws {
    let store = try Self.store()
    let other = try store.open(Self.model())
    let next = Self.model { person, _ in
      person.properties.append(Self.attribute("rating", .integer16AttributeType))
    }
    let error = try #require(
      thrownError {
        try store.migrate(to: next, options: [NSPersistentStoreTimeoutOption: 0.1])
      })
    #expect(error.code == NSMigrationError)
    #expect(error.localizedDescription.contains("open elsewhere"))
    #expect(try values("age", other) == ["36", nil, "7"])
  }
}
