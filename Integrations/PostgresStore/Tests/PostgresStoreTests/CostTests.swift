import Foundation
import PostgresFixtures
import Testing

@Suite("Statements and round trips", .serialized)
struct CostTests {
  private static let application = "cost"

  /// Returns the exchanges of the second run of a workload, whose statements are prepared.
  private func exchanges(
    _ workload: (MoodStore, (() throws -> Void) throws -> Void) throws -> Void
  ) throws -> [ServerLog.Exchange] {
    let path = try #require(
      ProcessInfo.processInfo.environment["POSTGRES_STORE_TEST_LOG"], "run test.sh")
    let uri = ServerLog.uri(TestServer.uri, application: Self.application)
    let store = try MoodStore(uri: uri, schema: "cost_" + UUID().uuidString)
    defer { try? store.destroy() }
    try store.fill(3_000)
    var log = try ServerLog(URL(fileURLWithPath: path), application: Self.application)
    var found: [ServerLog.Exchange] = []
    for _ in 0..<2 {
      try workload(store) { body in
        _ = try log.take()
        try body()
        found = try log.take()
      }
    }
    return found
  }

  @Test("A fetch of all rows is one statement in one round trip")
  func fetchIsOneRoundTrip() throws {
    let found = try exchanges { store, measure in
      let count = try store.fetch(measuring: measure)
      #expect(count == 3_000)
    }
    #expect(found.count == 1)
    #expect(found.first?.statement?.hasPrefix("SELECT t0.z_pk, t0.z_ent, t0.z_opt, ") == true)
  }

  @Test("Each fault without a cached row is one statement in one round trip")
  func faultsAreOneRoundTripEach() throws {
    let found = try exchanges { store, measure in
      let count = try store.fireFaults(200, measuring: measure)
      #expect(count == 200)
    }
    #expect(found.count == 200)
    #expect(Set(found).count == 1)
    #expect(found.first?.statement?.hasSuffix("WHERE t0.z_pk = ANY($1)") == true)
  }

  @Test("A save writes 1,000 rows with one statement, in one transaction")
  func savesWriteManyRowsAtOnce() throws {
    let inserts = try exchanges { try $0.insert(2_500, measuring: $1) }.compactMap(\.statement)
    #expect(
      inserts.map { String($0.prefix(11)) } == [
        "SELECT next", "BEGIN ", "INSERT INTO", "INSERT INTO", "INSERT INTO", "SELECT pg_c",
        "COMMIT",
      ])
    let updates = try exchanges { try $0.update(2_500, measuring: $1) }
    #expect(updates.allSatisfy { $0.statement != nil })
    #expect(
      updates.compactMap(\.statement).map { String($0.prefix(6)) } == [
        "BEGIN ", "UPDATE", "UPDATE", "UPDATE", "SELECT", "COMMIT",
      ])
  }
}
