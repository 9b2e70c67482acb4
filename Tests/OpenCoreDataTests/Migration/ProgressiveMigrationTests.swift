import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Migration along the versions of a model",
  .enabled(if: SharedData.isHere, SharedData.absence))
struct ProgressiveMigrationTests {
  private static let versions = MoodyFolder.url.appendingPathComponent("Moody.xcdatamodeld")
  /// The versions next to mapping models as Xcode has saved them.
  private static let originals = SharedData.url("moody/Moody.xcdatamodeld")

  private static func store(_ version: Int) throws -> MigratedStore {
    try MigratedStore(
      copying: version == 1 ? "moody/stores/Moody.moody" : "moody/stores/Moody \(version).moody")
  }

  private static func model(_ version: Int) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: versions, version: version == 1 ? "Moody" : "Moody \(version)")
  }

  private static func migrate(
    _ store: MigratedStore, to version: String? = nil, along versions: URL = Self.versions
  ) throws -> Progress {
    ContinentPolicy.registerClass(named: "Migrations.Country5ToCountry6Policy")
    let migration = try ProgressiveMigration(
      storeURL: store.url, versionsURL: versions, to: version)
    try migration.run()
    return migration.progress
  }

  @Test("The steps are planned without changing the store")
  func stepsArePlanned() throws {
    let store = try Self.store(1)
    let bytes = try store.contents()
    let plan = try ProgressiveMigration(
      storeURL: store.url, versionsURL: Self.originals, to: "Moody 6")
    #expect(
      plan.steps.map(\.description) == [
        "Moody to Moody 2, inferred", "Moody 2 to Moody 3, with a mapping model",
        "Moody 3 to Moody 4, with a mapping model", "Moody 4 to Moody 5, with a mapping model",
        "Moody 5 to Moody 6, with a mapping model",
      ])
    #expect(try store.contents() == bytes)
  }

  /// The content of Core Data's store of a version, by the version.
  private static let contents = Result {
    try (2...5).reduce(into: [Int: [String: [String]]]()) { contents, version in
      contents[version] = try content(of: store(version).open(model(version), options: nil))
    }
  }

  /// The content of Core Data's store of the fifth version, migrated to the sixth.
  private static let lastContent = Result { () throws -> [String: [String]] in
    let reference = try store(5)
    _ = try migrate(reference, to: "Moody 6")
    return try content(of: reference.open(model(6), options: nil))
  }

  @Test(
    "S14-19 Stores of all versions get the same content as Core Data's store of the next",
    arguments: 1...5)
  func storesOfAllVersionsAgree(from: Int) throws {
    // The store of the first version takes all steps.
    let versions = from == 1 ? Self.originals : Self.versions
    for target in max(from, 2)...5 {
      let store = try Self.store(from)
      let progress = try Self.migrate(store, to: "Moody \(target)", along: versions)
      #expect(progress.fractionCompleted == 1)
      let expected = try #require(try Self.contents.get()[target])
      #expect(try content(of: store.open(Self.model(target), options: nil)) == expected)
    }
    let store = try Self.store(from)
    _ = try Self.migrate(store, to: "Moody 6", along: versions)
    let model = try Self.model(6)
    let migrated = try content(of: store.open(model, options: nil))
    #expect(migrated["Continent"]?.count == 2)
    #expect(migrated["Mood"]?.count == 4)
    #expect(try migrated == Self.lastContent.get())
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: store.url)
    #expect(metadata[NSStoreUUIDKey] as? String == "374C5961-3E41-43E5-915C-383EA914074C")
    #expect(metadata["io.objc.Moody.CloudKitUserID"] != nil)
  }

  @Test("A mapping model that's in the folder of the versions and in a bundle is used once")
  func mappingModelsAreUsedOnce() throws {
    let bundle = try #require(Bundle(path: MoodyFolder.url.path))
    let (first, second) = (try Self.store(2), try Self.store(2))
    let plan = try ProgressiveMigration(
      storeURL: first.url, versionsURL: Self.versions, to: "Moody 3", bundles: [bundle])
    #expect(plan.steps.map { $0.mappingModels.count } == [1])
    try plan.run()
    let expected = try #require(try Self.contents.get()[3])
    #expect(try content(of: first.open(Self.model(3), options: nil)) == expected)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model(3))
    coordinator.migrationBundles = [bundle, bundle]
    let opened = try coordinator.addPersistentStore(
      type: .sqlite, at: second.url,
      options: [NSMigratePersistentStoresAutomaticallyOption: true])
    try coordinator.remove(opened)
    #expect(try content(of: second.open(Self.model(3), options: nil)) == expected)
  }

  @Test("A migration that's cancelled leaves a version, from which the next goes on")
  func cancelledMigrationIsResumed() throws {
    let store = try Self.store(1)
    let plan = try ProgressiveMigration(
      storeURL: store.url, versionsURL: Self.versions, to: "Moody 3")
    plan.progress.cancel()
    #expect(thrownError { try plan.run() }?.code == NSMigrationCancelledError)
    #expect(
      try ProgressiveMigration(storeURL: store.url, versionsURL: Self.versions, to: "Moody 3").steps
        .count == 2)
    _ = try Self.migrate(store, to: "Moody 3")
    let again = try ProgressiveMigration(
      storeURL: store.url, versionsURL: Self.versions, to: "Moody 3")
    #expect(again.steps.isEmpty)
    try again.run()
    #expect(again.progress.fractionCompleted == 1)
  }

  @Test("Steps that another process has completed in the meantime aren't repeated")
  func completedStepsAreNotRepeated() throws {
    let store = try Self.store(1)
    func plan(_ version: String) throws -> (ProgressiveMigration, EventList) {
      let plan = try ProgressiveMigration(
        storeURL: store.url, versionsURL: Self.versions, to: version)
      let events = EventList()
      plan.eventHub.add(events)
      return (plan, events)
    }
    let (first, _) = try plan("Moody 2")
    let (same, none) = try plan("Moody 2")
    let (longer, one) = try plan("Moody 3")
    try first.run()
    try same.run()
    #expect(none.events.isEmpty)
    #expect(same.progress.fractionCompleted == 1)
    try longer.run()
    let ends = one.events.filter { $0.kind == .migration }
    #expect(ends.count == 1)
    let model = try Self.model(3)
    let expected = try content(of: Self.store(3).open(model, options: nil))
    #expect(try content(of: store.open(model, options: nil)) == expected)
    // No step begins with the version that the store has now.
    let other = try Self.store(1)
    let late = try ProgressiveMigration(
      storeURL: other.url, versionsURL: Self.versions, to: "Moody 2")
    _ = try Self.migrate(other, to: "Moody 5")
    #expect(thrownError { try late.run() }?.code == NSMigrationError)
    #expect(try content(of: other.open(Self.model(5), options: nil))["Mood"]?.isEmpty == false)
  }

  @Test("A store of a later or an unknown version, and a version that doesn't exist, are errors")
  func impossibleMigrationsAreErrors() throws {
    let store = try Self.store(5)
    let later = thrownError {
      _ = try ProgressiveMigration(
        storeURL: store.url, versionsURL: Self.versions, to: "Moody 4")
    }
    #expect(later?.code == NSStagedMigrationBackwardMigrationError)
    let other = try MigratedStore(copying: "stores/SampleModel_V1.sqlite")
    let unknown = thrownError {
      _ = try ProgressiveMigration(storeURL: other.url, versionsURL: Self.versions)
    }
    #expect(unknown?.code == NSMigrationMissingSourceModelError)
    let missing = thrownError {
      _ = try ProgressiveMigration(
        storeURL: store.url, versionsURL: Self.versions, to: "Mody 6")
    }
    #expect(missing?.localizedDescription.contains("Did you mean") == true)
  }
}
