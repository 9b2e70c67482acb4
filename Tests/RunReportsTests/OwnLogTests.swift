import Foundation
import OpenCoreData
import ProfileEvents
import RunResults
import ScenarioFiles
import Synchronization
import Testing
import WorkbenchFixtures

@testable import LogAnalysis
@testable import Profiling
@testable import ScenarioLanguage

@Suite("OpenCoreData's log matches the counters")
struct OwnLogTests {
  /// Collects lines from any thread.
  private final class Lines: Sendable {
    private let list = Mutex<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func add(_ line: String) { list.withLock { $0.append(line) } }
  }

  private static let loggedMetrics: [Metric] = [
    .selects, .rows, .fetches, .inserts, .updates, .deletes, .transactions, .saves, .hits, .misses,
    .prefetches,
  ]

  /// Scenarios with fetches and faults of every kind, saves, batch requests, contexts and
  /// conflicts.
  private static let scenarios = [
    "mood-list.yml", "06-fetching/to-many.yml", "06-fetching/batches.yml",
    "07-saving/what-a-save-sends.yml", "11-conflicts/five-policies.yml",
    "08-performance/ordered-relationship.yml",
  ]

  @Test(
    "S-H11 a run's log contains no unrecognized line at any level",
    arguments: scenarios, 1...4)
  func logOfARunHasTheSameCountsAsTheRun(path: String, level: Int) throws {
    let url = PackagedScenarios.folder.appendingPathComponent(path)
    let scenario = try ScenarioReader.read(url, path: url.path)
    let lines = Lines()
    let folder = try TemporaryFolder()
    let result = try ScenarioRunner(
      scenario: scenario, outputDirectory: folder.url,
      log: RunLog(level: level, showsBinds: level == 3) { lines.add($0) }
    ).run()
    var reader = LogReader(file: "run")
    for line in lines.all { reader.take(ArraySlice(line.utf8)) }
    let report = reader.finish()
    #expect(report.lines == lines.all.count)
    #expect(report.unrecognized == 0, "\(report.unrecognizedLines.map(\.text))")
    #expect(report.kinds[.app] == nil)
    #expect(report.unmatchedTimes == 0 && report.logsHits)
    #expect(report.sections.map(\.name) == result.variants.map(\.name))
    for (section, variant) in zip(report.sections, result.variants) {
      for metric in Self.loggedMetrics {
        #expect(
          section.costs.value(of: metric) == variant.metrics[metric], "\(variant.name): \(metric)")
      }
    }
    // A batched fetch binds only its lists of object IDs.
    let bindsValues = path != "06-fetching/batches.yml"
    #expect((report.kinds[.bind] != nil) == (level >= 2 && bindsValues))
    #expect((report.kinds[.fetchResult] != nil) == (level >= 2))
    #expect((report.kinds[.explain] != nil) == (level == 4))
    if level == 4 {
      let planned = report.statements.filter { $0.kind == .select && !$0.loggedPlan.isEmpty }
      #expect(planned.count == report.statements.count { $0.kind == .select })
    }
    let binds = Set(report.statements.flatMap(\.binds))
    if level != 3 { #expect(binds.isSubset(of: ["<private>"])) }
  }
}
