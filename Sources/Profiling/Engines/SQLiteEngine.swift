package import Foundation
package import OpenCoreData
package import ProfileEvents
package import RunResults
package import ScenarioLanguage
package import StatementAnalysis
import WorkbenchText

/// SQLite: each store is a file in a temporary folder.
package struct SQLiteEngine: StoreEngine {
  /// Creates the engine.
  package init() {}

  /// Returns `nil`, because every report states the version of SQLite.
  package func description() -> EngineDescription? { nil }

  /// `cdprof`, without options.
  package var command: (program: String, options: String) { ("cdprof", "") }

  /// The type of SQLite stores.
  package var storeType: NSPersistentStore.StoreType { .sqlite }
  /// An empty dictionary: the stores need no options.
  package var storeOptions: [String: any Sendable] { [:] }

  /// Returns `nil`, because SQLite runs every step.
  package func obstacle(to step: Step) -> EngineObstacle? { nil }
  /// Returns `nil`, because a SQLite store can have any model.
  package func obstacle(to model: NSManagedObjectModel) -> EngineObstacle? { nil }
  /// Returns `nil`, because SQLite stores can contain the data of every scenario.
  package func obstacle(to data: DataPlan) -> EngineObstacle? { nil }
  /// Returns `nil`, because the metrics are defined by SQLite's counts.
  package func obstacle(to metric: Metric) -> String? { nil }
  /// Returns `true`, because SQLite has a count for every metric.
  package func counts(_ metric: Metric) -> Bool { true }
  /// `nil`, because plan requirements describe SQLite's plans.
  package var obstacleToPlans: String? { nil }

  /// Returns a file in a new temporary folder.
  package func makeStoreURL() throws -> URL {
    try ScratchFolders.make().appendingPathComponent("data.sqlite")
  }

  /// Copies a file to a new temporary folder.
  package func copyStore(at url: URL) throws -> URL {
    let folder = try ScratchFolders.make()
    let copy = folder.appendingPathComponent("variant.sqlite")
    do {
      try StoreFile.copy(from: url, to: copy, isSynced: false)
    } catch {
      ScratchFolders.remove(folder)
      throw error
    }
    return copy
  }

  /// Removes the temporary folder of a file.
  package func removeStore(at url: URL) {
    ScratchFolders.remove(url.deletingLastPathComponent())
  }

  /// Returns the statements with `EXPLAIN QUERY PLAN`, which runs none of them.
  package func explained(
    _ shapes: [StatementShape], at url: URL, copiedFrom data: URL
  ) throws -> [StatementShape] {
    try PlanReader(storeURL: url).explain(shapes)
  }

  /// Returns an advisor that copies the file to a temporary folder.
  package func advisor(at url: URL, model: NSManagedObjectModel) throws -> IndexAdvisor {
    try IndexAdvisor(storeURL: url)
  }
}
