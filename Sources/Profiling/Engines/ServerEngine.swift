package import EngineInterface
package import Foundation
package import OpenCoreData
package import ProfileEvents
package import RunResults
package import ScenarioLanguage
package import StatementAnalysis
import WorkbenchText

/// A database server that another package connects to.
package struct ServerEngine: StoreEngine {
  private let server: any DatabaseServer
  private let program: String

  /// Creates an engine.
  ///
  /// - Parameter program: The name of the program that runs.
  package init(_ server: any DatabaseServer, program: String) {
    self.server = server
    self.program = program
  }

  /// Returns the name, the version, and the conditions of the server.
  package func description() throws -> EngineDescription? {
    EngineDescription(
      name: server.name, version: try server.version, conditions: server.conditions)
  }

  /// The program and the server's address, without a password.
  package var command: (program: String, options: String) {
    (program, " --store \(CommandWord.quoted(server.address))")
  }

  /// The type of the server's stores.
  package var storeType: NSPersistentStore.StoreType { server.storeType }
  /// The options of the server's stores.
  package var storeOptions: [String: any Sendable] { server.storeOptions }

  /// Returns an obstacle for steps that work on a SQLite file, and for requests that the stores
  /// don't execute.
  package func obstacle(to step: Step) -> EngineObstacle? {
    let word = "`\(step.verb.rawValue)`"
    switch step.verb {
    case .sql, .index, .pragma, .analyze, .history, .migrate, .finishMigration:
      return EngineObstacle(
        "\(word) works on a SQLite file, and \(server.name) has none",
        nextStep: "run it on SQLite with `cdprof run`, or leave the step out")
    case .pin:
      return EngineObstacle(
        "\(word) pins a query generation, which stores in \(server.name) don't have",
        nextStep: "run it on SQLite with `cdprof run`, or leave the step out")
    case .batchInsert, .batchUpdate, .batchDelete:
      guard !server.executesBatchRequests else { return nil }
      return EngineObstacle(
        "\(word) is a batch request, which stores in \(server.name) don't execute",
        nextStep: "run it on SQLite with `cdprof run`, or change objects and save them")
    case .fetch, .results, .count, .touch, .walk, .insert, .set, .relate, .delete, .save,
      .rollback, .undo, .refresh, .drop, .reset, .context, .merge:
      return nil
    }
  }

  /// Returns the server's own reason.
  package func obstacle(to model: NSManagedObjectModel) -> EngineObstacle? {
    server.obstacle(to: model).map {
      EngineObstacle($0, nextStep: "run it on SQLite with `cdprof run`, or use another model")
    }
  }

  /// Returns an obstacle for a copy of a SQLite file.
  package func obstacle(to data: DataPlan) -> EngineObstacle? {
    switch data.source {
    case .copied:
      EngineObstacle(
        "the data is a SQLite file, which can't be copied to \(server.name)",
        nextStep: "specify the number of rows of each entity, or run it with `cdprof run`")
    case .generated: nil
    }
  }

  /// Returns the reason why a metric of SQLite isn't evaluated.
  package func obstacle(to metric: Metric) -> String? {
    switch metric {
    case .fetches, .saves, .selects, .rows, .faults, .hits, .misses, .prefetches, .roundtrips,
      .registered, .peak, .time:
      nil
    case .inserts, .updates, .deletes, .transactions:
      "\(server.name) gets the rows of a save in other statements and transactions than SQLite"
    case .scanned, .sorts, .calls, .vmsteps, .pageins, .pageouts, .filepages, .walpages, .freepages:
      "it's a count of SQLite"
    case .migrations, .ddl, .dml, .migratedrows, .copiedtables, .addedcolumns, .createdindexes,
      .instances:
      "it's a count of migrations of SQLite files"
    }
  }

  /// Returns whether the server's stores report what the metric counts.
  package func counts(_ metric: Metric) -> Bool {
    switch metric {
    case .inserts, .updates, .deletes, .transactions: true
    default: obstacle(to: metric) == nil
    }
  }

  /// Requirements are those of SQLite's plans.
  package var obstacleToPlans: String? { "it's a requirement of SQLite's plans" }

  /// Returns the URL of a new store on the server.
  package func makeStoreURL() throws -> URL { try server.makeStoreURL() }
  /// Copies a store on the server.
  package func copyStore(at url: URL) throws -> URL { try server.copyStore(at: url) }
  /// Removes a store from the server.
  package func removeStore(at url: URL) { server.removeStore(at: url) }

  /// Returns the statements with the server's plans, for which it may run queries again, and other
  /// statements on a copy.
  package func explained(
    _ shapes: [StatementShape], at url: URL, copiedFrom data: URL
  ) throws -> [StatementShape] {
    let statements = shapes.map { shape in
      ServerStatement(
        sql: shape.sql, values: shape.binds, isQuery: shape.kind == .select, rows: shape.rows)
    }
    let plans = try server.plans(of: statements, at: url, copiedFrom: data)
    return zip(shapes, plans).map { shape, plan in
      var shape = shape
      shape.plan = plan.lines
      shape.assessment = plan.assessment
      shape.serverCost = plan.cost
      shape.suggestsIndex = plan.suggestsIndex
      return shape
    }
  }

  /// Returns an advisor that tries indexes on a copy on the server.
  package func advisor(at url: URL, model: NSManagedObjectModel) throws -> IndexAdvisor {
    IndexAdvisor(ServerTrialStore(try server.makeIndexTrials(at: url, model: model)))
  }
}

/// Index trials on a server.
final class ServerTrialStore: IndexTrialStore {
  private let trials: any IndexTrials
  let unit: AdviceUnit
  let present: [FileIndex]
  /// `false`, because a server explains a statement by running it, and nothing undoes its changes.
  let measuresChanges = false
  private let automatic: Set<String>

  init(_ trials: any IndexTrials) {
    self.trials = trials
    let gains = trials.minimumGains
    unit = AdviceUnit(
      name: trials.unit, minimumGain: gains.proposal, findingGain: gains.finding)
    let indexes = trials.presentIndexes
    automatic = Set(indexes.filter(\.isAutomatic).map(\.name))
    present = indexes.map { index in
      FileIndex(
        name: index.name, table: index.table,
        parts: zip(index.columns, index.isDescending).map { ($0, isDescending: $1) },
        isUnique: index.isUnique, isPartial: index.isPartial)
    }
  }

  private func measured(_ statement: AdvisedStatement) -> TrialMeasure? {
    trials.measure(
      ServerStatement(sql: statement.sql, values: statement.values, isQuery: statement.reads))
  }

  func measure(_ statement: AdvisedStatement) -> IndexMeasure? {
    measured(statement).map { measure in
      IndexMeasure(cost: measure.cost, lines: measure.lines, indexes: measure.indexes)
    }
  }

  func indexes(usedBy statement: AdvisedStatement) -> [String]? { nil }

  private func index(_ candidate: IndexCandidate) -> TrialIndex {
    TrialIndex(
      table: candidate.table, columns: candidate.parts.map(\.column),
      isDescending: candidate.parts.map(\.isDescending), notNull: candidate.notNull)
  }

  func make(_ candidate: IndexCandidate, named name: String) -> Bool {
    trials.makeIndex(index(candidate), named: name)
  }

  func drop(_ name: String) { trials.dropIndex(named: name) }

  func sql(of candidate: IndexCandidate, named name: String) -> String {
    trials.sql(of: index(candidate), named: name)
  }

  /// Returns `nil`, because the cost of an INSERT on a server isn't measured.
  func insertCost(into table: String) -> Int? { nil }

  func size(of index: String) -> (pages: Int, bytes: Int)? { trials.size(ofIndexNamed: index) }

  func sparseColumns(of table: String, among columns: [String]) -> Set<String> {
    trials.sparseColumns(of: table, among: columns)
  }

  func names(
    of columns: [String], in table: String, preferring preferred: String?
  ) -> (entity: String, properties: [String])? {
    trials.properties(of: columns, in: table)
  }

  func canDescribe(_ index: IndexCandidate) -> Bool {
    trials.properties(of: index.parts.map(\.column), in: index.table) != nil
  }

  func unusedIndexName(_ name: String, in entity: String?) -> String { name }

  func isAutomatic(_ index: FileIndex) -> Bool { automatic.contains(index.name) }
}
