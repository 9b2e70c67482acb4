import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchFixtures

@testable import MigrationTools
@testable import StoreTools

/// Stores and models for rehearsals.
enum MigrationFixture {
  /// Writes a model as a document, and returns its path.
  static func write(_ model: NSManagedObjectModel, to folder: TemporaryFolder) throws -> String {
    try write(
      ModelDocument.text(of: model).text, as: "Model\(UUID().uuidString).xcdatamodel", to: folder)
  }

  /// Writes the text of a document, and returns its path.
  static func write(_ text: String, as name: String, to folder: TemporaryFolder) throws -> String {
    let url = folder.file(name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url.appendingPathComponent("contents"))
    return url.path
  }

  static func attribute(
    _ name: String, _ type: NSAttributeType = .stringAttributeType, isOptional: Bool = true
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
    return attribute
  }

  /// A model of moods, which a test changes.
  static func model(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
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
  static func store(
    _ folder: TemporaryFolder, _ change: (NSEntityDescription) -> Void = { _ in }
  ) throws -> URL {
    let url = folder.file("Moods.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(change))
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

  static func values(_ url: URL, _ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    return try connection.values(sql)
  }

  /// Rehearses the migration of a store, without larger copies.
  static func rehearse(
    _ store: URL, to path: String, version: String? = nil, mappings: [String] = [],
    isProgressive: Bool = false, keepingAt destination: URL? = nil, factors: [Int]? = []
  ) throws -> MigrationRehearsal {
    let route = try MigrationRoute(
      of: store.path, to: FoundModel(path: path, version: version), mappings: mappings,
      isProgressive: isProgressive)
    return try MigrationRehearsal(
      route, MigrationRehearsal.Options(destination: destination, factors: factors))
  }

  /// The keys of a rehearsal's JSON.
  static func fields(_ rehearsal: MigrationRehearsal) throws -> [String: Any] {
    let json = try JSONSerialization.jsonObject(with: MigrationJSON.data(rehearsal))
    return json as? [String: Any] ?? [:]
  }
}
