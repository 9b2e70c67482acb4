import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Tables of the persistent history")
struct HistoryTablesTests {
  /// The statements that created the tables and indexes of a store's history.
  private func statements(of stack: SharedStack) throws -> [String] {
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    let rows = try connection.values(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name IN "
        + "('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY type DESC")
    return rows.compactMap { row in
      if case .text(let sql) = row[0] { return sql }
      return nil
    }
  }

  @Test("A store is opened while another process creates the tables of its history")
  func tablesCreatedMeanwhileAreUsed() throws {
    let options = [NSPersistentHistoryTrackingKey: true]
    let statements = try statements(
      of: SharedStack(.sqlite, SavingModels.items(), options: options))
    #expect(statements.count > 3)
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let other = try Connection(path: stack.storeURL.path, access: .writing)
    defer { other.close() }
    try other.execute("BEGIN EXCLUSIVE")
    let (url, lines) = (stack.storeURL, LineList())
    let opening = DispatchQueue(label: "HistoryTablesTests")
    let begun = DispatchSemaphore(value: 0)
    opening.async {
      begun.signal()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
      let error = thrownError {
        try coordinator.addPersistentStore(
          type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
      }
      lines.add(error.map { "\($0)" } ?? "opened")
    }
    begun.wait()
    // It may look for the tables before or after they're created.
    for statement in statements { try other.execute(statement) }
    try other.execute(
      "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (16001, 'CHANGE', 0, 0), "
        + "(16002, 'TRANSACTION', 0, 0), (16003, 'TRANSACTIONSTRING', 0, 0)")
    try other.execute("COMMIT")
    opening.sync {}
    #expect(lines.lines == ["opened"])
    let context = try stack.foreignContext()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
    }
    #expect(try other.values("SELECT COUNT(*) FROM ACHANGE") == [[.integer(1)]])
  }

  @Test("A column that another process adds after the look for it isn't added twice")
  func columnsAddedMeanwhileAreUsed() throws {
    let stack = try SharedStack(
      .sqlite, SavingModels.items(), options: [NSPersistentHistoryTrackingKey: true])
    let path = stack.storeURL.path
    let connection = try Connection(path: path, access: .writing)
    defer { connection.close() }
    let isAdded = Mutex(false)
    // The look for the columns calls it while it reads: LIKE of a pattern and a name.
    try connection.createFunction("like", argumentCount: 2, deterministic: true) { arguments in
      let isFirst = isAdded.withLock { isAdded in
        defer { isAdded = true }
        return !isAdded
      }
      if isFirst {
        let other = try Connection(path: path, access: .writing)
        defer { other.close() }
        try other.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE0")
      }
      guard case .text(let pattern) = arguments[0], case .text(let name) = arguments[1] else {
        return .null
      }
      return .integer(name.hasPrefix(pattern.dropLast()) ? 1 : 0)
    }
    let model = SavingModels.items()
    model.entitiesByName["Item"]?.attributesByName["name"]?.preservesValueInHistoryOnDeletion =
      true
    try HistoryTables.make(on: connection, for: SQLModel(model: model))
    #expect(isAdded.withLock { $0 })
    #expect(try HistoryTables.find(on: connection)?.tombstoneCount == 1)
  }

  @Test("A store that's already open saves to a history that another process creates")
  func openStoresSaveToALaterHistory() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
      #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    }
    let other = try stack.foreignContext(options: [NSPersistentHistoryTrackingKey: true])
    let tracking = try #require(other.persistentStoreCoordinator)
    try context.performAndWait {
      let item = context.make("Item")
      try context.save()
      let token = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
      #expect(tracking.currentPersistentHistoryToken(fromStores: nil) == token)
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      request.resultType = .objectIDs
      let result = try context.execute(request) as? NSPersistentHistoryResult
      #expect(result?.result as? [NSManagedObjectID] == [item.objectID])
    }
  }
}
