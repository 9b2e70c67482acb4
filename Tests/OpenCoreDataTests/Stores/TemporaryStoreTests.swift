import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Temporary stores of replacements, conversions, and migrations")
struct TemporaryStoreTests {
  private typealias Sample = LightweightMigrationTests

  @Test("A temporary store stays as long as its operation runs, whatever others do")
  func runningOperationKeepsItsStore() throws {
    let store = try Sample.store()
    let names = try Set(store.contents().keys)
    let first = TemporaryStore(replacing: store.url)
    try Data("first".utf8).write(to: first.url)
    #expect(!InterruptedMigrationFiles(of: store.url).removeTemporaryStores())
    let second = TemporaryStore(replacing: store.url)
    #expect(first.url != second.url)
    try Data("second".utf8).write(to: second.url)
    second.remove()
    // The store is opened and closed elsewhere.
    try store.migrate(to: Sample.model())
    #expect(FileManager.default.fileExists(atPath: first.url.path))
    #expect(!FileManager.default.fileExists(atPath: second.url.path))
    first.remove()
    #expect(try Set(store.contents().keys) == names)
  }

  @Test("A copy that can't be created isn't taken for a full disk, and the error names its URL")
  func missingFolderIsNotAFullDisk() throws {
    let stack = try TestStack(model: TestModels.company())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let url = stack.folder.appendingPathComponent("none/Copy.sqlite")
    let errors = [
      thrownError {
        try coordinator.replacePersistentStore(
          at: url, withPersistentStoreFrom: stack.storeURL, type: .sqlite)
      },
      thrownError { try coordinator.migratePersistentStore(store, to: url, type: .sqlite) },
    ]
    for error in errors {
      #expect(error?.code == CocoaError.Code.fileWriteUnknown.rawValue)
      let message = try #require(error?.localizedDescription)
      #expect(message.contains("couldn't create \(url.path): "), "\(message)")
    }
    #expect(coordinator.persistentStores == [store])
  }

  /// Begins an operation, and kills the process before the store is complete.
  private static func begin(at path: String) throws {
    let temporary = TemporaryStore(replacing: URL(fileURLWithPath: path))
    try Data("begun".utf8).write(to: temporary.url)
    _ = Glibc.kill(getpid(), SIGKILL)
  }

  @Test(
    "A temporary store that a killed process left is removed when the store is opened",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func storeOfAKilledProcessIsRemoved(type: NSPersistentStore.StoreType) async throws {
    let store = try MigratedStore()
    func open() throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sample.model())
      let opened = try coordinator.addPersistentStore(type: type, at: store.url)
      try coordinator.remove(opened)
    }
    try open()
    let names = try Set(store.contents().keys)
    let path = store.url.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try TemporaryStoreTests.begin(at: path)
    }
    #expect(try store.contents().count == names.count + 2)
    try open()
    #expect(try Set(store.contents().keys) == names)
  }
}
