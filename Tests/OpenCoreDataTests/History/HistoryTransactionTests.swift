import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Transactions of the persistent history")
struct HistoryTransactionTests {
  private struct Stop: Error {}

  @Test("The token of a save doesn't include a transaction that isn't committed")
  func uncommittedTransactionsAreInNoToken() throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      let item = context.make("Item")
      try context.save()
      let token = try #require(stack.coordinator.historyToken(afterSave: true))
      let store = try #require(stack.coordinator.persistentStores.first as? SQLiteStore)
      var during: NSPersistentHistoryToken?
      #expect(throws: Stop.self) {
        try store.pool.withWriter { connection in
          try record(item, in: store, on: connection) {
            during = stack.coordinator.historyToken(afterSave: true)
          }
        }
      }
      #expect(during == token)
      #expect(stack.coordinator.historyToken(afterSave: true) == token)
    }
  }

  /// An item that runs a closure after it was saved, once.
  private final class RacingItem: NSManagedObject {
    nonisolated(unsafe) static var afterSave: (() -> Void)?

    override func didSave() {
      super.didSave()
      let body = RacingItem.afterSave
      RacingItem.afterSave = nil
      body?()
    }
  }

  @Test("The token of a save doesn't include what another context saves before it's posted")
  func laterTransactionsAreNotInTheToken() throws {
    RacingItem.registerClass(named: "RacingItem")
    let model = SavingModels.items()
    model.entitiesByName["Item"]?.managedObjectClassName = "RacingItem"
    let stack = try SharedStack(.sqlite, model, options: [NSPersistentHistoryTrackingKey: true])
    let (context, other) = (stack.context(), stack.context())
    let saves = NoteList(context, .NSManagedObjectContextDidSave)
    var failure: NSError?
    RacingItem.afterSave = {
      other.performAndWait {
        _ = other.make("Item")
        failure = other.saveError()
      }
    }
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
      #expect(failure == nil && saves.notes.count == 1)
      let token = try #require(
        saves.notes.first?.userInfo?[NSManagedObjectContext.newHistoryTokenKey]
          as? NSPersistentHistoryToken)
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let later = result?.result as? [NSPersistentHistoryTransaction]
      #expect(later?.map(\.transactionNumber) == [2])
    }
  }

  /// Records a deletion in a transaction that's rolled back.
  private func record(
    _ object: NSManagedObject, in store: SQLiteStore, on connection: Connection,
    _ body: () -> Void
  ) throws {
    let scope = ProfileScope(hub: EventHub())
    try store.transaction(on: connection, in: scope) {
      let tables = try #require(try store.historyTables(on: connection))
      let writer = try HistoryWriter(store, tables, connection, scope)
      try writer.record(.delete, object)
      try writer.finish()
      body()
      throw Stop()
    }
  }

  @Test("After a deletion of history that couldn't begin, events aren't nested in it")
  func failedBeginningEndsItsEvent() throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(),
      options: [NSPersistentHistoryTrackingKey: true, NSPersistentStoreTimeoutOption: 0])
    let other = try Connection(path: stack.storeURL.path, access: .writing)
    defer { other.close() }
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
      try other.execute("BEGIN EXCLUSIVE")
      let request = NSPersistentHistoryChangeRequest.deleteHistory(before: Date())
      #expect(thrownError { try context.execute(request) } != nil)
      try other.execute("ROLLBACK")
      let before = stack.events.events.count
      _ = try context.everyObject(of: "Item")
      let fetch = stack.events.events.dropFirst(before).first { $0.kind == .fetch }
      #expect(fetch?.parent == 0)
    }
  }

  @Test("History is deleted next to a read-only store that has none")
  func historyIsDeletedNextToAReadOnlyStore() throws {
    let other = try SharedStack(.sqlite, SavingModels.items())
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    try stack.coordinator.addPersistentStore(
      type: .sqlite, at: other.storeURL, options: [NSReadOnlyPersistentStoreOption: true])
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
      let request = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
      request.resultType = .count
      let result = try context.execute(request) as? NSPersistentHistoryResult
      #expect(result?.result as? Int == 1)
    }
    withExtendedLifetime(other) {}
  }

  @Test("The current token is that of the last transaction, even if the file counts fewer")
  func currentTokenFollowsTheTransactions() throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      for _ in 0..<3 {
        _ = context.make("Item")
        try context.save()
      }
      let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      let connection = try Connection(path: stack.storeURL.path, access: .writing)
      defer { connection.close() }
      try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'TRANSACTION'")
      #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: nil) == token)
    }
  }

  @Test("A request with a limit reads the history up to the last match it needs")
  func limitEndsTheReading() throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
      try repeatTransaction(upTo: 1_000, in: stack.storeURL)
      func numbers(
        _ predicate: NSPredicate?, limit: Int, offset: Int = 0
      ) throws -> [Int64] {
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        (fetch.predicate, fetch.fetchLimit, fetch.fetchOffset) = (predicate, limit, offset)
        let result = try context.execute(
          NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch))
        let found = (result as? NSPersistentHistoryResult)?.result
        let transactions = try #require(found as? [NSPersistentHistoryTransaction])
        #expect(transactions.allSatisfy { $0.changes?.count == 1 })
        return transactions.map(\.transactionNumber)
      }
      let calls = LineList()
      let counting = NSPredicate { _, _ in
        calls.add("call")
        return true
      }
      #expect(try numbers(counting, limit: 2, offset: 1) == [2, 3])
      #expect(calls.lines.count <= 200)
      #expect(try numbers(nil, limit: 1, offset: 999) == [1_000])
      let late = NSPredicate(format: "transactionNumber > 150")
      #expect(try numbers(late, limit: 2) == [151, 152])
      #expect(try numbers(late, limit: 5_000) == Array(151...1_000))
      let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
      (fetch.predicate, fetch.fetchLimit) = (NSPredicate(format: "changeID > 400"), 1)
      let changes = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
      changes.resultType = .changesOnly
      let found = (try context.execute(changes) as? NSPersistentHistoryResult)?.result
      #expect((found as? [NSPersistentHistoryChange])?.map(\.changeID) == [401])
    }
  }

  /// Copies the first transaction, which has one change, until there are as many.
  private func repeatTransaction(upTo count: Int, in store: URL) throws {
    let connection = try Connection(path: store.path, access: .writing)
    defer { connection.close() }
    for (table, keys) in [("ATRANSACTION", ["Z_PK"]), ("ACHANGE", ["Z_PK", "ZTRANSACTIONID"])] {
      let others = try connection.values("SELECT name FROM pragma_table_info('\(table)')")
        .compactMap { row -> String? in
          guard case .text(let name)? = row.first, !keys.contains(name) else { return nil }
          return name
        }
      let columns = (keys + others).joined(separator: ", ")
      let values = (keys.map { _ in "i" } + others).joined(separator: ", ")
      try connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
          + "INSERT INTO \(table)(\(columns)) SELECT \(values) FROM n, \(table) WHERE Z_PK = 1")
    }
  }

  @Test("A copied history request is independent of the original")
  func copiedHistoryRequestIsIndependent() throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      for author in ["A", "B", "B"] {
        context.transactionAuthor = author
        _ = context.make("Item")
        try context.save()
      }
      let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
      fetch.predicate = NSPredicate(format: "author == 'B'")
      let original = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
      original.resultType = .count
      let copy = try #require(original.copy() as? NSPersistentHistoryChangeRequest)
      fetch.predicate = nil
      original.resultType = .statusOnly
      let result = try context.execute(copy) as? NSPersistentHistoryResult
      #expect(result?.result as? Int == 2)
    }
  }
}
