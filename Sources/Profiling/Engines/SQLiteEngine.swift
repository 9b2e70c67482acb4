package import Foundation
package import OpenCoreData
package import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis
import WorkbenchText

/// SQLite: each store is a file in a temporary folder.
package struct SQLiteEngine: StoreEngine {
  package init() {}

  package func description() -> EngineDescription? { nil }

  package var command: (program: String, options: String) { ("cdprof", "") }

  package var storeType: NSPersistentStore.StoreType { .sqlite }
  package var storeOptions: [String: any Sendable] { [:] }

  package func obstacle(to step: Step) -> EngineObstacle? { nil }
  package func obstacle(to model: NSManagedObjectModel) -> EngineObstacle? { nil }
  package func obstacle(to data: DataPlan) -> EngineObstacle? { nil }
  package func obstacle(to metric: Metric) -> String? { nil }
  package func counts(_ metric: Metric) -> Bool { true }
  package var obstacleToPlans: String? { nil }

  package func makePlace() throws -> URL {
    try ScratchFolders.make().appendingPathComponent("data.sqlite")
  }

  package func copyPlace(_ url: URL) throws -> URL {
    let folder = try ScratchFolders.make()
    let copy = folder.appendingPathComponent("variant.sqlite")
    do {
      try StoreFile.copy(from: url, to: copy)
    } catch {
      ScratchFolders.remove(folder)
      throw error
    }
    return copy
  }

  package func removePlace(_ url: URL) {
    ScratchFolders.remove(url.deletingLastPathComponent())
  }

  package func explained(_ shapes: [StatementShape], at url: URL) throws -> [StatementShape] {
    try PlanReader(storeURL: url).explain(shapes)
  }

  package func advisor(at url: URL, model: NSManagedObjectModel) throws -> IndexAdvisor {
    try IndexAdvisor(storeURL: url)
  }
}
