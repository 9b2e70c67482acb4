import CoreDataCosts
import FailingFiles
import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Checks of the migrations of old stores")
struct MigrationCheckTests {
  /// A model of moods with an attribute for each name; the others are strings.
  private static func model(_ names: [String], former: [String: String] = [:])
    -> NSManagedObjectModel
  {
    let mood = NSEntityDescription()
    mood.name = "Mood"
    mood.properties = names.map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType =
        ["rating", "stars"].contains(name) ? .integer64AttributeType : .stringAttributeType
      attribute.isOptional = true
      attribute.renamingIdentifier = former[name]
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [mood]
    return model
  }

  /// A folder with a store of an old version: moods with a code, a rating, and one note.
  private static func folder() throws -> (stores: URL, versions: URL, store: MigratedStore) {
    let store = try MigratedStore()
    let old = model(["code", "note", "rating"])
    let context = try store.open(old, options: nil)
    try context.performAndWait {
      for index in 1...3 {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue("m\(index)", forKey: "code")
        mood.setValue(index * 10, forKey: "rating")
        if index == 2 { mood.setValue("fine", forKey: "note") }
      }
      try context.save()
    }
    for opened in context.persistentStoreCoordinator?.persistentStores ?? [] {
      try context.persistentStoreCoordinator?.remove(opened)
    }
    let folder = store.url.deletingLastPathComponent()
    let versions = folder.appendingPathComponent("Moods.xcdatamodeld")
    for (name, version) in [("Moods", old), ("Moods 2", current)] {
      let document = versions.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
      try Data(ModelDocument.text(of: version).text.utf8)
        .write(to: document.appendingPathComponent("contents"))
    }
    return (folder, versions, store)
  }

  /// The current version: `rating` has another name, and `note` is removed.
  private static let current = model(["code", "stars"], former: ["stars": "rating"])

  @Test(
    "S14-26 A fixture matches in any order, but not with a wrong value, an extra row, or a missing one",
    arguments: [
      ([("m3", 30), ("m1", 10), ("m2", 20)], []),
      ([("m1", 10), ("m2", 21), ("m3", 30)], ["Mood m2: rating is 20, expected 21"]),
      ([("m1", 10), ("m2", 20)], ["Mood m3: unexpected"]),
      ([("m1", 10), ("m2", 20), ("m3", 30), ("m4", 40)], ["Mood m4: missing"]),
    ] as [([(String, Int64)], [String])])
  func fixturesMatch(moods: [(String, Int64)], expected: [String]) throws {
    let folder = try Self.folder()
    let fixture = MigrationFixture(
      keys: ["Mood": ["code"]],
      objects: [
        "Mood": moods.map { ["code": .text($0.0), "rating": .init(integerLiteral: $0.1)] }
      ])
    let report = try checkMigrations(
      ofStoresIn: folder.stores, to: Self.model(["code", "rating", "note", "extra"]),
      matching: fixture)
    #expect(report.stores.count == 1)
    #expect(report.stores.first?.differences.map(\.description) == expected)
    #expect(report.passes == expected.isEmpty)
  }

  @Test("The version and what's lost are reported, and the store isn't modified")
  func lossesAreReported() throws {
    let folder = try Self.folder()
    let bytes = try Data(contentsOf: folder.store.url)
    let fixture = MigrationFixture(
      keys: ["Mood": ["code"]], objects: ["Mood": [["code": "m1", "stars": 10]]])
    let report = try checkMigrations(
      ofStoresIn: folder.stores, to: Self.current, versions: folder.versions, matching: fixture)
    let store = try #require(report.stores.first)
    #expect(store.version == "Moods" && store.error == nil && !store.passes)
    #expect(store.lost?.map(\.description) == ["1 value of Mood.note"])
    #expect(report.description.contains("✗ Mood m3: unexpected"))
    #expect(try Data(contentsOf: folder.store.url) == bytes)
  }

  @Test(
    "What's lost is what an inferred mapping doesn't continue, even if names are used again",
    arguments: [
      // `note` becomes `code`, and the former `code` is removed.
      (["code", "rating"], ["code": "note"], ["3 values of Mood.code"]),
      // Both get the other's name.
      (["code", "note", "rating"], ["code": "note", "note": "code"], []),
    ] as [([String], [String: String], [String])])
  func lossesFollowRenamingIdentifiers(
    names: [String], former: [String: String], expected: [String]
  ) throws {
    let folder = try Self.folder()
    let report = try checkMigrations(
      ofStoresIn: folder.stores, to: Self.model(names, former: former),
      versions: folder.versions, matching: MigrationFixture(objects: [:]))
    #expect(report.passes, "\(report)")
    #expect(report.stores.first?.lost?.map { $0.description } == expected)
  }

  @Test("The values of an attribute that was renamed before are lost, even if its first name isn't")
  func lossesOfRenamedAttributesAreCounted() throws {
    let store = try MigratedStore()
    let old = Self.model(["code", "remark", "note"], former: ["remark": "note"])
    let context = try store.open(old, options: nil)
    try context.performAndWait {
      let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
      mood.setValue("fine", forKey: "remark")
      try context.save()
    }
    for opened in context.persistentStoreCoordinator?.persistentStores ?? [] {
      try context.persistentStoreCoordinator?.remove(opened)
    }
    let folder = store.url.deletingLastPathComponent()
    let document = folder.appendingPathComponent("Moods.xcdatamodeld/Moods.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    try Data(ModelDocument.text(of: old).text.utf8)
      .write(to: document.appendingPathComponent("contents"))
    let report = try checkMigrations(
      ofStoresIn: folder, to: Self.model(["code", "note"]),
      versions: document.deletingLastPathComponent(), matching: MigrationFixture(objects: [:]))
    #expect(report.stores.first?.lost?.map { $0.description } == ["1 value of Mood.remark"])
  }

  @Test("A migration that fails is an error of the store")
  func failuresAreReported() throws {
    let folder = try Self.folder()
    let model = Self.model(["code", "note", "rating"])
    model.entitiesByName["Mood"]?.attributesByName["note"]?.isOptional = false
    let report = try checkMigrations(
      ofStoresIn: folder.stores, to: model, matching: MigrationFixture(objects: [:]))
    #expect(!report.passes)
    #expect(report.stores.first?.error?.contains("Mood.note") == true)
    let empty = folder.versions
    #expect(throws: MigrationCheckError.self) {
      try checkMigrations(
        ofStoresIn: empty, to: model, matching: MigrationFixture(objects: [:]))
    }
  }

  @Test("Objects with equal keys are compared in any order")
  func equalKeysMatchInAnyOrder() throws {
    let folder = try Self.folder()
    func differences(_ ratings: [Int64]) throws -> [String]? {
      let fixture = MigrationFixture(
        keys: ["Mood": []],
        objects: ["Mood": ratings.map { ["rating": .init(integerLiteral: $0)] }])
      return try checkMigrations(
        ofStoresIn: folder.stores, to: Self.model(["code", "rating", "note"]), matching: fixture
      ).stores.first?.differences.map(\.description)
    }
    #expect(try differences([30, 10, 20]) == [])
    #expect(try differences([30, 11, 20]) == ["Mood : rating is 10, expected 11"])
  }

  @Test("An object that lists fewer properties isn't compared with the only match of another")
  func objectsWithMorePropertiesAreMatchedFirst() throws {
    let folder = try Self.folder()
    let report = try checkMigrations(
      ofStoresIn: folder.stores, to: Self.model(["code", "rating", "note"]),
      matching: MigrationFixture(
        keys: ["Mood": []],
        objects: ["Mood": [[:], ["code": "m1"], ["code": "m2", "rating": 20]]]))
    #expect(report.passes, "\(report)")
  }

  @Test("Removed composite attributes are counted by their elements")
  func lossesOfCompositeAttributesAreCounted() throws {
    let store = try MigratedStore()
    let old = Self.model(["code"])
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.isOptional = true
    place.elements = ["city", "street"].map { name in
      let element = NSAttributeDescription()
      element.name = name
      element.attributeType = .stringAttributeType
      element.isOptional = true
      return element
    }
    old.entitiesByName["Mood"]?.properties.append(place)
    let context = try store.open(old, options: nil)
    try context.performAndWait {
      for index in 1...3 {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue("m\(index)", forKey: "code")
        if index > 1 { mood.setValue(["street": "\(index)"], forKey: "place") }
      }
      try context.save()
    }
    for opened in context.persistentStoreCoordinator?.persistentStores ?? [] {
      try context.persistentStoreCoordinator?.remove(opened)
    }
    let folder = store.url.deletingLastPathComponent()
    let versions = folder.appendingPathComponent("Moods.xcdatamodeld")
    let document = versions.appendingPathComponent("Moods.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    try Data(ModelDocument.text(of: old).text.utf8)
      .write(to: document.appendingPathComponent("contents"))
    let report = try checkMigrations(
      ofStoresIn: folder, to: Self.model(["code"]), versions: versions,
      matching: MigrationFixture(objects: [:]))
    #expect(report.passes, "\(report)")
    #expect(report.stores.first?.lost?.map(\.description) == ["2 values of Mood.place"])
  }

  @Test("A composite attribute and a set have the same value in each process")
  func unorderedValuesAreSorted() throws {
    let store = try MigratedStore()
    let model = Self.model([])
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [
      attribute("street", .stringAttributeType), attribute("city", .stringAttributeType),
      attribute("zip", .integer64AttributeType),
    ]
    let tags = attribute("tags", .transformableAttributeType)
    model.entitiesByName["Mood"]?.properties = [place, tags]
    let context = try store.open(model, options: nil)
    try context.performAndWait {
      let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
      let address: [String: Any] = ["street": "a", "city": "Kyiv", "zip": 1001]
      mood.setValue(address, forKey: "place")
      mood.setValue(Set(["b", "c", "a"]), forKey: "tags")
      try context.save()
    }
    for opened in context.persistentStoreCoordinator?.persistentStores ?? [] {
      try context.persistentStoreCoordinator?.remove(opened)
    }
    let fixture = try MigrationFixture(contentsOf: store.url, model: model)
    let expected: MigrationFixture.Object = [
      "place": "{city: Kyiv; street: a; zip: 1001}", "tags": "{a; b; c}",
    ]
    #expect(fixture.objects == ["Mood": [expected]])
  }

  /// A model of animals: the attributes of a parent, or `nil` for none, of dogs, and of cats.
  private static func animals(
    _ parent: [String]?, dog: [String], cat: [String]
  ) -> NSManagedObjectModel {
    func entity(_ name: String, _ attributes: [String]) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      entity.properties = attributes.map { name in
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
        return attribute
      }
      return entity
    }
    let (dog, cat) = (entity("Dog", dog), entity("Cat", cat))
    let model = NSManagedObjectModel()
    model.entities = [dog, cat]
    guard let parent else { return model }
    let animal = entity("Animal", parent)
    animal.isAbstract = true
    animal.subentities = [dog, cat]
    model.entities.append(animal)
    return model
  }

  @Test(
    "Only the values of entities that don't keep a property are lost",
    arguments: [
      (true, ["2 values of Animal.name"]),
      (false, ["3 values of Animal.color", "2 values of Animal.name"]),
    ])
  func lossesOfInheritedPropertiesAreCountedByEntity(
    keepsParent: Bool, expected: [String]
  ) throws {
    let store = try MigratedStore()
    let old = Self.animals(["name", "color"], dog: [], cat: [])
    let context = try store.open(old, options: nil)
    try context.performAndWait {
      for index in 0..<5 {
        let name = index < 3 ? "Dog" : "Cat"
        let animal = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        animal.setValue("n\(index)", forKey: "name")
        animal.setValue("brown", forKey: "color")
      }
      try context.save()
    }
    for opened in context.persistentStoreCoordinator?.persistentStores ?? [] {
      try context.persistentStoreCoordinator?.remove(opened)
    }
    let folder = store.url.deletingLastPathComponent()
    let versions = folder.appendingPathComponent("Animals.xcdatamodeld")
    let document = versions.appendingPathComponent("Animals.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    try Data(ModelDocument.text(of: old).text.utf8)
      .write(to: document.appendingPathComponent("contents"))
    let model =
      keepsParent
      ? Self.animals(["color"], dog: ["name"], cat: [])
      : Self.animals(nil, dog: ["name"], cat: ["color"])
    let fixture = MigrationFixture(
      keys: ["Dog": ["name"]],
      objects: ["Dog": [["name": "n0"], ["name": "n1"], ["name": "n2"]]])
    let report = try checkMigrations(
      ofStoresIn: folder, to: model, versions: versions, matching: fixture)
    #expect(report.passes, "\(report)")
    #expect(report.stores.first?.lost?.map(\.description) == expected)
  }

  @Test("Numbers of all types are equal to a fixture's, without rounding and exponents")
  func numbersAreEqualToThoseOfAFixture() throws {
    let types: [(String, NSAttributeType, NSNumber)] = [
      ("decimal", .decimalAttributeType, NSDecimalNumber(string: "1234567890.12345")),
      ("double", .doubleAttributeType, NSNumber(value: 1e20)),
      ("float", .floatAttributeType, NSNumber(value: Float(0.1))),
      ("integer", .integer64AttributeType, NSNumber(value: 1_000_000_000_000_000_000)),
    ]
    let entity = NSEntityDescription()
    entity.name = "Number"
    entity.properties = types.map { name, type, _ in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let store = try MigratedStore()
    let context = try store.open(model, options: nil)
    try context.performAndWait {
      let number = NSEntityDescription.insertNewObject(forEntityName: "Number", into: context)
      for (name, _, value) in types { number.setValue(value, forKey: name) }
      try context.save()
    }
    for opened in context.persistentStoreCoordinator?.persistentStores ?? [] {
      try context.persistentStoreCoordinator?.remove(opened)
    }
    let fixture = MigrationFixture(
      keys: ["Number": ["integer"]],
      objects: [
        "Number": [
          [
            "integer": 1_000_000_000_000_000_000, "double": 1e20, "float": 0.1,
            "decimal": "1234567890.12345",
          ]
        ]
      ])
    let report = try checkMigrations(
      ofStoresIn: store.url.deletingLastPathComponent(), to: model, matching: fixture)
    #expect(report.passes, "\(report)")
  }

  @Test("Migrating step by step requires the version of each store")
  func stepsRequireVersions() throws {
    let folder = try Self.folder()
    let none = MigrationFixture(objects: [:])
    #expect(throws: MigrationCheckError.self) {
      try checkMigrations(
        ofStoresIn: folder.stores, to: Self.current, by: .stepByStep, matching: none)
    }
    try FileManager.default.removeItem(
      at: folder.versions.appendingPathComponent("Moods.xcdatamodel"))
    let report = try checkMigrations(
      ofStoresIn: folder.stores, to: Self.current, versions: folder.versions, by: .stepByStep,
      matching: none)
    #expect(report.stores.first?.error?.contains("isn't one of the versions") == true)
  }

  @Test("A fixture read from a store is the same after it's written as JSON, and matches the store")
  func fixturesAreReadFromStores() throws {
    let folder = try Self.folder()
    let model = Self.model(["code", "note", "rating"])
    let fixture = try MigrationFixture(
      contentsOf: folder.store.url, model: model, keys: ["Mood": ["code"]])
    #expect(fixture.objects["Mood"]?[1] == ["code": "m2", "note": "fine", "rating": 20])
    let read = try JSONDecoder().decode(
      MigrationFixture.self, from: JSONEncoder().encode(fixture))
    #expect(read == fixture)
    let json = #"{"keys": {"Mood": ["code"]}, "objects": {"Mood": [{"code": "m1", "rating": 10}]}}"#
    let written = try JSONDecoder().decode(MigrationFixture.self, from: Data(json.utf8))
    #expect(written.objects["Mood"] == [["code": "m1", "rating": 10]])
    #expect(
      try checkMigrations(ofStoresIn: folder.stores, to: model, matching: fixture).passes)
  }
}

@Suite(
  "Failures while stores to check are found",
  .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"), .serialized)
struct FoundStoresFailureTests {
  /// The number may belong to another thread's file by then.
  @Test("A file whose close fails isn't closed again")
  func fileIsClosedOnce() throws {
    let store = try MigratedStore()
    defer { withExtendedLifetime(store) {} }
    let folder = store.url.deletingLastPathComponent()
    try Data("not a store".utf8).write(to: folder.appendingPathComponent("Notes.txt"))
    let closedBefore = FailingFiles.closedAgain
    let (result, report) = FailingFiles.run(
      below: folder.appendingPathComponent("Notes.txt"), counting: [.close],
      failure: .init(.inputOutput, at: 1, isPermanent: true)
    ) {
      try checkMigrations(
        ofStoresIn: folder, to: NSManagedObjectModel(),
        matching: MigrationFixture(keys: [:], objects: [:]))
    }
    #expect(report.failures == 1)
    #expect(throws: MigrationCheckError.self) { try result.get() }
    #expect(FailingFiles.closedAgain == closedBefore)
  }
}

@Suite(
  "Checks of the migrations of Core Data's stores",
  .enabled(if: SharedData.isHere, SharedData.absence), .serialized)
struct MoodyMigrationCheckTests {
  @Test("Moody's stores of five versions have the same content after step-by-step migration")
  func fiveVersionsAreEqual() throws {
    ContinentPolicy.registerClass(named: "Migrations.Country5ToCountry6Policy")
    let versions = MoodyFolder.url.appendingPathComponent("Moody.xcdatamodeld")
    let fixture = MigrationFixture(
      keys: [
        "Mood": ["remoteID"], "Country": ["numericISO3166Code"],
        "Continent": ["numericISO3166Code"],
      ],
      objects: [
        "Mood": [
          ["remoteID": "64C6E1D4-7C2E-4F04-B867-1A9E2941F9FF", "country": "704", "rating": 0]
        ],
        "Country": [["numericISO3166Code": 704, "continent": "10005"]],
      ])
    let model = try NSManagedObjectModel.read(contentsOf: versions, version: "Moody 6")
    let report = try checkMigrations(
      ofStoresIn: SharedData.url("moody/stores"), to: model, versions: versions,
      mappingModelsIn: [try #require(Bundle(path: MoodyFolder.url.path))], by: .stepByStep,
      matching: fixture)
    #expect(
      report.stores.map(\.version) == ["Moody 2", "Moody 3", "Moody 4", "Moody 5", "Moody"])
    #expect(report.stores.allSatisfy { $0.error == nil }, "\(report)")
    // Each store has three more moods, and two more countries.
    for store in report.stores {
      #expect(
        store.differences.map(\.description) == [
          "Country 231: unexpected", "Country 710: unexpected",
          "Mood 3A9BAEFD-7716-41C0-9FFF-A7C4BCE32679: unexpected",
          "Mood 47300BAD-DE7D-4B54-B94C-04A3EE4CD0C5: unexpected",
          "Mood 83922344-ED0B-4ABE-B8B0-E00F4E7E1D94: unexpected",
        ], "\(store)")
    }
  }
}
