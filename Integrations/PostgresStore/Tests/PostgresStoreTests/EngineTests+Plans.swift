import EngineInterface
import OpenCoreData
import PostgresDriver
import PostgresEngine
import PostgresStore
import Testing

import class ManagedModel.NSManagedObjectModel

extension EngineTests {
  /// A store of an entity whose name has a space and a word of plans, with three rows.
  private static func scans(
    isUnique: Bool = false
  ) throws -> (server: PostgresServer, url: URL, NSManagedObjectModel) {
    let server = try PostgresServer(TestServer.uri)
    let entity = SampleModels.entity(
      "My Scan", [SampleModels.attribute("name", .stringAttributeType)])
    if isUnique { entity.uniquenessConstraints = [["name"]] }
    let model = SampleModels.model([entity])
    let url = try server.makeStoreURL()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .postgres, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for name in ["x", "\u{301}y", "z"] { context.insert("My Scan", ["name": name]) }
      try context.save()
    }
    return (server, url, model)
  }

  @Test func plansNameTablesAndCountTheRowsOfScansOnly() throws {
    let (server, url, model) = try Self.scans()
    defer { server.removeAllStores() }
    try withExtendedLifetime(model) {
      func plan(_ sql: String, _ values: [String], isQuery: Bool) throws -> ServerPlan {
        let statement = ServerStatement(sql: sql, values: values, isQuery: isQuery, rows: 1)
        return try server.plans(of: [statement], at: url, copiedFrom: url)[0]
      }
      // The last two begin with a combining mark, and look like a part of a plan.
      for (value, removed) in [("x", 2), ("\u{301}y", 2), ("a (actual rows=900 loops=1)", 3)] {
        let found = try plan(
          "SELECT * FROM \"My Scan\" t0 WHERE name = $1", ["\"\(value)\""], isQuery: true)
        expectEqual(
          found.assessment, "Reads all 3 rows of \"My Scan\" and discards \(removed).")
        expectEqual(found.cost, 3)
      }
      let update = "UPDATE \"My Scan\" t SET z_opt = z_opt + 1 RETURNING z_pk"
      expectEqual(try plan(update, [], isQuery: false).cost, 3)
    }
  }

  @Test func indexesMayHaveLongNamesAndNamesWithSpaces() throws {
    let (server, url, model) = try Self.scans()
    defer { server.removeAllStores() }
    let schema = try #require(
      URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.last?.value)
    // So many that the server prefers an index.
    try TestServer.connection().execute(
      "INSERT INTO \(schema).\"My Scan\" (z_pk, z_ent, z_opt, name) "
        + "SELECT n, 1, 1, 'n' || n FROM generate_series(1000, 9000) n")
    try withExtendedLifetime(model) {
      let trials = try server.makeIndexTrials(at: url, model: model)
      let index = TrialIndex(
        table: "My Scan", columns: ["name"], isDescending: [false], notNull: nil)
      let long = "Z_My Scan_by" + String(repeating: "Name", count: 20)
      #expect(trials.makeIndex(index, named: long))
      #expect(trials.size(ofIndexNamed: long) != nil)
      #expect(trials.sql(of: index, named: long).hasPrefix("CREATE INDEX \"Z_My Scan_byName"))
      trials.dropIndex(named: long)
      #expect(trials.size(ofIndexNamed: long) == nil)
      let name = "by \"name\""
      #expect(trials.makeIndex(index, named: name))
      let search = ServerStatement(
        sql: "SELECT * FROM \"My Scan\" WHERE name = $1", values: ["\"n7777\""], isQuery: true)
      #expect(try #require(trials.measure(search)).indexes == [name])
    }
  }

  /// The order of a fetch has NULLs at the other end.
  @Test func indexOfAConstraintDoesNotServeOrders() throws {
    let (server, url, model) = try Self.scans(isUnique: true)
    defer { server.removeAllStores() }
    let schema = try #require(
      URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.last?.value)
    try TestServer.connection().execute(
      "INSERT INTO \(schema).\"My Scan\" (z_pk, z_ent, z_opt, name) "
        + "SELECT n, 1, 1, 'n' || n FROM generate_series(1000, 9000) n")
    try withExtendedLifetime(model) {
      let trials = try server.makeIndexTrials(at: url, model: model)
      #expect(!trials.presentIndexes.contains { $0.columns == ["name"] })
      let sorted = ServerStatement(
        sql: "SELECT * FROM \"My Scan\" t0 ORDER BY t0.name ASC NULLS FIRST LIMIT 5", values: [],
        isQuery: true)
      #expect(try #require(trials.measure(sorted)).indexes.isEmpty)
      let index = TrialIndex(
        table: "My Scan", columns: ["name"], isDescending: [false], notNull: nil)
      #expect(trials.makeIndex(index, named: "byName"))
      #expect(try #require(trials.measure(sorted)).indexes == ["byName"])
    }
  }

  @Test func schemasOfOtherUsersAreLeft() throws {
    let connection = try TestServer.connection()
    let (role, schema) = ("engine_stranger", "cdprof_0123456789abcdef_1")
    try connection.execute(
      "CREATE ROLE \(role) LOGIN; GRANT CREATE ON DATABASE postgres TO \(role)")
    defer { _ = try? connection.execute("DROP OWNED BY \(role); DROP ROLE \(role)") }
    try connection.execute(
      "CREATE SCHEMA \(schema); COMMENT ON SCHEMA \(schema) IS "
        + "'Data of a scenario that cdprof runs. It is dropped at the end.'")
    defer { _ = try? connection.execute("DROP SCHEMA IF EXISTS \(schema)") }
    let uri = TestServer.uri.replacing("user=tester", with: "user=\(role)")
    try #require(uri != TestServer.uri)
    let server = try PostgresServer(uri)
    server.removeAllStores()
    let left = try connection.query(
      "SELECT FROM pg_namespace WHERE nspname = $1", [.text(schema)])
    expectEqual(left.rowCount, 1)
  }

  @Test func addressesHaveNoPassword() throws {
    let server = try PostgresServer(
      TestServer.uri + "&sslpassword=not-to-be-seen&%70assword=not-to-be-seen")
    #expect(!server.address.contains("not-to-be-seen"))
    #expect(server.address.contains("user=tester"))
  }
}
