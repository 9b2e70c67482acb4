import EngineInterface
import Foundation
import PostgresDriver
import PostgresEngine
import Testing

@Suite("Scenarios on PostgreSQL", .serialized)
struct EngineTests {
  private let program: BuiltProgram
  /// A database for these tests, whose schemas no other test makes.
  private let store: String

  /// The metrics that mean the same on both engines.
  private static let equalMetrics = [
    "fetches", "faults", "hits", "misses", "saves", "prefetches", "selects", "rows",
  ]
  private static let password = "not-to-be-seen"

  init() throws {
    try #require(!TestServer.uri.isEmpty, "run test.sh, which starts a server")
    program = try BuiltProgram()
    // The server doesn't ask for the password.
    store = TestServer.uri.replacing("postgres:///", with: "postgres://:\(Self.password)@/")
  }

  /// Runs a scenario and returns its result; without a store, on SQLite.
  private func result(
    of file: String, on store: String?, _ more: [String] = []
  ) throws -> ScenarioResult {
    let out = store == nil ? "sqlite" : "postgres"
    let outcome = try program.run(
      ["run", file, "--quiet", "--report", "json", "--out", out, "--force"]
        + (store.map { ["--store", $0] } ?? []) + more)
    try #require([0, 2].contains(outcome.status), "\(outcome.output)\(outcome.errors)")
    let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
    return try JSONDecoder().decode(
      ScenarioResult.self, from: Data(try program.text("\(out)/\(name).json").utf8))
  }

  /// The schemas of scenarios that the database has.
  private static func schemas() throws -> [String] {
    let result = try TestServer.connection().query(
      "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'cdprof%'")
    return (0..<result.rowCount).compactMap { result.text($0, 0) }
  }

  @Test(arguments: [
    "faults", "mood-list", "06-fetching/batches", "06-fetching/to-many", "07-saving/find-or-create",
    "08-performance/prefetch-along-a-path", "10-contexts/a-child-context",
    "11-conflicts/five-policies", "12-predicates/only-what-matches",
  ])
  func countsAreEqualToThoseOfSQLite(path: String) throws {
    defer { program.remove() }
    let file = BuiltProgram.file("Scenarios/\(path).yml")
    let (one, other) = (try result(of: file, on: nil), try result(of: file, on: store))
    #expect(one.engine == nil)
    #expect(other.engine?.name == "PostgreSQL")
    expectEqual(one.variants.map(\.name), other.variants.map(\.name))
    for (sqlite, postgres) in zip(one.variants, other.variants) {
      for metric in Self.equalMetrics {
        #expect(sqlite.metrics[metric] == postgres.metrics[metric], "\(metric) of \(sqlite.name)")
      }
      expectEqual(sqlite.findings.map(\.name), postgres.findings.map(\.name))
      let selects = postgres.statements.filter { $0.sql.hasPrefix("SELECT") }
      #expect(selects.allSatisfy { $0.plan.first?.contains("actual rows=") == true })
      for statement in postgres.statements {
        #expect(statement.plan.first?.hasPrefix("no plan") == false, "\(statement.sql)")
      }
      #expect(postgres.metrics["roundtrips"] ?? 0 >= selects.count)
      #expect(sqlite.metrics["roundtrips"] == nil)
    }
    expectEqual(try Self.schemas(), [])
  }

  /// Those of the data are measured on a copy; those of objects that a step has inserted can't be.
  @Test func plansOfWritesAreMeasuredOrEstimated() throws {
    defer { program.remove() }
    let file = program.folder.appending(path: "writes.yml")
    try """
    name: Writes
    model: \(BuiltProgram.file("Scenarios/Models/Playlists.xcdatamodel"))
    data:
      Playlist: {count: 1, name: text 5}
      Track: {count: 20, title: text 5, number: "one of [1, 2, 3]"}
    steps:
      - {fetch: Track, sort: [number], limit: 3, as: tracks}
      - {fetch: Playlist, as: lists}
      - {set: tracks, with: {title: changed, playlist: lists}}
      - {save: null}
      - {delete: tracks}
      - {insert: Track, times: 2, with: {title: new, number: 7}, as: more}
      - {save: null}
      - {set: more, with: {title: newer}}
      - {save: null}
      - {delete: more}
      - {save: null}
      - {count: Track}
    """.write(to: file, atomically: true, encoding: .utf8)
    let statements = try #require(try result(of: file.path, on: store).variants.first).statements
    let writes = statements.filter { !$0.sql.hasPrefix("SELECT") }
    let measured = "Measured on a copy of the data, and rolled back."
    let estimated =
      "Estimated, without ANALYZE: it would write no rows of the data from before the steps."
    // The positions are those of rows that the statement before it has changed, and a measured
    // UPDATE is rolled back: the DELETE expects the versions that it would have left.
    expectEqual(
      writes.map { "\($0.plan.first ?? "") \($0.plan.last ?? "")" },
      [
        "Update on \"Playlist\" t (actual rows=1 loops=1) \(measured)",
        "Update on \"Track\" t (actual rows=3 loops=1) \(measured)",
        "Update on \"Track\" d \(estimated)",
        "Delete on \"Track\" t \(estimated)",
        "Insert on \"Track\" (actual rows=2 loops=1) \(measured)",
        "Update on \"Track\" t \(estimated)",
      ])
    expectEqual(
      writes.map(\.verdict).prefix(2),
      ["Reads all 1 row of \"Playlist\".", "Reads all 20 rows of \"Track\"."])
    expectEqual(writes.dropFirst(2).filter { !$0.verdict.isEmpty }.count, 0)
    #expect(writes.prefix(2).allSatisfy { $0.plan.contains { $0.contains("Buffers: ") } })
    expectEqual(try Self.schemas(), [])
  }

  @Test func plansOfRejectedWritesAreEstimated() throws {
    let server = try PostgresServer(TestServer.uri)
    defer { server.removeAllStores() }
    let url = try server.makeStoreURL()
    let schema = try #require(
      URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.last?.value)
    let connection = try TestServer.connection()
    try connection.execute(
      "CREATE TABLE \(schema).\"a \"\"b\"\"\" (z_pk bigint PRIMARY KEY, \"c, d\" bytea NOT NULL); "
        + "INSERT INTO \(schema).\"a \"\"b\"\"\" VALUES (7, '\\xff')")
    func plan(_ sql: String, _ values: [String]) throws -> [String] {
      let statement = ServerStatement(sql: sql, values: values, isQuery: false, rows: 1)
      return try server.plans(of: [statement], at: url, copiedFrom: url)[0].lines
    }
    let insert =
      "INSERT INTO \"a \"\"b\"\"\" (z_pk, \"c, d\") SELECT * FROM unnest($1, $2)"
    expectEqual(
      try plan(insert, ["{7}", #"{"\\\\x00"}"#]).last,
      "Estimated, without ANALYZE: duplicate key value violates unique constraint "
        + "\"a \"b\"_pkey\".")
    expectEqual(
      try plan(insert, ["{8}", #"{"\\\\x00"}"#]).last,
      "Measured on a copy of the data, and rolled back.")
    #expect(try plan("UPDATE missing SET a = 1", [])[0].hasPrefix("no plan: "))
    let rows = try connection.query("SELECT z_pk FROM \(schema).\"a \"\"b\"\"\"")
    expectEqual(rows.integers(0), [7])
  }

  @Test func reportsNameTheEngineAndHaveNoPassword() throws {
    defer { program.remove() }
    let outcome = try program.run([
      "run", BuiltProgram.file("Scenarios/06-fetching/ladder.yml"), "--store", store, "--report",
      "text,html,md,json,junit,trace", "--delay", "0.5", "--sql", "2", "--out", "out",
    ])
    expectEqual(outcome.status, 0)
    let version = try TestServer.connection().query("SHOW server_version").text(0, 0) ?? ""
    let engine = "PostgreSQL \(version.prefix { $0 != " " }), each round trip delayed by 0.5 ms"
    #expect(outcome.output.contains(engine))
    let folder = program.folder.appending(path: "out")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    expectEqual(files.count, 6)
    for file in files {
      let text = try program.text("out/\(file)")
      #expect(text.contains("PostgreSQL"), "\(file)")
      #expect(!text.contains(Self.password), "\(file)")
    }
    #expect(!(outcome.output + outcome.errors).contains(Self.password))
    #expect(outcome.errors.contains("CoreData: sql: SELECT t0.z_pk"))
  }

  /// The time of each step is at least that of its delayed round trips.
  @Test func delaysAreThoseOfRoundTrips() throws {
    defer { program.remove() }
    let file = program.folder.appending(path: "few.yml")
    try """
    name: Few
    model: \(BuiltProgram.file("Scenarios/Models/Notes.xcdatamodel"))
    data: {Note: {count: 20, text: text 5}}
    steps:
      - {fetch: Note, values: no, as: notes}
      - {touch: notes, read: [text]}
    expect: {selects: 21, misses: 20, roundtrips: 23, transactions: 0}
    silence: [fault-storm]
    """.write(to: file, atomically: true, encoding: .utf8)
    let result = try result(of: file.path, on: store, ["--delay", "2"])
    let variant = try #require(result.variants.first)
    // Two statements were prepared first.
    expectEqual(variant.metrics["roundtrips"], 23)
    #expect(variant.nanoseconds >= 23 * 2_000_000)
    #expect(result.holds)
    expectEqual(
      variant.expectations.filter { $0.unevaluated != nil }.map(\.metric), ["transactions"])
  }

  @Test(arguments: [
    ("- {sql: SELECT 1}", 5, 6, "`sql` works on a SQLite file"),
    ("- {batch-delete: Note}", 5, 6, "`batch-delete` is a batch request"),
    ("- {pin: null}", 5, 6, "`pin` pins a query generation"),
  ])
  func stepsOfSQLiteAreRejectedBeforeTheRun(
    step: String, line: Int, column: Int, reason: String
  ) throws {
    defer { program.remove() }
    let file = program.folder.appending(path: "rejected.yml")
    try """
    name: Rejected
    model: \(BuiltProgram.file("Scenarios/Models/Notes.xcdatamodel"))
    data: {Note: {count: 2}}
    steps:
      \(step)
    """.write(to: file, atomically: true, encoding: .utf8)
    let outcome = try program.run(["run", "rejected.yml", "--store", store])
    expectEqual(outcome.status, 65)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines[0].hasPrefix("rejected.yml:\(line):\(column): error: \(reason)"))
    #expect(lines[2].contains("^"))
    #expect(lines[3].hasPrefix("steps[0]: run it on SQLite with `cdprof run`"))
    #expect(try program.run(["run", "rejected.yml"]).status == 0 || step.contains("pin"))
  }

  @Test func adviceIsTriedInASchemaOfItsOwn() throws {
    defer { program.remove() }
    let file = program.folder.appending(path: "search.yml")
    try """
    name: Search
    model: \(BuiltProgram.file("Scenarios/Models/Notes.xcdatamodel"))
    data: {Note: {count: 4000, text: text 12}}
    steps:
      - {fetch: Note, where: "text == 'abc'"}
    silence: [missing-index]
    """.write(to: file, atomically: true, encoding: .utf8)
    let outcome = try program.run(["advise", file.path, "--store", store])
    expectEqual(outcome.status, 0)
    #expect(outcome.output.contains("1  index Note (text): 4,000 → 0 rows, verified"))
    #expect(outcome.output.contains("now   Seq Scan on \"Note\" t0 (actual rows=0 loops=1)"))
    #expect(outcome.output.contains("Buffers: shared hit="))
    #expect(outcome.output.contains("SQL    CREATE INDEX \"Z_Note_byText\" ON \"Note\""))
    expectEqual(try Self.schemas(), [])
  }

  @Test func interruptedRunsLeaveNoSchema() throws {
    defer { program.remove() }
    let process = try program.start([
      "run", BuiltProgram.file("Scenarios/faults.yml"), "--store", store, "--delay", "20",
    ])
    while try Self.schemas().count < 2, process.isRunning { usleep(10_000) }
    kill(process.processIdentifier, SIGINT)
    process.waitUntilExit()
    expectEqual(process.terminationStatus, 130)
    expectEqual(try Self.schemas(), [])
  }

  @Test func schemasOfKilledProcessesAreDroppedByTheNextOne() throws {
    defer { program.remove() }
    let connection = try TestServer.connection()
    // Someone else's schema with a similar name.
    let other = "cdprof_0000000000000000_1"
    try connection.execute("CREATE SCHEMA \(other)")
    defer { _ = try? connection.execute("DROP SCHEMA \(other)") }
    let process = try program.start([
      "run", BuiltProgram.file("Scenarios/faults.yml"), "--store", store, "--delay", "20",
    ])
    while try Self.schemas().count < 3, process.isRunning { usleep(10_000) }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let ladder = BuiltProgram.file("Scenarios/06-fetching/ladder.yml")
    // The server may notice a moment later that the connection has ended.
    for _ in 0..<50 where try Self.schemas() != [other] {
      _ = try program.run(["run", ladder, "--store", store, "--quiet"])
    }
    expectEqual(try Self.schemas(), [other])
  }

  @Test(arguments: [
    ["run", "postgres://u:not-to-be-seen@host/db"],
    ["run", "none.yml", "--store", "postgres://u:not-to-be-seen@127.0.0.1:1/db"],
    ["run", "none.yml", "--store", "mysql://u:not-to-be-seen@host/db"],
    ["run", "none.yml", "--stroe=postgres://u:not-to-be-seen@host/db"],
    ["postgres://u:not-to-be-seen@host/db"], ["run", "postgres://u:a@b/not-to-be-seen@host/db"],
  ])
  func errorsHaveNoPassword(arguments: [String]) throws {
    defer { program.remove() }
    let outcome = try program.run(arguments)
    #expect(outcome.status != 0)
    #expect(!(outcome.output + outcome.errors).contains(Self.password))
  }
}
