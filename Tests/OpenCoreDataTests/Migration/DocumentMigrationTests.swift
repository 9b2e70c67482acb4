import ManagedModel
import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Automatic migration of XML and binary stores")
struct DocumentMigrationTests {
  private typealias Sample = LightweightMigrationTests

  static let types: [NSPersistentStore.StoreType] = [.xml, .binary]

  private static func next() -> NSManagedObjectModel {
    Sample.model { person, city in
      person.properties.append(
        Sample.attribute("rating", .integer16AttributeType, default: 3, isOptional: false))
      Sample.replace("age", of: person, by: Sample.attribute("age", .doubleAttributeType))
      (city.name, city.renamingIdentifier) = ("Town", "City")
    }
  }

  /// A folder with a version of the model, as a bundle.
  private static func bundle(
    in folder: URL, _ version: NSManagedObjectModel = Sample.model()
  ) throws -> Bundle {
    let model = folder.appendingPathComponent("Bundle/Model.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(ModelDocument.text(of: version).text.utf8).write(
      to: model.appendingPathComponent("contents"))
    return try #require(Bundle(path: folder.appendingPathComponent("Bundle").path))
  }

  private static func opened(
    _ url: URL, _ type: NSPersistentStore.StoreType, _ model: NSManagedObjectModel,
    _ bundles: [Bundle] = [], options: [AnyHashable: Any]? = MigratedStore.automatic
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    coordinator.migrationBundles = bundles
    try coordinator.addPersistentStore(type: type, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func fill(_ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      let london = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
      london.setValue("London", forKey: "name")
      for (name, age) in [("Ada", 36), ("Bo", nil)] {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue(name, forKey: "name")
        person.setValue(age, forKey: "age")
        person.setValue(london, forKey: "home")
      }
      try context.save()
    }
  }

  /// Ada and Bo of London in a store of the first version.
  private static func store(_ type: NSPersistentStore.StoreType) throws -> MigratedStore {
    let store = try MigratedStore()
    try fill(opened(store.url, type, Sample.model(), options: nil))
    return store
  }

  private static func names(_ store: MigratedStore) throws -> Set<String> {
    Set(
      try FileManager.default.contentsOfDirectory(
        atPath: store.url.deletingLastPathComponent().path))
  }

  @Test("A document is migrated with an inferred mapping, and the old one stays", arguments: types)
  func documentIsMigrated(type: NSPersistentStore.StoreType) throws {
    let store = try Self.store(type)
    let bundle = try Self.bundle(in: store.url.deletingLastPathComponent())
    let bytes = try Data(contentsOf: store.url)
    let identifier =
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: type, at: store.url)[NSStoreUUIDKey] as? String
    let context = try Self.opened(store.url, type, Self.next(), [bundle])
    #expect(
      try content(of: context) == [
        "Person": [
          "age: 36.0, name: Ada, rating: 3 | home: {name: London}",
          "age: nil, name: Bo, rating: 3 | home: {name: London}",
        ],
        "Town": [
          "name: London | residents: "
            + "{age: 36.0, name: Ada, rating: 3; age: nil, name: Bo, rating: 3}"
        ],
      ])
    #expect(context.persistentStoreCoordinator?.persistentStores[0].identifier == identifier)
    #expect(try Self.names(store) == ["Bundle", "Store.sqlite", "Store~.sqlite"])
    let old = store.url.deletingLastPathComponent().appendingPathComponent("Store~.sqlite")
    #expect(try Data(contentsOf: old) == bytes)
    // The next time, there's nothing to do; the store is saved as usual.
    let again = try Self.opened(store.url, type, Self.next(), options: nil)
    try again.performAndWait {
      for person in try again.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
        person.setValue(5, forKey: "rating")
      }
      try again.save()
    }
    #expect(try content(of: Self.opened(store.url, type, Self.next()))["Town"]?.count == 1)
  }

  @Test("A document of a configuration is migrated from a version in a bundle", arguments: types)
  func documentOfConfigurationIsMigrated(type: NSPersistentStore.StoreType) throws {
    func version(_ names: String...) -> NSManagedObjectModel {
      let entities = ["Person", "Place"].map { name in
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = names.map { Sample.attribute($0, .stringAttributeType) }
        return entity
      }
      let model = NSManagedObjectModel()
      model.entities = entities
      model.setEntities([entities[0]], forConfigurationName: "People")
      return model
    }
    let store = try MigratedStore()
    func opened(
      _ model: NSManagedObjectModel, _ bundles: [Bundle] = []
    ) throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      coordinator.migrationBundles = bundles
      try coordinator.addPersistentStore(
        type: type, configuration: "People", at: store.url, options: MigratedStore.automatic)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let context = try opened(version("name"))
    try context.performAndWait {
      _ = context.make("Person", ["name": "Ada"])
      try context.save()
    }
    let bundle = try Self.bundle(in: store.url.deletingLastPathComponent(), version("name"))
    let migrated = try opened(version("name", "note"), [bundle])
    try migrated.performAndWait {
      let people = try migrated.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      #expect(people.map { $0.value(forKey: "name") as? String } == ["Ada"])
    }
  }

  @Test("A link to a document isn't replaced by the migrated one", arguments: types)
  func linksAreNotReplaced(type: NSPersistentStore.StoreType) throws {
    let store = try Self.store(type)
    let folder = store.url.deletingLastPathComponent()
    let bundle = try Self.bundle(in: folder)
    let target = folder.appendingPathComponent("Target.store")
    try FileManager.default.moveItem(at: store.url, to: target)
    try FileManager.default.createSymbolicLink(at: store.url, withDestinationURL: target)
    let bytes = try Data(contentsOf: target)
    let error = thrownError { _ = try Self.opened(store.url, type, Self.next(), [bundle]) }
    #expect(error?.code == NSMigrationError)
    #expect(error?.localizedDescription.contains("Pass the URL of the store itself") == true)
    #expect(try Data(contentsOf: target) == bytes)
    #expect(try Self.names(store) == ["Bundle", "Store.sqlite", "Target.store"])
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: store.url.path)
    #expect(path == target.path)
    // Its target is migrated by its own URL.
    _ = try Self.opened(target, type, Self.next(), [bundle])
  }

  @Test(
    "A document that can't be migrated is unchanged, and the error states the reason",
    arguments: types)
  func failuresLeaveTheDocument(type: NSPersistentStore.StoreType) throws {
    let store = try Self.store(type)
    let bundle = try Self.bundle(in: store.url.deletingLastPathComponent())
    let bytes = try Data(contentsOf: store.url)
    func code(
      _ model: NSManagedObjectModel, _ bundles: [Bundle] = [bundle],
      options: [AnyHashable: Any]? = MigratedStore.automatic
    ) throws -> Int? {
      let error = thrownError {
        _ = try Self.opened(store.url, type, model, bundles, options: options)
      }
      #expect(try Data(contentsOf: store.url) == bytes)
      #expect(try Self.names(store) == ["Bundle", "Store.sqlite"])
      return error?.code
    }
    #expect(try code(Self.next(), options: nil) == NSPersistentStoreIncompatibleVersionHashError)
    // The document contains no model.
    #expect(try code(Self.next(), []) == NSMigrationMissingSourceModelError)
    #expect(
      try code(Self.next(), options: [NSMigratePersistentStoresAutomaticallyOption: true])
        == NSMigrationMissingMappingModelError)
    let text = Sample.model { person, _ in
      Sample.replace("age", of: person, by: Sample.attribute("age", .stringAttributeType))
    }
    #expect(try code(text) == NSMigrationMissingMappingModelError)
    let required = Sample.model { person, _ in
      Sample.replace(
        "age", of: person, by: Sample.attribute("age", .integer16AttributeType, isOptional: false))
    }
    #expect(try code(required) == NSValidationMissingMandatoryPropertyError)
    let descriptor = open(store.url.path, O_RDONLY)
    #expect(flock(descriptor, LOCK_EX) == 0)
    #expect(try code(Self.next()) == NSMigrationError)
    close(descriptor)
    #expect(throws: Never.self) { _ = try Self.opened(store.url, type, Self.next(), [bundle]) }
  }

  @Test(
    "A destination that objects of a document share can't get a to-one inverse", arguments: types)
  func sharedDestinationsOfDocumentsHaveNoOwner(type: NSPersistentStore.StoreType) throws {
    let store = try Self.store(type)
    let bundle = try Self.bundle(in: store.url.deletingLastPathComponent())
    let bytes = try Data(contentsOf: store.url)
    let next = Sample.model { person, city in
      let mayor = NSRelationshipDescription()
      (mayor.name, mayor.destinationEntity, mayor.maxCount) = ("mayor", person, 1)
      let home = person.relationshipsByName["home"]
      mayor.inverseRelationship = home
      home?.inverseRelationship = mayor
      city.properties.append(mayor)
    }
    let error = try #require(
      thrownError { _ = try Self.opened(store.url, type, next, [bundle]) })
    #expect(error.code == NSMigrationError)
    #expect(
      error.localizedDescription.contains(
        "1 object is the destination of several objects in Person.home"))
    #expect(try Data(contentsOf: store.url) == bytes)
  }

  /// Owners with animals, of which dogs are a subentity, or not.
  private static func animals(dogsAreAnimals: Bool) -> NSManagedObjectModel {
    let entities = ["Owner", "Animal", "Dog"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let (owner, animal, dog) = (entities[0], entities[1], entities[2])
    let pet = TestModels.relationship("pet", to: animal, isToMany: false)
    let friends = TestModels.relationship("friends", to: animal, isToMany: true)
    let people = TestModels.relationship("people", to: owner, isToMany: true)
    (friends.inverseRelationship, people.inverseRelationship) = (people, friends)
    owner.properties = [TestModels.attribute("name", .stringAttributeType), pet, friends]
    animal.properties = [TestModels.attribute("name", .stringAttributeType), people]
    if dogsAreAnimals {
      animal.subentities = [dog]
    } else {
      dog.properties = [TestModels.attribute("name", .stringAttributeType)]
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  @Test("References to objects that leave a hierarchy are omitted", arguments: types)
  func referencesThatLeaveAHierarchyAreOmitted(type: NSPersistentStore.StoreType) throws {
    let store = try MigratedStore()
    let first = Self.animals(dogsAreAnimals: true)
    let context = try Self.opened(store.url, type, first, options: nil)
    try context.performAndWait {
      let (cat, dog) = (
        context.make("Animal", ["name": "cat"]), context.make("Dog", ["name": "dog"])
      )
      for (name, pet) in [("Ada", dog), ("Bo", cat)] {
        _ = context.make("Owner", ["name": name, "pet": pet, "friends": Set([cat, dog])])
      }
      try context.save()
    }
    let bundle = try Self.bundle(in: store.url.deletingLastPathComponent(), first)
    let found = try content(
      of: Self.opened(store.url, type, Self.animals(dogsAreAnimals: false), [bundle]))
    #expect(found["Dog"] == ["name: dog"])
    #expect(
      found["Owner"] == [
        "name: Ada | friends: {name: cat} | pet: {}",
        "name: Bo | friends: {name: cat} | pet: {name: cat}",
      ])
  }

  @Test("A document is migrated in stages, whose models are those of the references")
  func documentIsMigratedInStages() throws {
    let store = try Self.store(.xml)
    let second = Sample.model { person, _ in
      person.properties.append(Sample.attribute("note", .stringAttributeType))
    }
    let third = Sample.model { person, _ in
      person.properties.removeAll { $0.name == "age" }
      person.properties.append(Sample.attribute("note", .stringAttributeType))
    }
    func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
      NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }
    let stage = NSCustomMigrationStage(
      migratingFrom: reference(Sample.model()), to: reference(second))
    stage.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          person.setValue("\(person.value(forKey: "age") ?? "none")", forKey: "note")
        }
        try context.save()
      }
    }
    var options = MigratedStore.automatic
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
      stage, NSLightweightMigrationStage([third.versionChecksum]),
    ])
    let context = try Self.opened(store.url, .xml, third, options: options)
    #expect(
      try content(of: context)["Person"] == [
        "name: Ada, note: 36 | home: {name: London}", "name: Bo, note: none | home: {name: London}",
      ])
  }
}
