import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools

/// Values that only another program stores.
@Suite("Values that doctor reports")
struct DoctorValueTests {
  /// Items with a flag, and parts, which are items and may have the constraint of their code.
  private static func model() -> NSManagedObjectModel {
    let (item, part) = (NSEntityDescription(), NSEntityDescription())
    (item.name, part.name) = ("Item", "Part")
    item.properties = [
      MigrationFixture.attribute("code"), MigrationFixture.attribute("flag", .booleanAttributeType),
    ]
    item.subentities = [part]
    part.uniquenessConstraints = [["code"]]
    let model = NSManagedObjectModel()
    model.entities = [item, part]
    return model
  }

  /// A store with an item and a part, changed by a statement.
  private static func store(_ folder: TemporaryFolder, _ sql: String) throws -> URL {
    let url = folder.file("Items.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (entity, code) in [("Item", "a"), ("Part", "b")] {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(code, forKey: "code")
        object.setValue(true, forKey: "flag")
      }
      try context.save()
    }
    try coordinator.remove(store)
    let connection = try Connection(path: url.path, access: .writing)
    defer { connection.close() }
    try connection.execute(sql)
    return url
  }

  @Test("A Boolean other than 0 and 1 is reported, and 1 after a migration with a mapping model")
  func booleansAreNumbersOfOneBit() throws {
    let folder = try TemporaryFolder()
    let url = try Self.store(folder, "UPDATE ZITEM SET ZFLAG = 5 WHERE ZCODE = 'a'")
    let finding = try #require(try StoreDoctor.examine(url).findings.first)
    #expect(finding.rule == .valueType && finding.property == "flag" && finding.count == 1)
    let next = Self.model()
    next.entitiesByName["Item"]?.properties.append(MigrationFixture.attribute("note"))
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Self.model(), destinationModel: next)
    let trial = try MappedMigrationTrial(
      ofCopyAt: url, .sqlite,
      step: ProgressiveMigration.Step(
        from: ModelVersion(name: "1", model: Self.model()),
        to: ModelVersion(name: "2", model: next), mappingModels: [mapping]))
    #expect(trial.violations.isEmpty)
    let flags = try MigrationFixture.values(url, "SELECT DISTINCT ZFLAG FROM ZITEM")
    #expect(flags == [[.integer(1)]])
    #expect(try StoreDoctor.examine(url).findings == [])
  }

  @Test("A subentity's constraint of an inherited attribute is one of all rows that have it")
  func inheritedValuesAreCompared() throws {
    let folder = try TemporaryFolder()
    let url = try Self.store(
      folder, "DROP INDEX Z_Part_UNIQUE_code; UPDATE ZITEM SET ZCODE = 'a'")
    let findings = try StoreDoctor.examine(url).findings
    let finding = try #require(findings.first { $0.rule == .duplicateValues })
    #expect(finding.entity == "Part" && finding.property == "code" && finding.count == 1)
  }
}
