import OpenCoreData
import SQLiteDriver
import Testing

@Suite("Gaps in the persistent history")
struct HistoryGapTests {
  @Test("A token is expired by deletions anywhere after it: error 134301")
  func tokenBeforeAGapIsExpired() throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    defer { connection.close() }
    try context.performAndWait {
      var tokens: [NSPersistentHistoryToken?] = []
      for _ in 0..<4 {
        _ = context.make("Item")
        try context.save()
        tokens.append(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
      }
      // The number of transactions after each token, or the error's code.
      func counts() -> [Int] {
        tokens.map { token in
          var count = 0
          let error = thrownError {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            request.resultType = .count
            let result = try context.execute(request) as? NSPersistentHistoryResult
            count = result?.result as? Int ?? -1
          }
          return error?.code ?? count
        }
      }
      #expect(counts() == [3, 2, 1, 0])
      // As if the clock had been wrong: first the third transaction is deleted, then the last one.
      func delete(_ number: Int) throws {
        try connection.execute("UPDATE ATRANSACTION SET ZTIMESTAMP = -1e99 WHERE Z_PK = \(number)")
        let request = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantPast)
        try context.execute(request)
      }
      let expired = NSPersistentHistoryTokenExpiredError
      try delete(3)
      #expect(counts() == [expired, expired, 1, 0])
      try delete(4)
      #expect(counts() == [expired, expired, expired, 0])
      _ = context.make("Item")
      try context.save()
      #expect(counts() == [expired, expired, expired, 1])
    }
  }

  @Test("A token after the last transaction, as in a restored backup, is expired: error 134301")
  func tokenOfANewerFileIsExpired() throws {
    let options = [NSPersistentHistoryTrackingKey: true]
    let stack = try SharedStack(.sqlite, SavingModels.items(), options: options)
    let backup = stack.storeURL.deletingLastPathComponent().appendingPathComponent("Backup.sqlite")
    var tokens: [NSPersistentHistoryToken?] = []
    for isLast in [false, true] {
      let context = try stack.foreignContext(options: options)
      let coordinator = try #require(context.persistentStoreCoordinator)
      try context.performAndWait {
        _ = context.make("Item")
        try context.save()
      }
      tokens.append(coordinator.currentPersistentHistoryToken(fromStores: nil))
      guard !isLast else { continue }
      try NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
        .replacePersistentStore(
          at: backup, withPersistentStoreFrom: stack.storeURL, type: .sqlite)
    }
    let restored = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
    try restored.addPersistentStore(type: .sqlite, at: backup, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = restored
    try context.performAndWait {
      func fetch(_ token: NSPersistentHistoryToken?) -> NSError? {
        thrownError {
          try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
        }
      }
      #expect(restored.currentPersistentHistoryToken(fromStores: nil) == tokens[0])
      #expect(fetch(tokens[0]) == nil)
      #expect(fetch(tokens[1])?.code == NSPersistentHistoryTokenExpiredError)
      _ = context.make("Item")
      try context.save()
      // Nothing distinguishes the token from that of this file's own transaction anymore.
      #expect(fetch(tokens[1]) == nil)
    }
  }
}
