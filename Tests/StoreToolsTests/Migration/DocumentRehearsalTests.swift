import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import MigrationTools
@testable import StoreTools

@Suite("Rehearsals of migrations of XML and binary stores")
struct DocumentRehearsalTests {
  private typealias Fixture = MigrationFixture

  static let types: [NSPersistentStore.StoreType] = [.xml, .binary]

  /// A document with 3 moods: 2 with a note, and each with a code.
  private static func store(
    _ type: NSPersistentStore.StoreType, in folder: TemporaryFolder
  ) throws -> URL {
    let url = folder.file("Moods.\(type.rawValue.lowercased())")
    let context = try opened(url, type, Fixture.model())
    try context.performAndWait {
      for index in 0..<3 {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue(index < 2 ? "note \(index)" : nil, forKey: "note")
        mood.setValue("code \(index)", forKey: "code")
      }
      try context.save()
    }
    return url
  }

  private static func opened(
    _ url: URL, _ type: NSPersistentStore.StoreType, _ model: NSManagedObjectModel
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: type, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Writes a folder with the version of the store and a next one.
  private static func versions(
    _ next: NSManagedObjectModel, in folder: TemporaryFolder
  ) throws -> String {
    for (name, model) in [("Mood", Fixture.model()), ("Mood 2", next)] {
      _ = try Fixture.write(
        ModelDocument.text(of: model).text, as: "Mood.xcdatamodeld/\(name).xcdatamodel",
        to: folder)
    }
    return folder.file("Mood.xcdatamodeld").path
  }

  @Test("Losses, rows, and passes of a document are reported without SQL", arguments: types)
  func documentIsRehearsed(type: NSPersistentStore.StoreType) throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(type, in: folder)
    let bytes = try Data(contentsOf: store)
    let next = Fixture.model { $0.properties.removeAll { $0.name == "note" } }
    let path = try Self.versions(next, in: folder)
    let kept = folder.file("Kept")
    let rehearsal = try Fixture.rehearse(
      store, to: path, version: "Mood 2", keepingAt: kept, factors: nil)
    #expect(rehearsal.isPossible)
    #expect(rehearsal.isInferred)
    #expect(!rehearsal.isPreserving)
    #expect(rehearsal.losses == [.init(entity: "Mood", property: "note", values: 2)])
    let step = try #require(rehearsal.steps.first)
    #expect(step.rows == 3)
    #expect(step.work.filter { !$0.sql.isEmpty }.isEmpty)
    #expect(step.work.first?.instances == 3)
    #expect(rehearsal.doctor == nil)
    #expect(rehearsal.growth == nil)
    #expect(rehearsal.warnings.contains { $0.contains("assigns new primary keys") })
    let lines = MigrationText.lines(rehearsal)
    #expect(lines.contains { $0.contains("inferred, by copy: ") && $0.contains("3 rows written") })
    let fields = try Fixture.fields(rehearsal)
    #expect((fields["steps"] as? [[String: Any]])?.first?["rows"] as? Int == 3)
    #expect(try Data(contentsOf: store) == bytes)
    let context = try Self.opened(kept, type, next)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
    #expect(try context.performAndWait { try context.count(for: request) } == 3)
  }

  @Test("Missing values of a document fail its migration", arguments: types)
  func violationsAreReported(type: NSPersistentStore.StoreType) throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(type, in: folder)
    let next = Fixture.model { mood in
      mood.properties = [
        Fixture.attribute("note", isOptional: false), Fixture.attribute("code"),
        Fixture.attribute("rating", .integer64AttributeType),
      ]
    }
    let path = try Self.versions(next, in: folder)
    let kept = folder.file("Kept")
    let rehearsal = try Fixture.rehearse(store, to: path, version: "Mood 2", keepingAt: kept)
    #expect(!rehearsal.isPossible)
    let violation = try #require(rehearsal.violations.first)
    #expect(violation.entity == "Mood")
    #expect(violation.property == "note")
    #expect(violation.rows == 1)
    #expect(!FileManager.default.fileExists(atPath: kept.path))
  }

  @Test("A document is migrated in place, with a backup if one is wanted", arguments: types)
  func documentIsMigratedInPlace(type: NSPersistentStore.StoreType) throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(type, in: folder)
    let bytes = try Data(contentsOf: store)
    let next = Fixture.model { $0.properties.append(Fixture.attribute("place")) }
    let path = try Self.versions(next, in: folder)
    let copy = folder.file("Copy")
    try FileManager.default.copyItem(at: store, to: copy)
    let rehearsal = try Fixture.rehearse(store, to: path, version: "Mood 2")
    #expect(rehearsal.isPreserving)
    let backup = try #require(try rehearsal.migrateOriginal(keepsBackup: true))
    #expect(try Data(contentsOf: backup) == bytes)
    _ = try Self.opened(store, type, next)
    #expect(try Fixture.rehearse(store, to: path, version: "Mood 2").isCurrent)
    let other = try Fixture.rehearse(copy, to: path, version: "Mood 2")
    #expect(try other.migrateOriginal(keepsBackup: false) == nil)
    _ = try Self.opened(copy, type, next)
    #expect(!FileManager.default.fileExists(atPath: folder.file("Copy~").path))
  }

  @Test("A document whose version isn't in the folder is rejected", arguments: types)
  func unknownVersionIsRejected(type: NSPersistentStore.StoreType) throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(type, in: folder)
    let path = try Fixture.write(
      Fixture.model { $0.properties.append(Fixture.attribute("place")) }, to: folder)
    let error = #expect(throws: InvalidInputError.self) {
      try Fixture.rehearse(store, to: path)
    }
    #expect(error?.message.contains("doesn't contain its model") == true)
  }
}
