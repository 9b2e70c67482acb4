import OpenCoreData
import SQLiteDriver
import Testing

@Suite("Remote changes of stores that are opened read-only")
struct ReadOnlyChangeTests {
  /// Opens a stack's store read-only, with remote change notifications.
  private func readOnlyCoordinator(
    of stack: SharedStack
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
    try coordinator.addPersistentStore(
      type: .sqlite, at: stack.storeURL,
      options: [
        NSReadOnlyPersistentStoreOption: true,
        NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
      ])
    return coordinator
  }

  @Test("Commits of others are posted with their tokens, and no file is created for that")
  func commitsArePostedAndNoFileIsCreated() async throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    let folder = stack.storeURL.deletingLastPathComponent().path
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder)
    }
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    #expect(try names() == ["Store.sqlite"])
    let coordinator = try readOnlyCoordinator(of: stack)
    #expect(try names() == ["Store.sqlite"])
    let changes = RemoteChangeList(coordinator)
    let other = try stack.foreignContext()
    for commit in 1...3 {
      try other.performAndWait {
        _ = other.make("Item")
        try other.save()
      }
      let writing = try #require(other.persistentStoreCoordinator)
      let token = try #require(writing.currentPersistentHistoryToken(fromStores: nil))
      #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == token)
      #expect(try await eventually { changes.tokens.last == "\(token)" }, "commit \(commit)")
    }
  }

  @Test("A history that another process creates later is read, and its tokens are posted")
  func laterHistoryIsRead() async throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let coordinator = try readOnlyCoordinator(of: stack)
    #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    let changes = RemoteChangeList(coordinator)
    let other = try stack.foreignContext(options: [NSPersistentHistoryTrackingKey: true])
    try other.performAndWait {
      _ = other.make("Item")
      try other.save()
    }
    let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
    #expect(try await eventually { changes.tokens.last == "\(token)" })
  }

  @Test("The deletion of a rollback journal, which commits its transaction, is posted")
  func deletionOfAJournalIsPosted() async throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(),
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item", ["name": "old"])
      try context.save()
    }
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    // As if a process had stopped between writing the file and deleting the journal. Without
    // syncing, the journal is complete before the commit.
    let writer = try Connection(
      path: stack.storeURL.path, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE"), ("synchronous", "OFF")]))
    try writer.execute("BEGIN")
    try writer.execute("UPDATE ZITEM SET ZNAME = 'new'")
    let journal = URL(fileURLWithPath: stack.storeURL.path + "-journal")
    let pages = try Data(contentsOf: journal)
    try writer.execute("COMMIT")
    writer.close()
    try pages.write(to: journal)
    let coordinator = try readOnlyCoordinator(of: stack)
    func names() throws -> [String] {
      let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      reader.persistentStoreCoordinator = coordinator
      return try reader.performAndWait {
        try reader.everyObject(of: "Item").compactMap { $0.value(forKey: "name") as? String }
      }
    }
    #expect(try names() == ["old"])
    let changes = RemoteChangeList(coordinator)
    try FileManager.default.removeItem(at: journal)
    #expect(try await eventually { changes.tokens.last == "no token" })
    #expect(try names() == ["new"])
  }

  @Test("A commit is posted even if the kernel has discarded its events")
  func commitWithoutEventsIsPosted() async throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let coordinator = try readOnlyCoordinator(of: stack)
    let (notes, end) = (LineList(), DispatchSemaphore(value: 0))
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { _ in
      notes.add("changed")
      if notes.lines.count == 1 { _ = end.waitForSignal() }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    // One event, whose observer keeps the others in the kernel's queue.
    _ = FileManager.default.createFile(atPath: stack.storeURL.path + "-journal", contents: nil)
    #expect(try await eventually { notes.lines.count == 1 })
    try Self.fillEventQueue(in: stack.storeURL.deletingLastPathComponent())
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
    }
    end.signal()
    #expect(try await eventually { notes.lines.count > 1 })
    withExtendedLifetime(coordinator) {}
  }

  /// Writes to two files in turn: the kernel combines equal events that follow each other.
  private static func fillEventQueue(in folder: URL) throws {
    let limit = try? String(
      contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let count = limit.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 16_384
    let files = try ["a", "b"].map { name in
      let file = folder.appendingPathComponent(name)
      try Data().write(to: file)
      return try FileHandle(forWritingTo: file)
    }
    for index in 0...count { try files[index % 2].write(contentsOf: Data([0])) }
    for file in files { try file.close() }
  }
}
