import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import MigrationTools
@testable import StoreTools

/// Stores that were made with a configuration contain only its entities.
@Suite("Rehearsals of migrations of stores of a configuration")
struct ConfigurationRehearsalTests {
  private typealias Fixture = MigrationFixture

  static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml]

  /// A version with cities, which refer to countries of another configuration.
  ///
  /// - Parameters:
  ///   - isNext: Whether cities have an area, and the type of a country's code is another one.
  ///   - local: The name of the configuration with the cities; `nil` for none.
  private static func model(isNext: Bool, local: String? = "Local") -> NSManagedObjectModel {
    let (city, country) = (NSEntityDescription(), NSEntityDescription())
    (city.name, country.name) = ("City", "Country")
    let (home, cities) = (NSRelationshipDescription(), NSRelationshipDescription())
    (home.name, home.destinationEntity, home.maxCount) = ("country", country, 1)
    (cities.name, cities.destinationEntity) = ("cities", city)
    (home.inverseRelationship, cities.inverseRelationship) = (cities, home)
    city.properties = [Fixture.attribute("name"), Fixture.attribute("note"), home]
    country.properties = [
      Fixture.attribute(
        "code", isNext ? .integer64AttributeType : .stringAttributeType, isOptional: false),
      cities,
    ]
    if isNext {
      city.properties.removeAll { $0.name == "note" }
      city.properties.append(Fixture.attribute("area", .doubleAttributeType))
    }
    let model = NSManagedObjectModel()
    model.entities = [city, country]
    if let local { model.setEntities([city], forConfigurationName: local) }
    model.setEntities([country], forConfigurationName: "Cloud")
    return model
  }

  /// A store of the first version's configuration, with 2 cities, one of which has a note.
  private static func store(
    _ type: NSPersistentStore.StoreType, in folder: TemporaryFolder
  ) throws -> URL {
    let url = folder.file("Cities.store")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(isNext: false))
    let store = try coordinator.addPersistentStore(type: type, configuration: "Local", at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for name in ["Berlin", "Kyiv"] {
        let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
        city.setValue(name, forKey: "name")
        city.setValue(name == "Kyiv" ? "capital" : nil, forKey: "note")
      }
      try context.save()
    }
    try coordinator.remove(store)
    return url
  }

  /// Writes a folder of versions, and returns its path.
  private static func versions(
    _ versions: KeyValuePairs<String, NSManagedObjectModel>, in folder: TemporaryFolder
  ) throws -> String {
    for (name, model) in versions {
      _ = try Fixture.write(
        ModelDocument.text(of: model).text, as: "City.xcdatamodeld/\(name).xcdatamodel",
        to: folder)
    }
    return folder.file("City.xcdatamodeld").path
  }

  @Test(
    "Only the entities of the store's configuration are migrated and compared", arguments: types)
  func configurationIsMigrated(type: NSPersistentStore.StoreType) throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(type, in: folder)
    let next = Self.model(isNext: true)
    let path = try Self.versions(["City": Self.model(isNext: false), "City 2": next], in: folder)
    let kept = folder.file("Kept.store")
    let rehearsal = try Fixture.rehearse(
      store, to: path, version: "City 2", keepingAt: kept, factors: [2])
    #expect(rehearsal.route.configuration == "Local")
    #expect(rehearsal.isPossible && rehearsal.isInferred && !rehearsal.hasNewErrors)
    #expect(rehearsal.losses == [.init(entity: "City", property: "note", values: 1)])
    #expect(rehearsal.steps.flatMap(\.differences).allSatisfy { $0.entity == "City" })
    if type == .sqlite {
      #expect(rehearsal.doctor?.findings.isEmpty == true)
      #expect(rehearsal.growth?.sizes.map(\.rows) == [2, 4])
    }
    let lines = MigrationText.lines(rehearsal)
    #expect(lines.first?.contains("City 2, configuration Local   ") == true)
    #expect(try rehearsal.migrateOriginal(keepsBackup: false) == nil)
    for url in [kept, store] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: next)
      let opened = try coordinator.addPersistentStore(
        type: type, configuration: "Local", at: url)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        let cities = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "City"))
        #expect(Set(cities.map { $0.value(forKey: "name") as? String }) == ["Berlin", "Kyiv"])
      }
      try coordinator.remove(opened)
      guard type == .sqlite else { continue }
      let tables = try Fixture.values(
        url, "SELECT name FROM sqlite_master WHERE name IN ('ZCITY', 'ZCOUNTRY')")
      #expect(tables == [[.text("ZCITY")]])
    }
  }

  @Test(
    "The objects of an entity that leaves the configuration are lost, and references to them",
    arguments: types)
  func entityLeavesTheConfiguration(type: NSPersistentStore.StoreType) throws {
    func version(_ names: [String]) -> NSManagedObjectModel {
      let model = Self.model(isNext: false)
      let other = NSEntityDescription()
      other.name = "Other"
      model.entities.append(other)
      model.setEntities(
        names.compactMap { model.entitiesByName[$0] }, forConfigurationName: "Local")
      return model
    }
    let folder = try TemporaryFolder()
    let (old, next) = (version(["City", "Country"]), version(["City"]))
    next.entitiesByName["City"]?.properties.append(Fixture.attribute("area"))
    let store = folder.file("Cities.store")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
    let added = try coordinator.addPersistentStore(type: type, configuration: "Local", at: store)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
      let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
      country.setValue("de", forKey: "code")
      city.setValue(country, forKey: "country")
      try context.save()
    }
    try coordinator.remove(added)
    let path = try Self.versions(["City": old, "City 2": next], in: folder)
    let rehearsal = try Fixture.rehearse(store, to: path, version: "City 2")
    #expect(rehearsal.route.configuration == "Local" && rehearsal.isPossible)
    #expect(
      rehearsal.losses == [
        .init(entity: "City", property: "country", values: 1),
        .init(entity: "Country", property: nil, values: 1),
      ])
    guard type == .sqlite else { return }
    _ = try rehearsal.migrateOriginal(keepsBackup: false)
    let values = try Fixture.values(store, "SELECT COUNT(*), COUNT(ZCOUNTRY) FROM ZCITY")
    #expect(values == [[.integer(1), .integer(0)]])
  }

  @Test("A store whose own entities are the same has the version already")
  func otherConfigurationsAreNotCompared() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(.sqlite, in: folder)
    let next = Self.model(isNext: false)
    next.entitiesByName["Country"]?.properties.append(Fixture.attribute("flag"))
    let rehearsal = try Fixture.rehearse(store, to: Fixture.write(next, to: folder))
    #expect(rehearsal.isCurrent && rehearsal.isPreserving)
  }

  @Test("Duplicate values are counted in the configuration's table")
  func violationsAreCounted() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(.sqlite, in: folder)
    let next = Self.model(isNext: true)
    let area = Fixture.attribute("area", .doubleAttributeType, isOptional: false)
    area.defaultValue = 1.5
    let city = try #require(next.entitiesByName["City"])
    city.properties = city.properties.map { $0.name == "area" ? area : $0 }
    city.uniquenessConstraints = [["area"]]
    let rehearsal = try Fixture.rehearse(store, to: Fixture.write(next, to: folder))
    #expect(rehearsal.violations.map(\.property) == ["area"])
    #expect(rehearsal.violations.first?.samples == ["1.5 (2 objects)"])
  }

  @Test("A configuration with another name and the same entities is used")
  func renamedConfigurationIsUsed() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(.sqlite, in: folder)
    let path = try Fixture.write(Self.model(isNext: true, local: "Offline"), to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    #expect(rehearsal.route.configuration == "Offline" && rehearsal.isPossible)
    #expect(rehearsal.doctor?.findings.isEmpty == true)
  }

  @Test("A configuration with another name and the same entities is used on the way, too")
  func renamedConfigurationOnTheWayIsUsed() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(.sqlite, in: folder)
    let last = Self.model(isNext: true)
    last.entitiesByName["City"]?.properties.append(Fixture.attribute("flag"))
    let versions = try Self.versions(
      [
        "City": Self.model(isNext: false), "City 2": Self.model(isNext: true, local: "Offline"),
        "City 3": last,
      ], in: folder)
    let rehearsal = try Fixture.rehearse(
      store, to: versions, version: "City 3", isProgressive: true)
    #expect(rehearsal.route.configuration == "Local" && rehearsal.isPossible)
    #expect(rehearsal.route.steps.map(\.to) == ["City 2", "City 3"])
    #expect(rehearsal.doctor?.findings.isEmpty == true)
  }

  @Test("A version without the configuration is an error that names it")
  func missingConfigurationIsAnError() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(.sqlite, in: folder)
    let bytes = try Data(contentsOf: store)
    let path = try Fixture.write(Self.model(isNext: true, local: nil), to: folder)
    let error = #expect(throws: InvalidInputError.self) {
      try Fixture.rehearse(store, to: path)
    }
    #expect(error?.message.contains("a configuration (City)") == true)
    #expect(error?.message.contains("has no configuration Local") == true)
    #expect(error?.nextStep.hasPrefix("add the configuration to ") == true)
    let versions = try Self.versions(
      [
        "City": Self.model(isNext: false), "City 2": Self.model(isNext: true, local: nil),
        "City 3": Self.model(isNext: true),
      ], in: folder)
    let between = #expect(throws: InvalidInputError.self) {
      try Fixture.rehearse(store, to: versions, version: "City 3", isProgressive: true)
    }
    #expect(between?.message.contains("which the version City 2 doesn't have") == true)
    #expect(try Data(contentsOf: store) == bytes)
  }
}
