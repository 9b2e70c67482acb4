import CoreDataCosts
import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Stores written by Core Data", .enabled(if: SharedData.isHere, SharedData.absence))
struct AppleStoreTests {
  static let stores = [
    "moody/stores/Moody.moody", "moody/stores/Moody 2.moody", "moody/stores/Moody 3.moody",
    "moody/stores/Moody 4.moody", "moody/stores/Moody 5.moody", "stores/SampleModel_V1.sqlite",
  ]

  @Test("All rows of all entities are read without a model file", arguments: stores)
  func allRowsAreReadWithoutAModelFile(path: String) throws {
    let copy = try Copy(of: path)
    let context = try copy.context()
    let plain = try Connection(path: copy.url.path, access: .inspecting)
    defer { plain.close() }
    var values = 0
    try context.performAndWait {
      let store = try #require(context.coordinator?.firstStore as? SQLiteStore)
      for entity in store.mapping.entities where !entity.description.isAbstract {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.includesSubentities = false
        let objects = try context.fetch(request)
        let count = try plain.values(
          "SELECT COUNT(*) FROM \"\(entity.table)\" WHERE Z_ENT = \(entity.number)")
        #expect(count == [[.integer(Int64(objects.count))]], "\(entity.name)")
        for object in objects {
          for column in entity.columns {
            guard let attribute = column.property as? NSAttributeDescription else { continue }
            let rows = try plain.values(
              "SELECT \"\(column.name)\" FROM \"\(entity.table)\" WHERE Z_PK = \(object.primaryKey)"
            )
            let stored = try #require(rows.first?.first)
            values += 1
            #expect(
              matches(object.value(forKey: attribute.name), stored),
              "\(entity.name).\(attribute.name) of \(object.primaryKey)")
          }
        }
      }
    }
    #expect(values > 0)
  }

  /// Returns whether a property's value is what SQLite returns for its column.
  private func matches(_ value: Any?, _ stored: SQLiteValue) -> Bool {
    switch stored {
    case .null: value == nil
    case .integer(let number):
      value as? Int64 == number
        || (value as? Date)?.timeIntervalSinceReferenceDate == Double(number)
    case .real(let number):
      value as? Double == number || (value as? Date)?.timeIntervalSinceReferenceDate == number
    case .text(let text): value as? String == text
    // Values of other types, such as UUIDs and transformed ones, are stored as their bytes.
    case .blob(let bytes): (value as? Data).map { $0 == Data(bytes) } ?? (value != nil)
    }
  }

  @Test("Both sides of each relationship agree", arguments: stores)
  func bothSidesOfEachRelationshipAgree(path: String) throws {
    let copy = try Copy(of: path)
    defer { withExtendedLifetime(copy) {} }
    let context = try copy.context()
    var pairs = 0
    try context.performAndWait {
      let model = try #require(context.coordinator).managedObjectModel
      for entity in model.entities where !entity.isAbstract {
        let objects = try context.fetch(
          NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
        for (name, relationship) in entity.relationshipsByName {
          guard let inverse = relationship.inverseRelationship else { continue }
          for object in objects {
            for other in object.relatedObjects(relationship) {
              pairs += 1
              #expect(
                other.relatedObjects(inverse).contains(object), "\(entity.name ?? "").\(name)")
            }
          }
        }
      }
    }
    #expect(pairs > 0)
  }

  @Test("A batched fetch and reading a to-one of its batch take three SELECTs")
  func batchedFetchAndItsToOneTakeThreeSelects() throws {
    let copy = try Copy(of: "moody/stores/Moody.moody")
    defer { withExtendedLifetime(copy) {} }
    let context = try copy.context()
    try context.performAndWait {
      let cost = try costs(of: context) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
        request.predicate = NSPredicate(format: "country.numericISO3166Code == 710")
        request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
        request.fetchBatchSize = 20
        let moods = try context.fetchBatched(request)
        #expect(moods.count == 2)
        for mood in moods { #expect(mood.value(forKeyPath: "country.updatedAt") is Date) }
      }
      #expect(cost.selects == 3)
    }
  }

  @Test(arguments: stores)
  func readOnlyOpenModifiesNoFile(path: String) throws {
    let copy = try Copy(of: path)
    let before = try copy.contents()
    let context = try copy.context()
    try context.performAndWait {
      for entity in try #require(context.coordinator).managedObjectModel.entities {
        for object in try context.fetch(
          NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
        {
          for key in entity.propertiesByName.keys where object.layout.position(of: key) != nil {
            _ = object.value(forKey: key)
          }
        }
      }
    }
    #expect(try copy.contents() == before)
  }

  @Test func modelIsComparedWithTheStoredModel() throws {
    let copy = try Copy(of: "moody/stores/Moody.moody")
    let document = SharedData.url("moody/Moody.xcdatamodeld")
    let options = [NSReadOnlyPersistentStoreOption: true]
    let own = try NSManagedObjectModel.read(
      contentsOf: document.appendingPathComponent("Moody.xcdatamodel"))
    let opened = NSPersistentStoreCoordinator(managedObjectModel: own)
    try opened.addPersistentStore(type: .sqlite, at: copy.url, options: options)
    let later = try NSManagedObjectModel.read(
      contentsOf: document.appendingPathComponent("Moody 3.xcdatamodel"))
    do {
      try NSPersistentStoreCoordinator(managedObjectModel: later)
        .addPersistentStore(type: .sqlite, at: copy.url, options: options)
      Issue.record("a store of another version was opened")
    } catch let error as NSError {
      #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
    }
  }

  @Test("Saving to a copy keeps other rows and the version hashes")
  func savingToACopyKeepsOtherRowsAndTheVersionHashes() throws {
    let copy = try Copy(of: "moody/stores/Moody.moody")
    let model = try NSManagedObjectModel.inStore(at: copy.url)
    func open() throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(type: .sqlite, at: copy.url)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let context = try open()
    let hashes =
      context.coordinator?.persistentStores.first?
      .metadata["NSStoreModelVersionHashes"] as? [String: Data]
    let (key, count) = try context.performAndWait {
      let moods = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mood"))
      moods[0].setValue(12.5, forKey: "latitude")
      let new = context.make("Mood", ["date": Date(timeIntervalSinceReferenceDate: 1)])
      new.setValue(moods[0].value(forKey: "country"), forKey: "country")
      try context.save()
      return (new.primaryKey, moods.count)
    }
    let again = try open()
    try again.performAndWait {
      let moods = try again.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mood"))
      #expect(moods.count == count + 1)
      #expect(moods.count { $0.value(forKey: "latitude") as? Double == 12.5 } == 1)
      #expect(moods.contains { $0.primaryKey == key })
    }
    let kept =
      again.coordinator?.persistentStores.first?
      .metadata["NSStoreModelVersionHashes"] as? [String: Data]
    #expect(hashes != nil && kept == hashes)
  }

  /// A copy of a store in its own folder.
  final class Copy {
    let url: URL

    init(of path: String) throws {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("AppleStoreTests-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appendingPathComponent("Store.sqlite")
      try Data(contentsOf: SharedData.url(path)).write(to: url)
    }

    deinit {
      try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }

    /// A context for the store, opened read-only with the model that it contains.
    func context() throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(
        managedObjectModel: try NSManagedObjectModel.inStore(at: url))
      try coordinator.addPersistentStore(
        type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }

    /// The names and contents of the folder's files.
    func contents() throws -> [String: Data] {
      let folder = url.deletingLastPathComponent()
      var contents: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        contents[name] = try Data(contentsOf: folder.appendingPathComponent(name))
      }
      return contents
    }
  }
}
