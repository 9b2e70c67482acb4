package import ManagedModel
import SQLiteDriver

/// The statements of a lightweight migration between two models, with the differences that cause
/// each.
///
/// They're those of the plan for an empty store of the first model that OpenCoreData created. For a
/// store with history, or from an older framework, a few more can be necessary.
package struct LightweightMigrationCosts: Sendable {
  /// What a statement does to the rows of a store, in ascending order.
  package enum Cost: String, Sendable, CaseIterable, Comparable {
    case nothing
    /// Changes only the schema, or a row of the tables that describe it.
    case schema = "schema only"
    /// Reads all rows of the table, and writes none.
    case read = "read of all rows"
    /// Writes the rows of the table that have no value.
    case nulls = "rows with NULLs"
    /// Writes all rows of the table, or an entry of an index for each.
    case rows = "all rows of the table"
    /// Writes all rows of the table to another one, and removes them from the first.
    case rowsTwice = "all rows twice"

    package static func < (left: Cost, right: Cost) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  /// A statement of the migration.
  package struct Statement: Sendable {
    /// What it does, such as `Mood: add ZRATING`.
    package let name: String
    package let sql: String
    package let cost: Cost
    /// The positions of the differences that cause it; empty if each migration runs it.
    package let causes: [Int]

    /// The entity whose table it's for; `nil` if it isn't for one table.
    fileprivate var entity: String? {
      name.firstIndex(of: ":").map { String(name[..<$0]) }
    }
  }

  /// The differences of the models, as the comparison lists them.
  package let differences: [ModelDifference]
  /// The statements in the order in which they run; empty if there's no migration, or it can't be
  /// inferred.
  package let statements: [Statement]
  /// The positions of the statements that each difference causes, by its position.
  private let caused: [Int: [Int]]

  /// Plans the migration of an empty store of the first model, in memory.
  ///
  /// **Cost:** the statements that create the tables of the first model, without indexes, and those
  /// that read the schema.
  /// - Parameters:
  ///   - comparison: The models and their differences.
  ///   - isDeferred: Whether the migration defers the removal of columns, tables, and indexes.
  /// - Throws: The errors of a model that has no tables; `SQLiteError`.
  package init(_ comparison: ModelComparison, isDeferred: Bool = false) throws {
    differences = comparison.differences
    guard comparison.effect == .lightweight else {
      (statements, caused) = ([], [:])
      return
    }
    let connection = try Connection(path: ":memory:", access: .writing)
    defer { connection.close() }
    let schema = try comparison.old.schema()
    for statement in schema.statementsWithoutIndexes { try connection.execute(statement) }
    try StoreMetadata(newStoreOf: comparison.old, configuration: nil).write(to: connection)
    for entity in SQLModel(model: comparison.old).entities {
      _ = try connection.values(
        "INSERT INTO \(HousekeepingTables.entities)(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)",
        [
          .integer(Int64(entity.number)), .text(entity.name),
          .integer(Int64(entity.superentity?.number ?? 0)),
        ])
    }
    let mapping = InferredMapping(from: comparison.old, to: comparison.new)
    let plan = try LightweightMigrationPlan(
      mapping, configuration: nil, of: StoreMetadata(reading: connection), reading: connection,
      adding: schema.indexes, cleanup: isDeferred ? .later : .now)
    let causes = MigrationCauses(of: comparison.differences, in: plan)
    let empty = plan.emptyTables
    let filled = plan.filledTables
    let all = plan.statements.all.map { statement -> Statement in
      let isOfNoRows = statement.table.map(empty.contains) ?? false
      return Statement(
        name: statement.purpose, sql: statement.sql,
        cost: isOfNoRows ? .schema : plan.cost(of: statement, filled), causes: causes.of(statement))
    }
    let planned =
      all
      + plan.statements.checks.map { check in
        let causing: [Int] =
          check.problem == .abstractEntity
          ? comparison.differences.indices.filter { index in
            let difference = comparison.differences[index]
            return difference.entity == check.entity && difference.detail == "abstract now"
          } : causes.of(path: check.path)
        return Statement(
          name: "\(check.path): check the rows", sql: check.sql, cost: .read, causes: causing)
      }
    var caused: [Int: [Int]] = [:]
    for (position, statement) in planned.enumerated() {
      for cause in statement.causes { caused[cause, default: []].append(position) }
    }
    (statements, self.caused) = (planned, caused)
  }

  /// The entities whose rows are copied to a new table.
  package var copiedEntities: Set<String> {
    Set(statements.filter { $0.cost == .rowsTwice }.compactMap(\.entity))
  }

  /// The entities of which rows are inserted, updated, or deleted.
  package var writtenEntities: Set<String> {
    Set(
      statements.filter { $0.cost >= .nulls && !$0.sql.hasPrefix("CREATE") }.compactMap(\.entity))
  }

  /// Returns the positions of the statements that a difference causes, alone or with others.
  package func statements(ofDifferenceAt position: Int) -> [Int] {
    caused[position] ?? []
  }

  /// Returns the highest cost of the statements that a difference causes.
  package func cost(ofDifferenceAt position: Int) -> Cost {
    statements(ofDifferenceAt: position).map { statements[$0].cost }.max() ?? .nothing
  }
}

extension LightweightMigrationPlan {
  /// The tables that the migration creates without rows.
  fileprivate var emptyTables: Set<String> {
    emptyJoinTables.union(tables.filter { $0.change == .create }.map(\.root.table))
  }

  /// The names of the entities of tables in which setting values only gives default values.
  fileprivate var filledTables: Set<String> {
    Set(tables.filter(\.onlyFills).map(\.root.name))
  }

  /// - Parameter filled: `filledTables`.
  fileprivate func cost(
    of statement: MigrationStatements.Statement, _ filled: Set<String>
  ) -> LightweightMigrationCosts.Cost {
    let words = statement.sql.split(separator: " ", maxSplits: 3)
    let verb = words.first ?? ""
    switch (statement.phase, verb) {
    case (.housekeeping, _): return statement.sql.contains("ACHANGE") ? .rows : .schema
    case (.copyRows, "INSERT"), (.joinTables, "INSERT"): return .rowsTwice
    case (.alterTables, "UPDATE"):
      let suffix = ": set values"
      let isOfFilled =
        statement.purpose.hasSuffix(suffix)
        && filled.contains(String(statement.purpose.dropLast(suffix.count)))
      return isOfFilled ? .nulls : .rows
    case (_, "INSERT"), (_, "UPDATE"), (_, "DELETE"): return .rows
    case (_, "CREATE"):
      let isIndex = words.prefix(3).contains("INDEX")
      return isIndex || statement.sql.hasPrefix("CREATE TEMP TABLE") ? .rows : .schema
    default: return .schema
    }
  }
}

extension TableMigration {
  /// Whether the statement that sets values only gives rows without a value the default value.
  fileprivate var onlyFills: Bool {
    numbers == nil
      && columns.flatMap(\.sources.values).allSatisfy { source in
        switch source {
        case .column, .null, .filled: true
        case .entityNumbers(let column): renumber(SQLSyntax.quoted(column)) == nil
        case .real, .marked, .constant, .cleared, .entityNumber: false
        }
      }
  }
}
