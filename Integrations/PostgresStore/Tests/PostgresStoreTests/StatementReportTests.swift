import CoreDataCosts
import OpenCoreData
import PostgresDriver
import PostgresStore
import Testing

@Suite("Reported statements, and round trips")
struct StatementReportTests {
  /// Two people of one department, in a new store.
  private static func stack() throws -> PostgresStack {
    let stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    try context.performAndWait {
      let people = ["Ann", "Bob"].map { context.insert("Person", ["name": $0]) }
      context.insert("Department", ["name": "Sales", "people": Set(people)])
      try context.save()
    }
    return stack
  }

  @Test func countsAreThoseOfASQLiteStore() throws {
    let stack = try Self.stack()
    let context = try stack.coldContext()
    var people: [NSManagedObject] = []
    let fetch = try costs(of: context) { people = try context.all("Person") }
    expectEqual([fetch.fetches, fetch.selects, fetch.rows, fetch.faults], [1, 1, 2, 0])
    // The statement is prepared, then run, on a connection that was established when the store was
    // opened.
    expectEqual(fetch.roundTrips, 2)
    let hits = costs(of: context) { for person in people { _ = person.name } }
    expectEqual([hits.hits, hits.misses, hits.selects, hits.roundTrips], [2, 0, 0, 0])
    let miss = costs(of: context) {
      for person in people { _ = (person.value(forKey: "department") as? NSManagedObject)?.name }
    }
    expectEqual([miss.misses, miss.selects, miss.roundTrips], [1, 1, 2])
    let save = try costs(of: context) {
      people[0].setValue("Amy", forKey: "name")
      try context.save()
    }
    expectEqual([save.saves, save.updates, save.transactions], [1, 1, 1])
    // BEGIN, the UPDATE and the number of the transaction, prepared and run, and COMMIT.
    expectEqual(save.roundTrips, 6)
  }

  @Test(arguments: [(["department"], 1, 1), (["department.people", "department"], 2, 0)])
  func prefetchesAreReported(paths: [String], prefetches: Int, misses: Int) throws {
    let stack = try Self.stack()
    let context = try stack.coldContext()
    let costs = try costs(of: context) {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.relationshipKeyPathsForPrefetching = paths
      let people = try context.fetch(request)
      let departments = people.compactMap { $0.value(forKey: "department") as? NSManagedObject }
      expectEqual(departments.flatMap { $0.names("people") }, ["Ann", "Bob", "Ann", "Bob"])
    }
    expectEqual([costs.prefetches, costs.misses, costs.selects], [prefetches, misses, 3])
  }

  /// Each round trip takes at least the delay: the time has a lower bound, whatever the machine
  /// does.
  @Test func everyRoundTripIsDelayed() throws {
    let stack = try Self.stack()
    let delay = 0.005
    let context = stack.context(
      try stack.newCoordinator(options: [PostgresRoundTripDelayOption: delay]))
    let begin = ContinuousClock.now
    let costs = try costs(of: context) { _ = try context.all("Person") }
    #expect(ContinuousClock.now - begin >= .seconds(delay * Double(costs.roundTrips)))
    #expect(costs.roundTrips == 2)
  }

  @Test func connectionsReportTheirExchanges() throws {
    let exchanges = Exchanges()
    let connection = try PostgresConnection(TestServer.settings) { exchanges.add($0) }
    _ = exchanges.take()
    let values: [PostgresValue] = [
      .integers([1, 2]), .text("a\"b"), .array(.text, [.text("x\"y")]),
    ]
    for trips in [2, 1] {
      try connection.query("SELECT $1::bigint[], $2::text, $3::text[]", values)
      let exchange = try #require(exchanges.take().first)
      #expect((exchange.roundTrips, exchange.rows) == (trips, 1))
      expectEqual(exchange.parameters.map(\.text), ["{1,2}", "\"a\"b\"", #"{"x\"y"}"#])
    }
    #expect(throws: PostgresError.self) { try connection.query("SELECT 1/0") }
    expectEqual(exchanges.take().map(\.roundTrips), [2])
    try connection.transaction { _ = try connection.query("SELECT 1") }
    expectEqual(
      exchanges.take().map(\.sql),
      ["BEGIN ", "SELECT 1", "SELECT pg_current_xact_id_if_assigned()::text", "COMMIT"])
  }
}

/// The exchanges of a connection.
private final class Exchanges: @unchecked Sendable {
  // used by one thread
  private var list: [PostgresExchange] = []

  func add(_ exchange: PostgresExchange) { list.append(exchange) }

  func take() -> [PostgresExchange] {
    defer { list = [] }
    return list
  }
}
