package import Foundation
package import OpenCoreData
package import ProfileEvents
package import RunResults
package import ScenarioLanguage
package import StatementAnalysis

/// The database that a scenario runs on: SQLite, or the server of another package.
package protocol StoreEngine: Sendable {
  /// Returns the name and the version for reports; `nil` for SQLite, whose version is always
  /// reported.
  ///
  /// - Throws: An error if a server can't be reached.
  func description() throws -> EngineDescription?

  /// The program that runs scenarios on it, and the options that it needs for that.
  var command: (program: String, options: String) { get }

  /// The type and the options of its stores.
  var storeType: NSPersistentStore.StoreType { get }
  var storeOptions: [String: any Sendable] { get }

  /// Returns the reason why it can't run a step, with the next step; `nil` if it can.
  func obstacle(to step: Step) -> EngineObstacle?
  /// Returns the reason why its stores can't have a model, or `nil` if they can.
  func obstacle(to model: NSManagedObjectModel) -> EngineObstacle?
  /// Returns the reason why it can't use a scenario's data, or `nil` if it can.
  func obstacle(to data: DataPlan) -> EngineObstacle?
  /// Returns the reason why a metric's counts don't mean the same as for SQLite, or `nil` if they
  /// do.
  func obstacle(to metric: Metric) -> String?
  /// Returns whether the engine has a count for a metric; a result doesn't contain others.
  func counts(_ metric: Metric) -> Bool
  /// The reason why requirements of plans can't be evaluated, or `nil` if they can.
  var obstacleToPlans: String? { get }

  /// Returns the URL of a new store for the data of a scenario.
  func makeStoreURL() throws -> URL
  /// Copies a closed store, and returns the URL of the copy.
  func copyStore(at url: URL) throws -> URL
  /// Removes a store that it made.
  func removeStore(at url: URL)

  /// Returns the statements that ran on a closed store with their plans and assessments.
  ///
  /// - Parameter data: The store that this one was copied from before the statements ran.
  func explained(
    _ shapes: [StatementShape], at url: URL, copiedFrom data: URL
  ) throws -> [StatementShape]
  /// Returns an advisor that tries indexes on a copy of a closed store.
  ///
  /// - Parameter model: The store's model.
  func advisor(at url: URL, model: NSManagedObjectModel) throws -> IndexAdvisor
}

/// The reason why an engine can't do something, and what to do about it.
package struct EngineObstacle: Sendable, Equatable {
  package var reason: String
  package var nextStep: String

  package init(_ reason: String, nextStep: String) {
    self.reason = reason
    self.nextStep = nextStep
  }
}
