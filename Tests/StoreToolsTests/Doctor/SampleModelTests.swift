import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Stores of sample models stay valid")
struct SampleModelTests {
  /// Creates, relates, changes, and deletes objects of every entity in a fixed random order.
  @Test(arguments: SampleModel.all, [UInt64(1), 2])
  func storeHasNoFindingsAfterEachSave(sample: SampleModel, seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let document = folder.file("Sample.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    try Data("<model>\(sample.contents)</model>".utf8)
      .write(to: document.appendingPathComponent("contents"))
    let model = try NSManagedObjectModel.read(contentsOf: document)
    #expect(model.problems == [])
    let url = folder.file("Sample.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: seed == 2])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    var workload = RandomWorkload(model: model, context: context, seed: seed)
    for round in 0..<6 {
      try context.performAndWait { try workload.round() }
      #expect(try StoreDoctor.examine(url).findings.map { "\($0)" } == [], "round \(round)")
      try compare(url, context, model)
    }
    #expect(workload.saves > 3)
    try statementsMatchTheModel(url, model, hasHistory: seed == 2)
  }

  /// Compares the relationships in a cold context with those in the context that saved them.
  private func compare(
    _ url: URL, _ context: NSManagedObjectContext, _ model: NSManagedObjectModel
  ) throws {
    let own = NSPersistentStoreCoordinator(
      managedObjectModel: try StoreModel.ofStore(at: url).model)
    try own.addPersistentStore(
      type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
    let cold = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    cold.persistentStoreCoordinator = own
    for entity in model.entities where entity.superentity == nil {
      let written = try context.performAndWait {
        try Self.relationshipURIs(of: entity.name ?? "", in: context)
      }
      let read = try cold.performAndWait {
        try Self.relationshipURIs(of: entity.name ?? "", in: cold)
      }
      #expect(written == read)
    }
  }

  /// Returns the destinations of all objects' relationships, as URIs.
  private static func relationshipURIs(
    of entity: String, in context: NSManagedObjectContext
  ) throws -> [String: [String: [String]]] {
    let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    var relationshipURIs: [String: [String: [String]]] = [:]
    for object in objects {
      func uri(_ object: NSManagedObject) -> String {
        object.objectID.uriRepresentation().absoluteString
      }
      relationshipURIs[uri(object)] = object.entity.relationshipsByName.mapValues { relationship in
        switch object.value(forKey: relationship.name) {
        case let other as NSManagedObject: [uri(other)]
        case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }.map(uri)
        case let set as Set<NSManagedObject>: set.map(uri).sorted()
        default: []
        }
      }
    }
    return relationshipURIs
  }

  private func statementsMatchTheModel(
    _ url: URL, _ model: NSManagedObjectModel, hasHistory: Bool
  ) throws {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let rows = try connection.values(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'Z_RT_%!_%' ESCAPE '!'"
    )
    let actual = Set(rows.compactMap { if case .text(let text) = $0[0] { text } else { nil } })
    let expected = Set(
      try model.creationStatements().filter { !$0.contains("Z_RT_") }
        .map { $0.replacingOccurrences(of: "CREATE TRIGGER IF NOT EXISTS", with: "CREATE TRIGGER") }
    )
    #expect(actual.isSuperset(of: expected))
    let others = actual.subtracting(expected).filter { !$0.contains("Z_RT_") }
    #expect(hasHistory || others.isEmpty, "\(others)")
  }
}
