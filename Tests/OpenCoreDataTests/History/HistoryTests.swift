import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@Suite("Persistent history")
struct HistoryTests {
  private static let tracking = [NSPersistentHistoryTrackingKey: true]

  /// A model of items whose name is preserved in the history of deletions.
  private func model() -> NSManagedObjectModel {
    let model = SavingModels.items()
    model.entitiesByName["Item"]?.attributesByName["name"]?.preservesValueInHistoryOnDeletion =
      true
    return model
  }

  private func history(
    _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
  ) throws -> [NSPersistentHistoryTransaction] {
    let result = try context.execute(request) as? NSPersistentHistoryResult
    return result?.result as? [NSPersistentHistoryTransaction] ?? []
  }

  /// Each change as `update /Item/p1 a b`, with the names of the updated properties.
  private func described(_ transactions: [NSPersistentHistoryTransaction]) -> [[String]] {
    transactions.map { transaction in
      (transaction.changes ?? []).map { change in
        let names = change.updatedProperties?.map(\.name).sorted().map { " " + $0 }.joined() ?? ""
        return "\(change.changeType) \(change.changedObjectID.uriRepresentation().path)\(names)"
      }
    }
  }

  @Test("Did-save includes the token of its transaction; an empty save repeats the last token")
  func didSaveNotificationIncludesTheNewToken() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    let saves = NoteList(context, .NSManagedObjectContextDidSave)
    func token(_ index: Int) -> NSPersistentHistoryToken? {
      saves.notes[index].userInfo?[NSManagedObjectContext.newHistoryTokenKey]
        as? NSPersistentHistoryToken
    }
    try context.performAndWait {
      _ = context.make("Item", ["name": "A"])
      try context.save()
      _ = context.make("Item", ["name": "B"])
      try context.save()
      try context.save()
      #expect(saves.notes.count == 3 && token(0) != nil && token(0) != token(1))
      #expect(token(1) == token(2))
      let coordinator = try #require(context.persistentStoreCoordinator)
      #expect(token(1) == coordinator.currentPersistentHistoryToken(fromStores: nil))
      let later = try history(.fetchHistory(after: token(0)), context)
      #expect(described(later) == [["insert /Item/p2"]])
    }
  }

  @Test("Each save is a transaction with its changes, author, and context name")
  func eachSaveIsATransactionWithItsAuthorAndChanges() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context(.error, "importer")
    context.transactionAuthor = "server"
    try context.performAndWait {
      let items = ["A", "B"].map { context.make("Item", ["name": $0]) }
      try context.save()
      items[0].setValue(1, forKey: "a")
      items[0].setValue(2, forKey: "c")
      context.delete(items[1])
      context.transactionAuthor = nil
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.inserts == 0 && cost.updates == 1 && cost.deletes == 1 && cost.transactions == 1)
      let all = try history(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
      #expect(
        described(all) == [
          ["insert /Item/p1", "insert /Item/p2"], ["update /Item/p1 a c", "delete /Item/p2"],
        ])
      #expect(all.map(\.author) == ["server", nil])
      #expect(all.map(\.contextName) == ["importer", "importer"])
      #expect(all.map(\.transactionNumber) == [1, 2])
      #expect(all[1].changes?[1].tombstone as? [String: String] == ["name": "B"])
      #expect(all[1].changes?[0].transaction === all[1])
      #expect(abs(all[0].timestamp.timeIntervalSinceNow) < 60)
      let ids = all[1].objectIDNotification().userInfo?["deleted_objectIDs"]
      #expect((ids as? Set<NSManagedObjectID>)?.count == 1)
    }
  }

  @Test("A request begins after a token, date, or transaction; a predicate filters authors")
  func requestsStartAfterATokenDateOrTransaction() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    try context.performAndWait {
      var tokens: [NSPersistentHistoryToken?] = []
      var dates: [Date] = []
      for author in ["A", "B", "A"] {
        context.transactionAuthor = author
        _ = context.make("Item")
        try context.save()
        tokens.append(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
        dates.append(Date())
      }
      func numbers(_ request: NSPersistentHistoryChangeRequest) throws -> [Int64] {
        try history(request, context).map(\.transactionNumber)
      }
      #expect(try numbers(.fetchHistory(after: tokens[0])) == [2, 3])
      #expect(try numbers(.fetchHistory(after: dates[1])) == [3])
      let all = try history(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
      #expect(try numbers(.fetchHistory(after: all[1])) == [3])
      #expect(all[2].token == tokens[2])
      let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
      fetch.predicate = NSPredicate(format: "author == %@", "A")
      #expect(try numbers(.fetchHistory(withFetch: fetch)) == [1, 3])
      let inserts = try #require(NSPersistentHistoryChange.fetchRequest)
      inserts.predicate = NSPredicate(format: "changeID == 2")
      let picked = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: inserts)
      #expect(try numbers(picked) == [2])
      picked.resultType = .objectIDs
      let ids = (try context.execute(picked) as? NSPersistentHistoryResult)?.result
      #expect((ids as? [NSManagedObjectID])?.count == 1)
      let archived = try NSKeyedArchiver.archivedData(
        withRootObject: #require(tokens[0]), requiringSecureCoding: true)
      let restored = try NSKeyedUnarchiver.unarchivedObject(
        ofClass: NSPersistentHistoryToken.self, from: archived)
      #expect(restored == tokens[0])
      #expect(try numbers(.fetchHistory(after: restored)) == [2, 3])
    }
  }

  @Test("History predicates compare tokens, entities, and the transaction of a change")
  func predicatesCompareTokensAndEntities() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    try context.performAndWait {
      var tokens: [NSPersistentHistoryToken] = []
      for _ in 0..<3 {
        _ = context.make("Item")
        try context.save()
        tokens.append(
          try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil)))
      }
      func numbers(
        _ given: NSFetchRequest<any NSFetchRequestResult>?, _ format: String, _ argument: Any
      ) throws -> [Int64] {
        guard let request = given else { return [] }
        request.predicate = NSPredicate(format: format, argument)
        return try history(.fetchHistory(withFetch: request), context).map(\.transactionNumber)
      }
      typealias Transaction = NSPersistentHistoryTransaction
      typealias Change = NSPersistentHistoryChange
      #expect(try numbers(Transaction.fetchRequest, "token == %@", tokens[1]) == [2])
      #expect(try numbers(Transaction.fetchRequest, "token > %@", tokens[0]) == [2, 3])
      #expect(try numbers(Transaction.fetchRequest, "token <= %@", tokens[1]) == [1, 2])
      #expect(
        try numbers(Transaction.fetchRequest, "token IN %@", [tokens[0], tokens[2]]) == [1, 3])
      #expect(try numbers(Change.fetchRequest, "transaction.token == %@", tokens[2]) == [3])
      let entities = stack.coordinator.managedObjectModel.entitiesByName
      let item = try #require(entities["Item"])
      #expect(try numbers(Change.fetchRequest, "changedEntity == %@", item) == [1, 2, 3])
      #expect(try numbers(Change.fetchRequest, "changedEntity != %@", item) == [])
      #expect(try numbers(Change.fetchRequest, "changedEntity IN %@", [item]) == [1, 2, 3])
      #expect(try numbers(Change.fetchRequest, "changedEntity.name == %@", "Item") == [1, 2, 3])
      let twin = try #require(model().entitiesByName["Item"])
      #expect(try numbers(Change.fetchRequest, "changedEntity == %@", twin) == [1, 2, 3])
    }
  }

  @Test("A change knows its transaction; predicates compare changes for each type of result")
  func changesAndTransactionsReferToEachOther() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    try context.performAndWait {
      context.transactionAuthor = "me"
      let items = (0..<2).map { _ in context.make("Item") }
      try context.save()
      context.delete(items[0])
      try context.save()
      func result(
        _ fetch: NSFetchRequest<any NSFetchRequestResult>?, _ format: String,
        _ type: NSPersistentHistoryResultType
      ) throws -> Any? {
        guard let fetch else { return nil }
        fetch.predicate = NSPredicate(format: format)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = type
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result
      }
      typealias Transaction = NSPersistentHistoryTransaction
      typealias Change = NSPersistentHistoryChange
      let changes = try result(Change.fetchRequest, "changeType == 0", .changesOnly)
      let inserted = try #require(changes as? [Change])
      #expect(inserted.map { $0.transaction?.author } == ["me", "me"])
      #expect(inserted.map { $0.transaction?.transactionNumber } == [1, 1])
      for format in ["changes.@count > 1", "ANY changes.changeType == 0"] {
        #expect(try result(Transaction.fetchRequest, format, .count) as? Int == 1)
        let found = try result(Transaction.fetchRequest, format, .transactionsOnly)
        let transactions = try #require(found as? [Transaction])
        #expect(transactions.map(\.transactionNumber) == [1] && transactions[0].changes == nil)
      }
      let deleting = try result(Change.fetchRequest, "changeType == 2", .transactionsOnly)
      let transactions = try #require(deleting as? [Transaction])
      #expect(transactions.map(\.transactionNumber) == [2] && transactions[0].changes == nil)
    }
  }

  @Test("Deleting history removes earlier transactions; numbers are never reused")
  func deletingHistoryNeverReusesTransactionNumbers() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    try context.performAndWait {
      for _ in 0..<3 {
        _ = context.make("Item")
        try context.save()
      }
      let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
      let after = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      #expect(try history(after, context).map(\.transactionNumber) == [3])
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()))
      #expect(try history(after, context).isEmpty)
      _ = context.make("Item")
      try context.save()
      let left = try history(after, context)
      #expect(left.map(\.transactionNumber) == [4] && left[0].changes?[0].changeID == 4)
    }
  }

  @Test("A token followed by deleted transactions has expired: error 134301")
  func tokenBeforeDeletedTransactionsIsExpired() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    try context.performAndWait {
      var tokens: [NSPersistentHistoryToken?] = []
      for _ in 0..<4 {
        _ = context.make("Item")
        try context.save()
        tokens.append(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
      }
      func numbers(_ token: NSPersistentHistoryToken?) throws -> [Int64] {
        try history(.fetchHistory(after: token), context).map(\.transactionNumber)
      }
      func expired(_ token: NSPersistentHistoryToken?) -> NSError? {
        thrownError { _ = try numbers(token) }
      }
      // The history now begins with the third transaction.
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: tokens[2]))
      #expect(try numbers(tokens[1]) == [3, 4])
      #expect(try numbers(nil) == [3, 4])
      let error = try #require(expired(tokens[0]))
      #expect(error.domain == NSCocoaErrorDomain)
      #expect(error.code == NSPersistentHistoryTokenExpiredError)
      #expect(error.code == 134301)
      let affected = error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
      #expect(affected == stack.coordinator.persistentStores)
      // The history is empty, and nothing after the last token was deleted.
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()))
      #expect(try numbers(tokens[3]) == [])
      #expect(expired(tokens[2])?.code == NSPersistentHistoryTokenExpiredError)
      _ = context.make("Item")
      try context.save()
      #expect(try numbers(tokens[3]) == [5])
      #expect(expired(tokens[2])?.code == NSPersistentHistoryTokenExpiredError)
    }
  }

  @Test("Batch requests are transactions with their changes")
  func batchRequestsAreTransactions() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    try context.performAndWait {
      let insert = NSBatchInsertRequest(
        entityName: "Item", objects: (0..<3).map { ["a": $0, "name": "n\($0)"] })
      try context.execute(insert)
      let update = NSBatchUpdateRequest(entityName: "Item")
      update.predicate = NSPredicate(format: "a < 2")
      update.propertiesToUpdate = ["a": 9]
      try context.execute(update)
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Item")
      fetch.predicate = NSPredicate(format: "a == 2")
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
      let all = try history(.fetchHistory(after: Date.distantPast), context)
      #expect(
        described(all) == [
          ["insert /Item/p1", "insert /Item/p2", "insert /Item/p3"],
          ["update /Item/p1 a", "update /Item/p2 a"], ["delete /Item/p3"],
        ])
      #expect(all.last?.changes?[0].tombstone as? [String: String] == ["name": "n2"])
      // A request that matches no row adds no transaction.
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
      #expect(try history(.fetchHistory(after: Date.distantPast), context).count == 3)
    }
  }

  @Test("A failed save adds no history; a store without tracking has none, a tracked one keeps it")
  func historyRequiresTrackingAndASuccessfulSave() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let context = stack.context()
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    defer { connection.close() }
    try connection.execute(
      "CREATE TRIGGER stop BEFORE INSERT ON ZITEM WHEN NEW.ZA = 7 BEGIN "
        + "SELECT RAISE(ABORT, 'no sevens'); END")
    let token = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
    try context.performAndWait {
      _ = context.make("Item", ["a": Int32(7)])
      #expect(throws: NSError.self) { try context.save() }
      #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: nil) == token)
      let transactions = try history(.fetchHistory(after: Date.distantPast), context)
      #expect(transactions.isEmpty)
    }
    let plain = try stack.foreignContext()
    try plain.performAndWait {
      _ = plain.make("Item")
      try plain.save()
      #expect(try history(.fetchHistory(after: Date.distantPast), plain).count == 1)
    }
    let without = try SharedStack(.sqlite, model())
    let other = without.context()
    try other.performAndWait {
      _ = other.make("Item")
      try other.save()
      #expect(without.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
      #expect(try history(.fetchHistory(after: Date.distantPast), other).isEmpty)
    }
    let memory = try SharedStack(.memory, model()).context()
    memory.performAndWait {
      let error = thrownError { _ = try history(.fetchHistory(after: Date()), memory) }
      #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }
  }

  @Test("The tables have Core Data's names, columns, and numbers")
  func historyTablesHaveCoreDatasNamesAndColumns() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    func columns(_ table: String) throws -> String {
      try connection.values("SELECT name FROM pragma_table_info('\(table)')").flatMap { $0 }
        .map { $0.description.replacing("\"", with: "") }.joined(separator: " ")
    }
    #expect(
      try columns("ACHANGE")
        == "Z_PK Z_ENT Z_OPT ZCHANGETYPE ZENTITY ZENTITYPK ZTRANSACTIONID ZCOLUMNS ZTOMBSTONE0")
    #expect(
      try columns("ATRANSACTION")
        == "Z_PK Z_ENT Z_OPT ZAUTHORTS ZBUNDLEIDTS ZCONTEXTNAMETS ZPROCESSIDTS ZTIMESTAMP ZAUTHOR "
        + "ZBUNDLEID ZCONTEXTNAME ZPROCESSID ZQUERYGEN")
    #expect(try columns("ATRANSACTIONSTRING") == "Z_PK Z_ENT Z_OPT ZNAME")
    #expect(
      try connection.values("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [
        [.integer(16_001), .text("CHANGE")], [.integer(16_002), .text("TRANSACTION")],
        [.integer(16_003), .text("TRANSACTIONSTRING")],
      ])
  }

  @Test("Another coordinator's commit posts a notification with its history token")
  func commitOfAnotherCoordinatorPostsItsToken() async throws {
    let options = [
      NSPersistentHistoryTrackingKey: true,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
    ]
    let stack = try SharedStack(.sqlite, model(), options: options)
    let changes = RemoteChangeList(stack.coordinator)
    let other = try stack.foreignContext()
    for commit in 1...3 {
      try other.performAndWait {
        _ = other.make("Item")
        try other.save()
      }
      let wanted = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
      #expect(try await eventually { changes.tokens.last == "\(wanted)" }, "commit \(commit)")
    }
  }

  @Test("A save of another process posts a notification and can be merged")
  func saveOfAnotherProcessIsPostedAndMerged() async throws {
    let options = [
      NSPersistentHistoryTrackingKey: true,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
    ]
    let stack = try SharedStack(.sqlite, SavingModels.items(), options: options)
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item", ["name": "old"])
      try context.save()
    }
    let notes = LineList()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: stack.coordinator, queue: nil
    ) { note in
      notes.add((note.userInfo?[NSPersistentStoreURLKey] as? URL)?.lastPathComponent ?? "no URL")
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let start = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
    let posted = notes.lines.count
    let path = stack.storeURL.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
      try coordinator.addPersistentStore(
        type: .sqlite, at: URL(fileURLWithPath: path),
        options: [NSPersistentHistoryTrackingKey: true])
      let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      writer.persistentStoreCoordinator = coordinator
      writer.transactionAuthor = "another process"
      try writer.performAndWait {
        try writer.everyObject(of: "Item").first?.setValue("new", forKey: "name")
        try writer.save()
      }
    }
    #expect(try await eventually { notes.lines.count != posted })
    #expect(notes.lines.last == stack.storeURL.lastPathComponent)
    try context.performAndWait {
      let item = try #require(try context.everyObject(of: "Item").first)
      let transactions = try history(.fetchHistory(after: start), context)
      #expect(transactions.map(\.author) == ["another process"])
      for transaction in transactions {
        context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      #expect(item.value(forKey: "name") as? String == "new")
    }
  }

  @Test("A context that's pinned to a query generation reads the newest history")
  func pinnedContextReadsTheNewestHistory() throws {
    let stack = try SharedStack(.sqlite, model(), options: HistoryTests.tracking)
    let (writer, pinned) = (stack.context(), stack.context())
    func insert() throws {
      try writer.performAndWait {
        _ = writer.make("Item")
        try writer.save()
      }
    }
    try insert()
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      #expect(try pinned.everyObject(of: "Item").count == 1)
      try insert()
      let found = try history(.fetchHistory(after: Date.distantPast), pinned)
      #expect(found.map(\.transactionNumber) == [1, 2])
      #expect(try pinned.everyObject(of: "Item").count == 1)
      for item in found { pinned.mergeChanges(fromContextDidSave: item.objectIDNotification()) }
      #expect(try pinned.everyObject(of: "Item").count == 2)
    }
  }

  @Test("A negative offset of a history request is none")
  func negativeOffsetOfAHistoryRequestIsNone() throws {
    let stack = try SharedStack(
      .sqlite, model(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
      let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
      request.fetchOffset = -1
      #expect(try history(.fetchHistory(withFetch: request), context).count == 1)
    }
  }

  @Test("A removed store posts no notifications of commits")
  func removedStorePostsNoNotifications() async throws {
    let options = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
    let stack = try SharedStack(.sqlite, model(), options: options)
    let removed = try #require(stack.coordinator.persistentStores.first)
    let watching = NSPersistentStoreCoordinator(managedObjectModel: model())
    try watching.addPersistentStore(type: .sqlite, at: stack.storeURL, options: options)
    let url = stack.storeURL
    let notes = LineList()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: nil, queue: nil
    ) { note in
      guard note.userInfo?[NSPersistentStoreURLKey] as? URL == url else { return }
      notes.add(note.object == nil ? "removed" : "watching")
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try stack.coordinator.remove(removed)
    let other = try stack.foreignContext()
    for count in 1...5 {
      try other.performAndWait {
        _ = other.make("Item")
        try other.save()
      }
      #expect(try await eventually { notes.lines.filter { $0 == "watching" }.count >= count })
    }
    #expect(!notes.lines.contains("removed"))
    withExtendedLifetime((removed, watching)) {}
  }
}
