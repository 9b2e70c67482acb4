import Foundation
import PostgresDriver
import Testing

/// Runs every scenario on both engines, which takes some minutes: only if `POSTGRES_STORE_SWEEP` is
/// set.
@Suite("All scenarios on PostgreSQL", .enabled(if: TestServer.runsAllScenarios))
struct ScenarioSweepTests {
  /// The scenarios whose counts differ, as the README explains.
  private static let differing: Set<String> = [
    "a-conflict-solved", "batches-with-a-prefetch", "one-of-a-kind", "only-ids",
    "ordered-relationship", "searching-names", "wildcards",
  ]
  private static let metrics = [
    "fetches", "faults", "hits", "misses", "saves", "prefetches", "selects", "rows", "peak",
    "registered",
  ]

  @Test func scenariosHaveEqualCountsOrAreRejected() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    var (equal, rejected, different) = (0, 0, Set<String>())
    for file in try Self.files() {
      let name = file.deletingPathExtension().lastPathComponent
      let arguments = ["run", file.path, "--quiet", "--report", "json", "--force", "--out"]
      let other = try program.run(arguments + ["postgres", "--store", TestServer.uri])
      guard other.status != 65 else {
        rejected += 1
        continue
      }
      #expect(try program.run(arguments + ["sqlite"]).status == 0)
      let results = try ["sqlite", "postgres"].map { folder in
        try JSONDecoder().decode(
          ScenarioResult.self, from: Data(try program.text("\(folder)/\(name).json").utf8))
      }
      let isEqual = zip(results[0].variants, results[1].variants).allSatisfy { one, other in
        Self.metrics.allSatisfy { one.metrics[$0] == other.metrics[$0] }
          && one.findings.map(\.name) == other.findings.map(\.name)
      }
      if isEqual { equal += 1 } else { different.insert(name) }
      #expect(!isEqual || results[1].holds, "\(name)")
    }
    print("\(equal) equal, \(different.count) different, \(rejected) rejected")
    #expect(different == Self.differing)
  }

  private static func files() throws -> [URL] {
    let root = BuiltProgram.repository.appending(path: "Scenarios")
    let names = try FileManager.default.subpathsOfDirectory(atPath: root.path)
    return names.filter { $0.hasSuffix(".yml") }.sorted().map { root.appending(path: $0) }
  }
}
