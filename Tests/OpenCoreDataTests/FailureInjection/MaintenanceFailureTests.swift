import FailingFiles
import ManagedModel
import OpenCoreData
import Testing

@testable import OpenCoreData

/// Work on the file of a store that no context has open.
struct MaintenanceWork: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var type = NSPersistentStore.StoreType.sqlite
  /// Changes the store, which exists, by its URL.
  var prepare: @Sendable (URL) throws -> Void = { _ in }
  /// What can fail; gets the store's URL, and the bundle with its model.
  let run: @Sendable (URL, [Bundle]) throws -> Void

  private typealias Sample = LightweightMigrationTests

  static func store(in folder: URL) -> URL { folder.appendingPathComponent("Store.data") }

  /// The bundle with the model of a document, which contains none.
  static func bundles(in folder: URL) -> [Bundle] {
    [Bundle(path: folder.appendingPathComponent("Bundle").path)].compactMap { $0 }
  }

  /// Two versions; the second lacks an attribute, has another one, and renames an entity.
  private static func version(_ number: Int) -> NSManagedObjectModel {
    Sample.model { person, city in
      guard number > 1 else { return }
      person.properties.removeAll { $0.name == "age" }
      person.properties.append(
        Sample.attribute("rating", .integer16AttributeType, default: 3, isOptional: false))
      (city.name, city.renamingIdentifier) = ("Town", "City")
    }
  }

  private static func withContext<Value>(
    _ number: Int, _ url: URL, _ type: NSPersistentStore.StoreType,
    _ options: [AnyHashable: Any] = [:], bundles: [Bundle] = [],
    _ body: (NSManagedObjectContext) throws -> Value
  ) throws -> Value {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(number))
    coordinator.migrationBundles = bundles
    try coordinator.addPersistentStore(
      type: type, at: url, options: options.merging([NSPersistentStoreTimeoutOption: 0.1]) { $1 })
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    defer { StoreWork.close(context) }
    return try context.performAndWait { try body(context) }
  }

  /// Creates the store of the first version, with persons of a city, and the model of that version.
  func create(in folder: URL) throws {
    let url = Self.store(in: folder)
    try Self.withContext(1, url, type) { context in
      let city = context.make("City", ["name": "London"])
      for index in 0..<4 {
        _ = context.make("Person", ["name": "person \(index)", "age": index, "home": city])
      }
      try context.save()
    }
    if type != .sqlite {
      let model = folder.appendingPathComponent("Bundle/Model.xcdatamodel")
      try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
      try Data(ModelDocument.text(of: Self.version(1)).text.utf8).write(
        to: model.appendingPathComponent("contents"))
    }
    try prepare(url)
  }

  /// The version of the store, its metadata that the work can change, and its content.
  func state(_ folder: URL) throws -> String {
    let url = Self.store(in: folder)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
    let isPending = metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil
    let number = try #require(
      [1, 2].first {
        Self.version($0).isConfiguration(
          withName: nil, compatibleWithStoreMetadata: metadata)
      })
    let content = try Self.withContext(number, url, type) { try OpenCoreDataTests.content(of: $0) }
    return "version \(number), key \(metadata["key"] ?? "none"), pending \(isPending), "
      + content.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
  }

  // MARK: Work

  private static func migration(_ type: NSPersistentStore.StoreType) -> MaintenanceWork {
    MaintenanceWork(
      testDescription: "migration, \(type.rawValue)", type: type,
      run: { url, bundles in
        try withContext(2, url, type, MigratedStore.automatic, bundles: bundles) { _ in }
      })
  }

  private static func metadata(_ type: NSPersistentStore.StoreType) -> MaintenanceWork {
    MaintenanceWork(
      testDescription: "metadata, \(type.rawValue)", type: type,
      run: { url, _ in
        var values = try NSPersistentStoreCoordinator.metadataForPersistentStore(
          type: type, at: url)
        values["key"] = "value"
        try NSPersistentStoreCoordinator.setMetadata(values, type: type, at: url)
      })
  }

  private static func replacement(_ type: NSPersistentStore.StoreType) -> MaintenanceWork {
    MaintenanceWork(
      testDescription: "replacement, \(type.rawValue)", type: type,
      prepare: { url in
        try withContext(1, other(url), type) { context in
          _ = context.make("City", ["name": "Paris"])
          try context.save()
        }
      },
      run: { url, _ in
        try NSPersistentStoreCoordinator(managedObjectModel: version(1)).replacePersistentStore(
          at: url, withPersistentStoreFrom: other(url), type: type)
      })
  }

  private static func other(_ url: URL) -> URL {
    url.deletingLastPathComponent().appendingPathComponent("Other.data")
  }

  private static func deferredMigration() -> MaintenanceWork {
    MaintenanceWork(
      testDescription: "deferred migration",
      prepare: { url in
        var options = MigratedStore.automatic
        options[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
        try withContext(2, url, .sqlite, options) { _ in }
      },
      run: { url, _ in
        try withContext(2, url, .sqlite) { context in
          let coordinator = try #require(context.persistentStoreCoordinator)
          try coordinator.finishDeferredLightweightMigration()
        }
      })
  }

  private static let documents: [NSPersistentStore.StoreType] = [.xml, .binary]

  static let all: [MaintenanceWork] =
    documents.flatMap { [migration($0), metadata($0), replacement($0)] }
    + [metadata(.sqlite), deferredMigration()]
}

@Suite(
  "Failures while documents are migrated and replaced, and while stores are changed by their URL",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct MaintenanceFailureTests {
  @Test(
    "A failure leaves the old or the new store, and the next attempt succeeds",
    arguments: MaintenanceWork.all)
  func failureLeavesAStore(work: MaintenanceWork) throws {
    let fixture = try FailureFixture()
    try work.create(in: fixture.template)
    let before = try work.state(fixture.template)
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      (store: MaintenanceWork.store(in: folder), bundles: MaintenanceWork.bundles(in: folder))
    } _: { prepared in
      try work.run(prepared.store, prepared.bundles)
    }
    let complete = try sweep.withoutFailure().folder
    let after = try work.state(complete)
    #expect(before != after)
    let names = try FailureFixture.names(in: complete)
    var attempts = 0
    for cause in FailingFiles.Cause.allCases {
      // A document doesn't use SQLite.
      guard work.type == .sqlite || cause.kinds.isDisjoint(with: [.statement, .allocation]) else {
        continue
      }
      attempts += try sweep.run(cause) { attempt in
        let name = attempt.description
        do {
          if let error = attempt.error { FailureFixture.check(error, name) }
          let found = try work.state(attempt.folder)
          #expect(found == after || attempt.error != nil && found == before, "\(name)")
          try work.run(attempt.prepared.store, attempt.prepared.bundles)
          #expect(try work.state(attempt.folder) == after, "\(name)")
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
    #expect(attempts >= 2)
  }
}
