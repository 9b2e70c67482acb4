import CoreDataCosts
import OpenCoreData
import ProfileEvents
import Testing

@Suite("Operations, as a program observes them")
struct OperationTests {
  @Test func aFetchContainsItsSelectAndItsPrefetches() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(12, countries: 3)
    let context = try stack.coldContext()
    context.name = "list"
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try context.performAndWait {
      _ = try Mood.fetch(in: context) { $0.relationshipKeyPathsForPrefetching = ["country"] }
    }
    let operations = list.take()
    #expect(
      operations.map(\.outline) == [
        "fetch Mood 12 [statement Mood 12, prefetch Mood.country 3 [statement Country 3]]"
      ])
    let fetch = try #require(operations.first)
    #expect(fetch.costs.selects == 2 && fetch.costs.rows == 15 && fetch.costs.prefetches == 1)
    #expect(fetch.costs.fetches == 1 && fetch.omitted == 0 && fetch.failure == nil)
    #expect(fetch.context == "list" && fetch.sql == nil)
    let select = try #require(fetch.operations.first)
    #expect(select.sql?.hasPrefix("SELECT 0, t0.Z_PK") == true)
    #expect(select.begin >= fetch.begin && select.duration <= fetch.duration)
    #expect(select.begin + select.duration <= fetch.begin + fetch.duration)
    let age = Date().timeIntervalSince1970 - Double(fetch.begin) / 1e9
    #expect(age >= 0 && age < 600)
  }

  @Test func eachFaultIsAnOperationWithItsSource() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(6, countries: 3)
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try context.performAndWait {
      for mood in try Mood.fetch(in: context) { _ = mood.country?.updatedAt }
    }
    let operations = list.take()
    #expect(operations.count { $0.kind == .fault } == 9)
    let read = operations.filter { $0.source == .store }.map(\.outline)
    #expect(read == Array(repeating: "fault Country store 1 [statement Country 1]", count: 3))
    let cached = operations.filter { $0.source == .rowCache }.map(\.outline)
    #expect(cached == Array(repeating: "fault Mood rowCache 1", count: 6))
    try context.performAndWait {
      context.reset()
      let country = try #require(try Country.fetch(in: context) { $0.fetchLimit = 1 }.first)
      #expect(country.moods.count == 2)
    }
    #expect(
      list.take().map(\.outline) == [
        "fetch Country 1 [statement Country 1]", "fault Country rowCache 1",
        "relationshipFault Country.moods store 2 [statement Mood 2]",
      ])
  }

  @Test func theExecutionsOfAStatementInASaveAreOneOperation() throws {
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    try context.performAndWait {
      for number in 1...1_500 {
        let country = Country(context: context)
        country.numericISO3166Code = Int16(number)
        let mood = Mood(context: context)
        (mood.date, mood.colors, mood.country) = (Date(), Data([1]), country)
      }
      try context.save()
    }
    let save = try #require(list.take().first)
    #expect(
      save.operations.map { $0.operations.map(\.outline).sorted() } == [
        [], ["statement Country 0 ×1500", "statement Mood 0 ×1500"],
      ])
    #expect(save.kind == .save && save.rows == 3_000 && save.omitted == 0)
    #expect(save.costs.inserts == 3_000 && save.costs.transactions == 2 && save.costs.saves == 1)
    for transaction in save.operations {
      #expect(transaction.operations.reduce(0) { $0 + $1.duration } <= transaction.duration)
    }
  }

  @Test func allCostsAreReported() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(40, countries: 8)
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    let costs = costs(of: coordinator) {
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        let own = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        own.persistentStoreCoordinator = coordinator
        own.name = "\(number)"
        own.performAndWait {
          for _ in 0..<5 {
            for mood in (try? Mood.fetch(in: own)) ?? [] { _ = mood.country?.moods.count }
            own.reset()
          }
        }
      }
    }
    let operations = list.take()
    func sum(_ count: KeyPath<Costs, Int>) -> Int {
      operations.reduce(0) { $0 + $1.costs[keyPath: count] }
    }
    #expect(sum(\.fetches) == 20 && costs.fetches == 20)
    #expect(sum(\.faults) == costs.faults && sum(\.misses) == costs.misses)
    #expect(sum(\.rows) == costs.rows && sum(\.selects) == costs.selects && costs.selects > 20)
    for operation in operations {
      #expect(operation.operations.allSatisfy { $0.context == operation.context })
    }
  }

  @Test func operationsBeyondTheLimitAreCounted() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let context = try stack.coldContext()
    let (list, observation) = try OperationList.observing(context)
    defer { observation.cancel() }
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { _ in
      // On the context's queue, inside of the event of the notification.
      for _ in 0..<1_010 { _ = try? Mood.fetch(in: context) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.performAndWait {
      try #require(try Mood.fetch(in: context).first).latitude = 1
      _ = list.take()
      try context.save()
    }
    let operations = list.take()
    #expect(operations.count == 1_001 && operations.first?.kind == .save)
    #expect(operations.dropFirst().allSatisfy { $0.kind == .fetch })
    #expect(operations.reduce(0) { $0 + $1.costs.fetches } == 1_010)
    // Ten fetches, and their statements.
    #expect(operations.reduce(0) { $0 + $1.omitted } == 20)
  }

  /// Returns an event that ended on a thread.
  private func event(_ id: Int, in parent: Int, _ kind: EventKind, trips: Int = 0) -> Event {
    var event = Event(
      id: id, parent: parent, kind: kind, begin: UInt64(id), duration: 1, thread: 7)
    if kind == .statement {
      event.statement = StatementRecord(kind: .select, sql: "SELECT \(id)")
    }
    event.roundTrips = trips
    return event
  }

  @Test func whatIsNotListedIsCountedInTheOperationAroundIt() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    let list = OperationList()
    let observation = coordinator.observeOperations { list.add($0) }
    defer { observation.cancel() }
    let hub = coordinator.eventHub
    for id in 2...1_011 { hub.emit(event(id, in: 1, .statement)) }
    hub.emit(event(1_012, in: 1, .roundTrip, trips: 5))
    hub.emit(event(1, in: 0, .fetch))
    let fetch = try #require(list.take().first)
    #expect(fetch.operations.count == 1_000 && fetch.omitted == 10)
    #expect(fetch.costs.selects == 1_010 && fetch.costs.roundTrips == 5)
    #expect(fetch.operations.allSatisfy { $0.costs.selects == 1 && $0.costs.roundTrips == 0 })
    // Fetches with a statement each, in an operation of another context that's still running.
    for id in stride(from: 2_001, to: 4_011, by: 2) {
      hub.emit(event(id + 1, in: id, .statement))
      hub.emit(event(id, in: 2_000, .fetch))
    }
    hub.emit(event(5_000, in: 0, .fetch))
    hub.emit(event(2_000, in: 0, .notification))
    let first = try #require(list.take().last)
    #expect(first.operations.count == 1 && first.omitted == 2_008)
    #expect(first.costs.fetches == 1_005 && first.costs.selects == 1_005)
  }

  @Test func nothingIsReportedAfterTheEnd() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(3, countries: 1)
    let context = try stack.coldContext()
    let (list, canceled) = try OperationList.observing(context)
    var released = try OperationList.observing(context).observation as CoreDataObservation?
    let other = try OperationList.observing(context)
    func fetch() throws {
      _ = try context.performAndWait { try Mood.fetch(in: context) }
    }
    try fetch()
    #expect(list.all.count == 1 && other.operations.all.count == 1 && released != nil)
    canceled.cancel()
    canceled.cancel()
    released = nil
    try fetch()
    #expect(list.all.count == 1 && other.operations.all.count == 2)
    other.observation.cancel()
    try fetch()
    #expect(other.operations.all.count == 2)
    let coordinator = try #require(context.persistentStoreCoordinator)
    #expect(!coordinator.eventHub.isListening)
  }
}
