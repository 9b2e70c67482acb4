import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import MigrationTools
@testable import StoreTools

@Suite("What a migration doesn't carry over")
struct MigrationLossTests {
  private typealias Fixture = MigrationFixture

  /// A model of owners and their animals, of which dogs are a subentity until a test changes it.
  private static func model(
    _ change: (_ owner: NSEntityDescription, _ animal: NSEntityDescription, NSEntityDescription) ->
      Void = { _, _, _ in }
  ) -> NSManagedObjectModel {
    let entities = ["Owner", "Animal", "Dog"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let (owner, animal, dog) = (entities[0], entities[1], entities[2])
    relate(owner, "pet", isToMany: false, animal, "owners", isToMany: true)
    relate(owner, "friends", isToMany: true, animal, "people", isToMany: true)
    owner.relationshipsByName["friends"]?.isOrdered = true
    animal.properties += [
      Fixture.attribute("name"), Fixture.attribute("weight", .doubleAttributeType),
      Fixture.attribute("chip", .integer64AttributeType), address(["city", "zip"]),
    ]
    animal.subentities = [dog]
    change(owner, animal, dog)
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func relate(
    _ owner: NSEntityDescription, _ name: String, isToMany: Bool, _ other: NSEntityDescription,
    _ inverse: String, isToMany isInverseToMany: Bool
  ) {
    let (to, back) = (NSRelationshipDescription(), NSRelationshipDescription())
    (to.name, to.destinationEntity, to.maxCount) = (name, other, isToMany ? 0 : 1)
    (back.name, back.destinationEntity) = (inverse, owner)
    back.maxCount = isInverseToMany ? 0 : 1
    (to.inverseRelationship, back.inverseRelationship) = (back, to)
    for relationship in [to, back] { relationship.isOptional = true }
    owner.properties.append(to)
    other.properties.append(back)
  }

  private static func address(_ names: [String]) -> NSCompositeAttributeDescription {
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.isOptional = true
    address.elements = names.map { Fixture.attribute($0) }
    return address
  }

  private static func remove(_ names: String..., from entity: NSEntityDescription) {
    entity.properties.removeAll { names.contains($0.name) }
  }

  /// A store with two owners, two animals, and three dogs.
  ///
  /// Ada's pet is a dog, and Bo's another animal; Ada has three friends and Bo one of them, which
  /// are a dog and two others. A dog has an address with a postal code, and another one without.
  ///
  /// - Parameter friends: The positions of Ada's friends among the animals, of which the dogs are
  ///   the last.
  private static func store(
    _ folder: TemporaryFolder, friends: [Int] = [0, 2, 1]
  ) throws -> URL {
    let url = folder.file("Animals.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      func insert(_ name: String) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      }
      let animals = ["Animal", "Animal", "Dog", "Dog", "Dog"].map(insert)
      for (animal, weight) in zip(animals, [0.5, 0.1, 16_777_217, 16_777_216, -0.1]) {
        animal.setValue(weight, forKey: "weight")
        animal.setValue("a", forKey: "name")
      }
      animals[0].setValue(Int64(1) << 53 + 1, forKey: "chip")
      animals[1].setValue(Int64(1) << 53, forKey: "chip")
      animals[2].setValue(["city": "Bonn", "zip": "53111"], forKey: "address")
      animals[3].setValue(["city": "Rome"], forKey: "address")
      let owners = ["Owner", "Owner"].map(insert)
      owners[0].setValue(animals[2], forKey: "pet")
      owners[1].setValue(animals[0], forKey: "pet")
      owners[0].setValue(NSOrderedSet(array: friends.map { animals[$0] }), forKey: "friends")
      owners[1].setValue(NSOrderedSet(array: [animals[0]]), forKey: "friends")
      try context.save()
    }
    try coordinator.remove(store)
    return url
  }

  /// The pairs of owners and pets in a store, by their primary keys.
  private static func pets(_ url: URL, _ model: NSManagedObjectModel) throws -> Set<[String]> {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    func key(_ object: NSManagedObject) -> String {
      object.objectID.uriRepresentation().lastPathComponent
    }
    return try context.performAndWait {
      guard model.entitiesByName["Owner"]?.relationshipsByName["pet"] != nil else {
        let animals = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Animal"))
        return animals.reduce(into: []) { pairs, animal in
          let owners = animal.value(forKey: "owners") as? Set<NSManagedObject> ?? []
          for owner in owners { pairs.insert([key(owner), key(animal)]) }
        }
      }
      let owners = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
      return owners.reduce(into: []) { pairs, owner in
        guard let pet = owner.value(forKey: "pet") as? NSManagedObject else { return }
        pairs.insert([key(owner), key(pet)])
      }
    }
  }

  /// The losses of a migration to another version.
  private static func losses(
    _ version: NSManagedObjectModel, friends: [Int] = [0, 2, 1]
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    let rehearsal = try Fixture.rehearse(
      store(folder, friends: friends), to: Fixture.write(version, to: folder))
    #expect(rehearsal.isPossible, "\(MigrationText.lines(rehearsal))")
    return rehearsal.losses.map(MigrationText.loss)
  }

  @Test("Values of an attribute that isn't stored any longer, or is computed, are lost")
  func unstoredValuesAreLost() throws {
    let version = Self.model { _, animal, _ in
      animal.propertiesByName["weight"]?.isTransient = true
      let count = NSDerivedAttributeDescription()
      (count.name, count.attributeType, count.isOptional) = ("chip", .integer64AttributeType, true)
      count.derivationExpression = NSExpression(format: "owners.@count")
      animal.properties = animal.properties.map { $0.name == "chip" ? count : $0 }
    }
    #expect(try Self.losses(version) == ["2 values of Animal.chip", "5 values of Animal.weight"])
  }

  @Test("An entity that leaves a hierarchy loses inherited values, and references to its objects")
  func leavingEntitiesLoseValues() throws {
    let version = Self.model { _, animal, dog in
      animal.subentities = []
      dog.properties = [
        Fixture.attribute("name"), Fixture.attribute("chip", .integer64AttributeType),
      ]
    }
    #expect(
      try Self.losses(version) == [
        "2 values of Animal.address", "1 value of Animal.people", "3 values of Animal.weight",
        "1 value of Owner.friends", "1 value of Owner.pet",
      ])
  }

  @Test("Relationships to the same entity lose all their pairs, or those with objects that leave")
  func relationshipsToOneEntityDiffer() throws {
    let version = Self.model { owner, animal, dog in
      animal.subentities = []
      dog.properties = [Fixture.attribute("name")]
      Self.remove("friends", from: owner)
      Self.remove("people", from: animal)
    }
    #expect(
      try Self.losses(version) == [
        "2 values of Animal.address", "3 values of Animal.people", "3 values of Animal.weight",
        "2 values of Owner.friends", "1 value of Owner.pet",
      ])
  }

  @Test("Numbers that the new type rounds are counted")
  func roundedNumbersAreCounted() throws {
    let version = Self.model { _, animal, _ in
      animal.attributesByName["weight"]?.attributeType = .floatAttributeType
      animal.attributesByName["chip"]?.attributeType = .doubleAttributeType
    }
    #expect(
      try Self.losses(version) == [
        "the precision of 1 value of Animal.chip", "the precision of 3 values of Animal.weight",
      ])
  }

  /// Conversions of numbers, of which those with a comment are exact.
  private static let conversions:
    [(from: NSAttributeType, to: NSAttributeType, numbers: [any Sendable], rounded: Int)] = [
      (
        .doubleAttributeType, .integer64AttributeType,
        [
          0x1p51 + 0.5, -0x1p51 - 0.5, 0x1p52 - 0.5, 0.25, -0x1p-1074,
          // Whole numbers.
          0x1p51 + 1, -0x1p52, 0x1p53 - 1, -0.0, -7.0,
        ], 5
      ),
      (
        .floatAttributeType, .integer32AttributeType, [-0.5, 0x1p22 + 0.5, 0x1p23] as [Float], 2
      ),
      (
        .doubleAttributeType, .floatAttributeType,
        [
          0x1.000001p-130, 0x1p-150, -0x1p-1074, 0x1.000001p0, -0x1.0000001p-126,
          // Numbers that a Float is.
          0x1p-130, -0x1.8p-148, 0x1p-149, 0x1.fffffep127, 0.0,
        ], 5
      ),
      (
        .integer32AttributeType, .floatAttributeType,
        [16_777_217, -16_777_219, .max, 16_777_216, .min, 0] as [Int32], 3
      ),
      (
        .integer64AttributeType, .floatAttributeType,
        [1 << 53 + 1, -16_777_217, .max, 1 << 53, .min, -16_777_218] as [Int64], 3
      ),
      (.decimalAttributeType, .integer64AttributeType, [0.25, -7.5, 3, 0] as [Decimal], 2),
      (
        .decimalAttributeType, .doubleAttributeType,
        [9_007_199_254_740_993, 9_007_199_254_740_992, 0.5] as [Decimal], 1
      ),
      (.decimalAttributeType, .floatAttributeType, [16_777_217, 0.75, 0.5] as [Decimal], 1),
      (.integer64AttributeType, .booleanAttributeType, [5, -1, 1, 0] as [Int64], 2),
      (.doubleAttributeType, .booleanAttributeType, [0.5, 1, 0] as [Double], 1),
      (.decimalAttributeType, .booleanAttributeType, [0.5, 1, 0] as [Decimal], 1),
    ]

  @Test("Each number that isn't the same in the new type is counted, also in a document")
  func conversionsAreExamined() throws {
    for (from, to, numbers, rounded) in Self.conversions {
      for type in [NSPersistentStore.StoreType.sqlite, .xml] {
        func version(_ type: NSAttributeType) -> NSManagedObjectModel {
          Fixture.model { $0.properties = [Fixture.attribute("number", type)] }
        }
        let folder = try TemporaryFolder()
        let url = folder.file("Numbers")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(from))
        let store = try coordinator.addPersistentStore(type: type, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
          for number in numbers {
            NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
              .setValue(number, forKey: "number")
          }
          _ = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
          try context.save()
        }
        try coordinator.remove(store)
        let step = ProgressiveMigration.Step(
          from: ModelVersion(name: "1", model: version(from)),
          to: ModelVersion(name: "2", model: version(to)), mappingModels: [])
        let losses = try MigrationLosses.of(step, in: url, type)
        let expected = MigrationLoss(
          entity: "Mood", property: "number", values: rounded, aspect: .precision)
        #expect(losses == [expected], "\(from) to \(to) in \(type)")
      }
    }
  }

  @Test("JSON distinguishes lost values, precision, and order")
  func aspectsAreInJSON() throws {
    let version = Self.model { owner, animal, _ in
      owner.relationshipsByName["friends"]?.isOrdered = false
      animal.attributesByName["weight"]?.attributeType = .floatAttributeType
      Self.remove("name", from: animal)
    }
    let folder = try TemporaryFolder()
    let rehearsal = try Fixture.rehearse(
      Self.store(folder), to: Fixture.write(version, to: folder))
    let lost = try #require(try Fixture.fields(rehearsal)["lost"] as? [[String: Any]])
    #expect(lost.map { $0["property"] as? String } == ["name", "weight", "friends"])
    #expect(lost.map { $0["aspect"] as? String } == ["value", "precision", "order"])
    #expect(lost.map { $0["values"] as? Int } == [5, 3, 1])
  }

  @Test("The order of a relationship that's no longer ordered is lost, if several objects remain")
  func orderIsLost() throws {
    func unordered(_ dogsLeave: Bool) -> NSManagedObjectModel {
      Self.model { owner, animal, dog in
        owner.relationshipsByName["friends"]?.isOrdered = false
        if dogsLeave { (animal.subentities, dog.properties) = ([], [Fixture.attribute("name")]) }
      }
    }
    func orders(_ version: NSManagedObjectModel, friends: [Int]) throws -> [String] {
      try Self.losses(version, friends: friends).filter { $0.hasPrefix("the order of ") }
    }
    let lost = ["the order of 1 value of Owner.friends"]
    #expect(try orders(unordered(false), friends: [0, 2]) == lost)
    #expect(try orders(unordered(true), friends: [0, 2]) == [])
    #expect(try orders(unordered(true), friends: [0, 2, 1]) == lost)
  }

  @Test("A relationship whose inverse stays isn't lost")
  func inversesKeepPairs() throws {
    let onlyPet = Self.model { owner, animal, _ in
      owner.relationshipsByName["pet"]?.inverseRelationship = nil
      Self.remove("owners", from: animal)
    }
    let onlyOwners = Self.model { owner, animal, _ in
      animal.relationshipsByName["owners"]?.inverseRelationship = nil
      Self.remove("pet", from: owner)
    }
    for version in [onlyPet, onlyOwners] {
      let folder = try TemporaryFolder()
      let (store, kept) = (try Self.store(folder), folder.file("Kept.sqlite"))
      let path = try Fixture.write(version, to: folder)
      let rehearsal = try Fixture.rehearse(store, to: path, keepingAt: kept)
      #expect(rehearsal.losses == [])
      let before = try Self.pets(store, Self.model())
      #expect(before.count == 2)
      #expect(try Self.pets(kept, FoundModel(path: path).model) == before)
    }
    let neither = Self.model { owner, animal, _ in
      Self.remove("owners", "people", from: animal)
      Self.remove("pet", "friends", from: owner)
    }
    #expect(
      try Self.losses(neither) == [
        "3 values of Animal.people", "2 values of Owner.friends", "2 values of Owner.pet",
      ])
  }

  @Test("Values of a removed element of a composite attribute are lost")
  func elementsAreLost() throws {
    let version = Self.model { _, animal, _ in
      Self.remove("address", from: animal)
      animal.properties.append(Self.address(["city"]))
    }
    #expect(try Self.losses(version) == ["1 value of Animal.address.zip"])
  }

  @Test("A mapping model loses fractions, and objects for which an inverse has no place")
  func mappedValuesAreLost() throws {
    let later = Self.model { _, animal, _ in
      animal.attributesByName["weight"]?.attributeType = .integer16AttributeType
      animal.relationshipsByName["people"]?.maxCount = 1
    }
    let losses = try Self.mappedLosses(
      later, ["Owner": ["friends": Self.friends], "Animal": ["weight": "$source.weight"]])
    #expect(
      losses.filter { ["weight", "people", "friends"].contains($0.property) } == [
        MigrationLoss(entity: "Animal", property: "people", values: 1),
        MigrationLoss(entity: "Animal", property: "weight", values: 3, aspect: .precision),
      ])
  }

  @Test("A number that one of its destinations represents exactly keeps its precision")
  func roundedNumbersAreInAllDestinations() throws {
    let later = Self.model { _, animal, _ in
      animal.properties += [
        Fixture.attribute("light", .floatAttributeType),
        Fixture.attribute("whole", .integer64AttributeType),
      ]
    }
    func losses(_ names: String...) throws -> [MigrationLoss] {
      let expressions = Dictionary(uniqueKeysWithValues: names.map { ($0, "$source.weight") })
      return try Self.mappedLosses(later, ["Animal": expressions]).filter {
        $0.property == "weight"
      }
    }
    func loss(_ values: Int) -> MigrationLoss {
      MigrationLoss(entity: "Animal", property: "weight", values: values, aspect: .precision)
    }
    #expect(try losses("whole") == [loss(3)])
    #expect(try losses("light") == [loss(3)])
    // 0.1 and -0.1 are neither a Float nor whole.
    #expect(try losses("light", "whole") == [loss(2)])
    #expect(try losses("light", "weight") == [])
  }

  @Test("Values that a mapping model reads only for properties without stored values are lost")
  func unstoredDestinationsLoseValues() throws {
    let later = Self.model { _, animal, _ in
      animal.properties.append(Fixture.attribute("title"))
      animal.propertiesByName["name"]?.isTransient = true
      let count = NSDerivedAttributeDescription()
      (count.name, count.attributeType, count.isOptional) = ("chip", .integer64AttributeType, true)
      count.derivationExpression = NSExpression(format: "owners.@count")
      animal.properties = animal.properties.map { $0.name == "chip" ? count : $0 }
    }
    func losses(_ others: [String: String]) throws -> [MigrationLoss] {
      let expressions = ["name": "$source.name", "chip": "$source.chip"]
      return try Self.mappedLosses(later, ["Animal": expressions.merging(others) { $1 }])
        .filter { ["name", "chip"].contains($0.property) }
    }
    let chip = MigrationLoss(entity: "Animal", property: "chip", values: 2)
    let name = MigrationLoss(entity: "Animal", property: "name", values: 5)
    #expect(try losses([:]) == [chip, name])
    #expect(try losses(["title": "$source.name"]) == [chip])
  }

  @Test("Objects of a subentity that has no mapping become objects of another entity")
  func entitiesAreLost() throws {
    let losses = try Self.mappedLosses(Self.model(), [:]).filter { $0.property == nil }
    #expect(
      losses == [MigrationLoss(entity: "Dog", property: nil, values: 3, aspect: .entity)])
    #expect(losses.map(MigrationText.loss) == ["the entity of 3 objects of Dog"])
  }

  @Test("A mapping model that sets only the inverse of an ordered relationship loses the order")
  func inversesKeepNoOrder() throws {
    let people = Self.instances("Owner", "$source.people")
    func orders(_ expressions: [String: [String: String]]) throws -> [MigrationLoss] {
      try Self.mappedLosses(Self.model(), expressions).filter { $0.aspect == .order }
    }
    let loss = MigrationLoss(entity: "Owner", property: "friends", values: 1, aspect: .order)
    #expect(try orders(["Animal": ["people": people]]) == [loss])
    #expect(try orders(["Owner": ["friends": Self.friends]]) == [])
    #expect(
      try orders(["Owner": ["friends": Self.friends], "Animal": ["people": people]]) == [])
  }

  @Test("A mapping model's to-many relationship without an inverse has one owner for each object")
  func objectsWithoutInversesHaveOneOwner() throws {
    let later = Self.model { owner, animal, _ in
      owner.relationshipsByName["friends"]?.inverseRelationship = nil
      Self.remove("people", from: animal)
    }
    let losses = try Self.mappedLosses(later, ["Owner": ["friends": Self.friends]])
    #expect(
      losses.filter { ["people", "friends"].contains($0.property) } == [
        MigrationLoss(entity: "Animal", property: "people", values: 1)
      ])
  }

  /// The expression that sets the friends of an owner.
  private static let friends = instances("Animal", "$source.friends")

  /// The expression of the destination instances of objects that the mapping with a name migrates.
  private static func instances(_ name: String, _ path: String) -> String {
    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", "
      + "\"\(name)\", \(path))"
  }

  /// The losses of a migration with a mapping model that maps owners and animals.
  ///
  /// - Parameter expressions: The expressions of properties, by entity and property.
  private static func mappedLosses(
    _ version: NSManagedObjectModel, _ expressions: [String: [String: String]]
  ) throws -> [MigrationLoss] {
    let model = NSMappingModel()
    model.entityMappings = ["Owner", "Animal"].map { name in
      let mapping = NSEntityMapping()
      (mapping.name, mapping.mappingType) = (name, .transformEntityMappingType)
      (mapping.sourceEntityName, mapping.destinationEntityName) = (name, name)
      let later = version.entitiesByName[name]
      let properties = (expressions[name] ?? [:]).sorted { $0.key < $1.key }
        .map { name, expression in
          let mapping = NSPropertyMapping()
          (mapping.name, mapping.valueExpression) = (name, NSExpression(format: expression))
          return mapping
        }
      mapping.attributeMappings = properties.filter {
        later?.attributesByName[$0.name ?? ""] != nil
      }
      mapping.relationshipMappings = properties.filter {
        later?.relationshipsByName[$0.name ?? ""] != nil
      }
      return mapping
    }
    let step = ProgressiveMigration.Step(
      from: ModelVersion(name: "1", model: Self.model()),
      to: ModelVersion(name: "2", model: version), mappingModels: [model])
    let folder = try TemporaryFolder()
    return try MigrationLosses.of(step, in: store(folder), .sqlite)
  }
}
