import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Changes that lightweight migration refuses, and rows that don't fit")
struct MigrationObstacleTests {
  private typealias Sample = LightweightMigrationTests

  /// A change that can't be inferred.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let property: String
    let old: @Sendable (NSEntityDescription) -> Void
    let new: @Sendable (NSEntityDescription) -> Void
  }

  private static func typed(_ type: NSAttributeType) -> @Sendable (NSEntityDescription) -> Void {
    { Sample.replace("age", of: $0, by: Sample.attribute("age", type)) }
  }

  private static func external(_ isExternal: Bool) -> @Sendable (NSEntityDescription) -> Void {
    { person in
      let photo = Sample.attribute("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = isExternal
      photo.versionHashModifier = "\(isExternal)"
      person.properties.append(photo)
    }
  }

  private static let toOneNow: @Sendable (NSEntityDescription) -> Void = { person in
    person.relationshipsByName["home"]?.destinationEntity?.relationshipsByName["residents"]?
      .maxCount = 1
  }

  static let changes = [
    Change(
      testDescription: "Integer 64 to Decimal", property: "age",
      old: typed(.integer64AttributeType),
      new: typed(.decimalAttributeType)),
    Change(
      testDescription: "String to Integer 32", property: "age", old: typed(.stringAttributeType),
      new: typed(.integer32AttributeType)),
    Change(
      testDescription: "to-many to to-one", property: "residents", old: { _ in }, new: toOneNow),
    Change(
      testDescription: "external storage off", property: "photo", old: external(true),
      new: external(false)),
  ]

  @Test(
    "M-11 A change that can't be inferred names the property, and changes nothing",
    arguments: changes)
  func obstaclesAreNamed(change: Change) throws {
    let store = try MigratedStore()
    let context = try store.open(Sample.model { person, _ in change.old(person) })
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        .setValue("Ada", forKey: "name")
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let files = try store.contents()
    let error = try #require(
      thrownError { try store.migrate(to: Sample.model { person, _ in change.new(person) }) })
    #expect(error.code == NSMigrationMissingMappingModelError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.code == NSInferredMappingModelError)
    #expect(cause.userInfo["property"] as? String == change.property)
    #expect(try store.contents() == files)
  }

  @Test("M-12 Rows that don't fit are an error in the shape of Core Data's, and change nothing")
  func rowsThatDoNotFitAreErrors() throws {
    let required = Sample.model { person, _ in
      person.properties.append(
        Sample.attribute("note", .stringAttributeType, isOptional: false))
    }
    let unique = Sample.model { person, _ in
      person.uniquenessConstraints = [["age"]]
    }
    let store = try Sample.store()
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("UPDATE ZPERSON SET ZAGE = 7")
    connection.close()
    let bytes = try store.contents()["Store.sqlite"]
    for (model, property, code) in [
      (required, "note", NSMigrationError), (unique, "age", NSMigrationConstraintViolationError),
    ] {
      let error = try #require(thrownError { try store.migrate(to: model) })
      #expect(error.code == NSMigrationError)
      let reason = try #require(error.userInfo["reason"] as? String)
      #expect(reason.hasPrefix("Cannot migrate store in-place: "))
      let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
      #expect(cause.code == code)
      #expect(cause.userInfo["entity"] as? String == "Person")
      #expect(cause.userInfo["property"] as? String == property)
      if model === required {
        #expect(cause.userInfo["attribute"] as? String == property)
        #expect(
          cause.userInfo["reason"] as? String
            == "Validation error missing attribute values on mandatory destination attribute")
      }
      #expect(try store.contents()["Store.sqlite"] == bytes)
    }
  }

  /// Constraints of two versions; the attributes that the second one fills aren't unique then.
  static let conflicts: [(old: [[String]], new: [[String]], property: String)] = [
    ([["age"]], [["age"]], "age"), ([], [["code"]], "code"),
    ([["age", "name"]], [["age"]], "age"), ([], [["age", "code"]], "age, code"),
  ]

  @Test(
    "A default value that a constraint doesn't allow is its violation, and changes nothing",
    arguments: conflicts)
  func defaultsMustBeUnique(old: [[String]], new: [[String]], property: String) throws {
    let store = try Sample.store(Sample.model { person, _ in person.uniquenessConstraints = old })
    let bytes = try store.contents()["Store.sqlite"]
    let next = Sample.model { person, _ in
      Sample.replace(
        "age", of: person,
        by: Sample.attribute("age", .integer16AttributeType, default: 7, isOptional: false))
      person.properties.append(Sample.attribute("code", .stringAttributeType, default: "none"))
      person.uniquenessConstraints = new
    }
    let error = try #require(thrownError { try store.migrate(to: next) })
    #expect(error.code == NSMigrationError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.code == NSMigrationConstraintViolationError)
    #expect(cause.userInfo["entity"] as? String == "Person")
    #expect(cause.userInfo["property"] as? String == property)
    #expect(
      cause.localizedDescription.hasPrefix(
        "Objects have the same values for Person.\(property), which must be unique; objects without a "
          + "value get a default value."))
    #expect(try store.contents()["Store.sqlite"] == bytes)
  }

  @Test(
    "M-14 A to-one that becomes to-many has its object; order comes and goes without losing any")
  func membersStay() throws {
    func model(_ change: (NSRelationshipDescription, NSRelationshipDescription) -> Void)
      -> NSManagedObjectModel
    {
      Sample.model { person, city in
        guard let home = person.relationshipsByName["home"],
          let residents = city.relationshipsByName["residents"]
        else { return }
        change(home, residents)
      }
    }
    let store = try Sample.store()
    func members(_ model: NSManagedObjectModel) throws -> [String: [String]] {
      try content(of: store.open(model), leavingOut: ["age"])
    }
    let london = ["name: London | residents: {name: Ada}"]
    let persons = [
      "name: Ada | home: {name: London}", "name: Bo | home: {}", "name: Cy | home: {}",
    ]
    for model in [
      model { $1.isOrdered = true }, model { _, _ in }, model { home, _ in home.maxCount = 0 },
      model { home, residents in
        home.maxCount = 0
        residents.isOrdered = true
      }, model { home, _ in home.maxCount = 0 },
    ] {
      #expect(try members(model) == ["City": london, "Person": persons])
    }
  }

  @Test("A converted attribute that becomes required gets its default value")
  func convertedAttributesAreFilled() throws {
    let store = try Sample.store(
      Sample.model { person, _ in
        person.properties.append(Sample.attribute("photo", .binaryDataAttributeType))
      })
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("UPDATE ZPERSON SET ZPHOTO = x'0203' WHERE ZNAME = 'Ada'")
    connection.close()
    let next = Sample.model { person, _ in
      Sample.replace(
        "age", of: person,
        by: Sample.attribute("age", .doubleAttributeType, default: 1.5, isOptional: false))
      let photo = Sample.attribute(
        "photo", .binaryDataAttributeType, default: Data([9]), isOptional: false)
      photo.allowsExternalBinaryDataStorage = true
      person.properties.append(photo)
    }
    let context = try store.open(next)
    #expect(
      try store.values("SELECT ZAGE, typeof(ZAGE), hex(ZPHOTO) FROM ZPERSON ORDER BY ZNAME") == [
        [.real(36), .text("real"), .text("010203")], [.real(1.5), .text("real"), .text("0109")],
        [.real(7), .text("real"), .text("0109")],
      ])
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let photos = try context.fetch(request).map { $0.value(forKey: "photo") as? Data }
      #expect(photos == [Data([2, 3]), Data([9]), Data([9])])
    }
  }

  @Test("A destination that several objects share can't get a to-one inverse")
  func sharedDestinationsHaveNoOwner() throws {
    func model(_ hasInverse: Bool) -> NSManagedObjectModel {
      Sample.model { person, city in
        let desk = NSRelationshipDescription()
        (desk.name, desk.destinationEntity, desk.maxCount) = ("desk", city, 1)
        person.properties.append(desk)
        guard hasInverse else { return }
        let user = NSRelationshipDescription()
        (user.name, user.destinationEntity, user.maxCount) = ("user", person, 1)
        (desk.inverseRelationship, user.inverseRelationship) = (user, desk)
        city.properties.append(user)
      }
    }
    let store = try Sample.store(model(false))
    func set(_ condition: String) throws {
      let connection = try Connection(path: store.url.path, access: .writing)
      try connection.execute("UPDATE ZPERSON SET ZDESK = CASE WHEN \(condition) THEN 1 END")
      connection.close()
    }
    try set("ZNAME != 'Bo'")
    let rows = try store.rows(of: "ZPERSON")
    let error = try #require(thrownError { try store.migrate(to: model(true)) })
    #expect(error.code == NSMigrationError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.userInfo["property"] as? String == "desk")
    #expect(
      cause.localizedDescription.hasPrefix(
        "1 object is the destination of several objects in Person.desk"))
    #expect(try store.rows(of: "ZPERSON") == rows)
    try set("ZNAME = 'Cy'")
    try store.migrate(to: model(true))
    #expect(try store.values("SELECT ZUSER FROM ZCITY") == [[.integer(3)]])
  }

  // MARK: Configurations

  /// Persons in one configuration and places in another.
  private static func split(
    _ change: (_ person: NSEntityDescription, _ place: NSEntityDescription) -> Void
  ) -> NSManagedObjectModel {
    let (person, place) = (NSEntityDescription(), NSEntityDescription())
    (person.name, place.name) = ("Person", "Place")
    person.properties = [Sample.attribute("name", .stringAttributeType)]
    place.properties = [Sample.attribute("name", .stringAttributeType)]
    change(person, place)
    let model = NSManagedObjectModel()
    model.entities = [person, place]
    model.setEntities([person], forConfigurationName: "People")
    model.setEntities([place], forConfigurationName: "Places")
    return model
  }

  @Test("A store is migrated although the entities of another configuration can't be")
  func obstaclesOfOtherConfigurationsDoNotMatter() throws {
    let old = Self.split { _, _ in }
    let next = Self.split { person, place in
      person.properties.append(
        Sample.attribute("rating", .integer16AttributeType, default: 3))
      Sample.replace("name", of: place, by: Sample.attribute("name", .integer16AttributeType))
    }
    let stores = try [MigratedStore(), MigratedStore()]
    let names = ["People", "Places"]
    func open(
      _ model: NSManagedObjectModel, _ index: Int, _ options: [AnyHashable: Any]
    ) throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(
        type: .sqlite, configuration: names[index], at: stores[index].url, options: options)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    for (index, entity) in ["Person", "Place"].enumerated() {
      let context = try open(old, index, [:])
      try context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          .setValue("A", forKey: "name")
        try context.save()
      }
    }
    _ = try open(next, 0, MigratedStore.automatic)
    #expect(
      try stores[0].values("SELECT ZNAME, ZRATING FROM ZPERSON") == [[.text("A"), .integer(3)]])
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: stores[0].url)
    #expect(next.isConfiguration(withName: "People", compatibleWithStoreMetadata: metadata))
    #expect(!next.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let error = thrownError { _ = try open(next, 1, MigratedStore.automatic) }
    #expect(error?.code == NSMigrationMissingMappingModelError)
    #expect(error?.localizedDescription.contains("Place.name") == true)
    #expect(error?.localizedDescription.contains("Person") == false)
    // A store of one configuration is deferred and finished, too.
    let narrower = Self.split { person, _ in person.properties.removeAll() }
    let context = try open(
      narrower, 0, MigratedStore.automatic.merging(DeferredMigrationTests.deferred) { $1 })
    #expect(try stores[0].values("SELECT ZNAME FROM ZPERSON") == [[.text("A")]])
    try #require(context.persistentStoreCoordinator).finishDeferredLightweightMigration()
    #expect(
      try stores[0].values("SELECT name FROM pragma_table_info('ZPERSON')")
        == ["Z_PK", "Z_ENT", "Z_OPT"].map { [.text($0)] })
  }
}
