import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("The version of a store is checked before its file is changed")
struct VersionCheckTests {
  private typealias Sample = LightweightMigrationTests

  private static func other() -> NSManagedObjectModel {
    Sample.model { person, _ in person.properties.removeAll { $0.name == "age" } }
  }

  private static func close(_ context: NSManagedObjectContext) throws {
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  private static func check(_ store: MigratedStore, _ options: [AnyHashable: Any]?) throws {
    let contents = try store.contents()
    let error = thrownError { _ = try store.open(other(), options: options) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(try store.contents() == contents)
  }

  @Test("A store without a WAL stays byte-identical if its version is another one")
  func storeWithoutAWALIsUnchanged() throws {
    let store = try Sample.store()
    let journal = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
    try Self.close(store.open(Sample.model(), options: journal))
    try Self.check(store, nil)
    #expect(try DatabaseHeader(path: store.url.path).usesLog == false)
    // A store of the version is switched to WAL mode.
    try Self.close(store.open(Sample.model(), options: nil))
    #expect(try DatabaseHeader(path: store.url.path).usesLog)
  }

  @Test("Pragmas and maintenance don't change a store of another version")
  func optionsDoNotChangeTheFile() throws {
    let store = try Sample.store()
    try Self.check(store, [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    try Self.check(store, [NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true])
  }

  @Test(
    "A store of 2008 stays byte-identical if the model is another one",
    .enabled(if: SharedData.isHere, SharedData.absence))
  func oldStoreIsUnchanged() throws {
    let store = try MigratedStore(copying: "stores/Recipes.sqlite")
    let contents = try store.contents()
    let error = thrownError { _ = try store.open(Sample.model(), options: nil) }
    #expect(error != nil)
    #expect(try store.contents() == contents)
  }
}
