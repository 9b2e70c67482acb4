import ManagedModel
import OpenCoreData
import ProfileEvents
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
    "A store that's created elsewhere while it's being created keeps its tables, and its version is checked",
    arguments: [true, false])
  func storeCreatedElsewhere(isSameVersion: Bool) throws {
    let store = try MigratedStore()
    let url = store.url
    // The event is recorded after the file was found to be missing, and before it's created.
    let listener = FirstEventListener(of: { $0.kind == .storeOpening }) {
      let elsewhere = NSPersistentStoreCoordinator(managedObjectModel: Sample.model())
      guard let created = try? elsewhere.addPersistentStore(type: .sqlite, at: url) else { return }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = elsewhere
      context.performAndWait {
        _ = context.make("Person")
        try? context.save()
      }
      try? elsewhere.remove(created)
    }
    let model = isSameVersion ? Sample.model() : Self.other()
    let error = thrownError {
      let context = try store.open(model, options: nil, sink: listener)
      #expect(try context.performAndWait { try context.everyObject(of: "Person").count } == 1)
    }
    let expected = isSameVersion ? nil : NSPersistentStoreIncompatibleVersionHashError
    #expect(error?.code == expected)
    #expect(try store.values("SELECT Z_PK FROM ZPERSON") == [[.integer(1)]])
    #expect(try store.values("SELECT COUNT(*) FROM Z_METADATA") == [[.integer(1)]])
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
