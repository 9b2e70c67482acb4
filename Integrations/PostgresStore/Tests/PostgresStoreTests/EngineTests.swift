import OpenCoreData
import PostgresDriver
import Testing

@Suite("Scenarios on PostgreSQL")
struct EngineTests {
  private let program: BuiltProgram

  init() throws {
    try #require(!TestServer.uri.isEmpty, "run test.sh, which starts a server")
    program = try BuiltProgram()
  }

  /// The store with a password, which the server doesn't ask for.
  private static let store = TestServer.uri.replacing("postgres:///", with: "postgres://:secret@/")

  /// Runs a scenario and returns its result; without a store, on SQLite.
  private func result(
    of scenario: String, on store: String?, _ more: [String] = []
  ) throws -> ScenarioResult {
    let out = store == nil ? "sqlite" : "postgres"
    let outcome = try program.run(
      ["run", scenario, "--quiet", "--report", "json", "--out", out, "--force"]
        + (store.map { ["--store", $0] } ?? []) + more)
    #expect([0, 2].contains(outcome.status), "\(outcome.output)\(outcome.errors)")
    let name = URL(fileURLWithPath: scenario).deletingPathExtension().lastPathComponent
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
    "Scenarios/faults.yml", "Scenarios/mood-list.yml",
  ])
  func countsAreEqualToThoseOfSQLite(path: String) throws {
    defer { program.remove() }
    let file = BuiltProgram.file(path)
    let (one, other) = (try result(of: file, on: nil), try result(of: file, on: Self.store))
    #expect(one.engine == nil)
    #expect(other.engine?.name == "PostgreSQL")
    expectEqual(one.variants.map(\.name), other.variants.map(\.name))
    for (sqlite, postgres) in zip(one.variants, other.variants) {
      for metric in ["fetches", "faults", "hits", "misses", "saves", "selects", "rows"] {
        #expect(sqlite.metrics[metric] == postgres.metrics[metric], "\(metric) of \(sqlite.name)")
      }
      expectEqual(sqlite.findings.map(\.name), postgres.findings.map(\.name))
    }
  }
}
