import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import StoreTools

@Suite("Rehearsals of migrations")
struct RehearsalTests {
  /// Writes a model as a document.
  private static func write(_ model: NSManagedObjectModel, to folder: TemporaryFolder) throws
    -> String
  {
    let url = folder.file("Model\(UUID().uuidString).xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(ModelDocument.text(of: model).text.utf8)
      .write(to: url.appendingPathComponent("contents"))
    return url.path
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType = .stringAttributeType, isOptional: Bool = true
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
    return attribute
  }

  /// A model of moods, which a test changes.
  private static func model(_ change: (NSEntityDescription) -> Void = { _ in })
    -> NSManagedObjectModel
  {
    let mood = NSEntityDescription()
    mood.name = "Mood"
    mood.properties = [
      attribute("note"), attribute("code"), attribute("rating", .integer64AttributeType),
    ]
    change(mood)
    let model = NSManagedObjectModel()
    model.entities = [mood]
    return model
  }

  /// A store with 6 moods: 4 with a note, 3 with the same code, one with a rating of 100,000.
  private static func store(_ folder: TemporaryFolder) throws -> URL {
    let url = folder.file("Moods.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for index in 0..<6 {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue(index < 4 ? "note \(index)" : nil, forKey: "note")
        mood.setValue(index < 3 ? "same" : "code \(index)", forKey: "code")
        mood.setValue(index == 0 ? 100_000 : index, forKey: "rating")
      }
      try context.save()
    }
    try coordinator.remove(store)
    return url
  }

  private static func values(_ url: URL, _ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    return try connection.values(sql)
  }

  @Test("A removed attribute is reported with the number of its values, and the store is unchanged")
  func lossesAreCounted() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(folder)
    let bytes = try Data(contentsOf: store)
    let path = try Self.write(
      Self.model { mood in mood.properties.removeAll { $0.name == "note" } }, to: folder)
    let rehearsal = try MigrationRehearsal(of: store.path, to: FoundModel(path: path))
    #expect(try Self.values(store, "SELECT count(ZNOTE) FROM ZMOOD") == [[.integer(4)]])
    #expect(rehearsal.losses == [.init(entity: "Mood", property: "note", values: 4)])
    #expect(!rehearsal.isPreserving)
    #expect(rehearsal.isPossible)
    #expect(rehearsal.doctor?.isIntact == true)
    let trial = try #require(rehearsal.trial)
    #expect(trial.steps.contains { $0.rows == 6 && $0.sql.contains("ZMOOD") })
    #expect(try Data(contentsOf: store) == bytes)
    #expect(MigrationText.lines(rehearsal).contains("  4 values of Mood.note"))
    let json = try JSONSerialization.jsonObject(with: MigrationJSON.data(rehearsal))
    let fields = try #require(json as? [String: Any])
    #expect(fields["refused"] is NSNull)
    #expect(fields["inferred"] as? Bool == true)
    #expect((fields["steps"] as? [Any])?.count == trial.steps.count)
    #expect((fields["lost"] as? [[String: Any]])?.first?["values"] as? Int == 4)
  }

  @Test("All violations are reported, not only the first")
  func violationsAreComplete() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(folder)
    let path = try Self.write(
      Self.model { mood in
        mood.properties = [
          Self.attribute("note", isOptional: false), Self.attribute("code"),
          Self.attribute("rating", .integer16AttributeType),
        ]
        mood.uniquenessConstraints = [["code"]]
      }, to: folder)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try MigrationRehearsal(
      of: store.path, to: FoundModel(path: path), keepingAt: kept)
    let violations = try #require(rehearsal.trial).violations
    let found = violations.map { "\($0.property) \($0.rows.map { "\($0)" } ?? "-")" }.sorted()
    #expect(found == ["code -", "note 2", "rating 1"])
    #expect(!rehearsal.isPossible)
    #expect(!FileManager.default.fileExists(atPath: kept.path))
    let lines = MigrationText.lines(rehearsal)
    #expect(
      lines.contains { $0.contains("2 objects have no value of the required attribute Mood.note") })
  }

  @Test("A change that can't be inferred is refused with the property and the reason")
  func refusalsNameTheProperty() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(folder)
    let path = try Self.write(
      Self.model { mood in
        mood.properties = [
          Self.attribute("note", .dateAttributeType), Self.attribute("code"),
          Self.attribute("rating", .integer64AttributeType),
        ]
      }, to: folder)
    let rehearsal = try MigrationRehearsal(of: store.path, to: FoundModel(path: path))
    #expect(rehearsal.trial == nil)
    #expect(!rehearsal.isPreserving)
    #expect(MigrationText.lines(rehearsal).contains { $0.contains("Mood.note") })
    let json = try JSONSerialization.jsonObject(with: MigrationJSON.data(rehearsal))
    let fields = try #require(json as? [String: Any])
    #expect((fields["refused"] as? String)?.contains("Mood.note") == true)
    #expect(fields["inferred"] as? Bool == false)
  }

  @Test("The store itself is migrated after its rehearsal, with a backup")
  func originalIsMigrated() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(folder)
    let path = try Self.write(
      Self.model { $0.properties.append(Self.attribute("place")) }, to: folder)
    let found = try FoundModel(path: path)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try MigrationRehearsal(of: store.path, to: found, keepingAt: kept)
    #expect(rehearsal.isPreserving)
    #expect(
      try Self.values(kept, "SELECT count(*), count(ZPLACE) FROM ZMOOD") == [
        [6, 0].map { .integer($0) }
      ])
    let backup = try #require(try rehearsal.migrateOriginal(to: found.model, keepsBackup: true))
    #expect(backup.lastPathComponent == "Moods~.sqlite")
    #expect(
      try Self.values(store, "SELECT count(*), count(ZPLACE) FROM ZMOOD") == [
        [6, 0].map { .integer($0) }
      ])
    #expect(try Self.values(backup, "SELECT count(*) FROM ZMOOD") == [[.integer(6)]])
    let again = try MigrationRehearsal(of: store.path, to: found)
    #expect(again.isCurrent)
    #expect(again.isPreserving)
  }

  @Test(
    "The continents that a later version of a public model has no place for are counted",
    .enabled(if: SharedData.moodyStores != nil))
  func publicStoreLosesContinents() throws {
    let data = try #require(SharedData.moodyStores)
    let folder = try TemporaryFolder()
    let store = folder.file("Moody.sqlite")
    try FileManager.default.copyItem(at: data.appendingPathComponent("Moody.moody"), to: store)
    let model = data.deletingLastPathComponent().appendingPathComponent("Moody.xcdatamodeld")
    let lossless = try MigrationRehearsal(
      of: store.path, to: FoundModel(path: model.path, version: "Moody 2"))
    #expect(lossless.isPreserving)
    let losing = try MigrationRehearsal(
      of: store.path, to: FoundModel(path: model.path, version: "Moody 5"))
    #expect(
      losing.losses.filter {
        $0.entity == "Continent" && $0.property == nil || $0.property == "continent"
      }
        == [
          .init(entity: "Continent", property: nil, values: 2),
          .init(entity: "Country", property: "continent", values: 3),
        ])
  }
}
