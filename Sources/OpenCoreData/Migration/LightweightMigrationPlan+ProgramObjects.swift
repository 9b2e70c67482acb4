import ManagedModel
import SQLiteDriver

// Indexes, triggers, and tables in a store's file that a program created with SQL.

/// The reason why a migration can't keep a program's index, trigger, or table.
struct ObjectInTheWay: Error {
  /// The index, trigger, or table, such as `trigger log of the table ZPERSON`.
  let object: String
  /// What fails, with SQLite's message.
  let problem: String
  /// What to do about it, as a sentence.
  var advice = "Drop it before the migration, and create it afterward for the new version."

  /// The reason in one sentence, and what to do about it.
  var reason: String { "The program's \(object) \(problem). \(advice)" }
}

extension LightweightMigrationPlan {
  /// A table that's replaced by a copy, with the new names of the columns that stay, by their
  /// uppercase old names.
  private typealias CopiedTable = (name: String, newNames: [String: String])

  /// The tables whose indexes and triggers are dropped with them, although the rows stay, by their
  /// uppercase names in the file.
  private var copiedTables: [String: CopiedTable] {
    var copied: [String: CopiedTable] = [:]
    for table in tables where table.change == .copy {
      copied[table.source?.table.uppercased() ?? ""] = (table.root.table, table.keptNames)
    }
    for join in joins where !join.isKept {
      if let former = join.former {
        copied[former.table.uppercased()] = (join.table, join.keptNames)
      }
    }
    return copied
  }

  /// Creates the program's indexes of copied tables again, but for those with a column that's
  /// removed.
  mutating func restoreIndexes() {
    let copied = copiedTables
    for index in objects.indexes where !isOfStore(index) && !index.isConstraint {
      guard let table = copied[index.table.uppercased()], let sql = index.sql else { continue }
      let columns = index.columns.compactMap { $0 }
      let names = columns.compactMap { column in
        SQLNames.rowColumns.contains(column.uppercased())
          ? column : table.newNames[column.uppercased()]
      }
      guard names.count == columns.count else { continue }
      let isSame =
        table.name.uppercased() == index.table.uppercased()
        && zip(names, columns).allSatisfy { $0.uppercased() == $1.uppercased() }
      // SQLite renames a column in an expression only as long as the table exists.
      let statement = isSame || !index.isPlain ? sql : index.renamed(table.name, columns: names)
      restore("index \(index.name) of the table \(index.table)", .createIndexes, statement)
    }
  }

  /// Creates the program's triggers of copied tables again.
  mutating func restoreTriggers() {
    let copied = copiedTables
    for trigger in objects.triggers
    where !isOfStore(trigger) && copied[trigger.table.uppercased()] != nil {
      restore(Self.description(of: trigger), .createTriggers, trigger.sql)
    }
  }

  private mutating func restore(
    _ object: String, _ phase: MigrationStatements.Phase, _ sql: String
  ) {
    restored[sql] = object
    add(phase, "create the \(object)", sql)
  }

  /// Returns the error to report for one that a statement of the plan throws.
  func explained(_ error: SQLiteError, of statement: MigrationStatements.Statement) -> any Error {
    if let object = restored[statement.sql] {
      return ObjectInTheWay(
        object: object, problem: "can't be created again: \(error.message)")
    }
    guard let table = tableInTheWay(of: error) else { return error }
    return ObjectInTheWay(
      object: "table \(table)", problem: "has the name of a table of the new version",
      advice: "Drop or rename it before the migration.")
  }

  /// Returns the name of a new table that SQLite's message names, if the file has such a table that
  /// no entity or relationship had before.
  private func tableInTheWay(of error: SQLiteError) -> String? {
    guard error.code.primary == .error else { return nil }
    let formers = Set(
      source.entities.map { $0.table.uppercased() }
        + joins.compactMap { $0.former?.table.uppercased() })
    let names = destination.entities.map(\.table) + joins.map(\.table)
    return names.first { name in
      !formers.contains(name.uppercased()) && file.tables[name.uppercased()] != nil
        && error.message.contains(name)
    }
  }

  private static func description(of trigger: FileObjects.Trigger) -> String {
    "trigger \(trigger.name) of the table \(trigger.table)"
  }

  /// Changes the file while no trigger runs, and verifies that the program's triggers can run
  /// afterward.
  ///
  /// **Cost:** nothing if the program has no triggers; otherwise, twice five statements for each.
  /// - Throws: `ObjectInTheWay` for a trigger that could run before, but can't any longer, because
  ///   a table or column doesn't exist; what the changes throw.
  func withoutTriggers(on connection: Connection, _ change: () throws -> Void) throws {
    let own = objects.triggers.filter { !isOfStore($0) }
    guard !own.isEmpty else { return try change() }
    let intact = try own.filter { try Self.problem(of: $0, on: connection) == nil }
    connection.setTriggersRun(false)
    do {
      try change()
      connection.setTriggersRun(true)
    } catch {
      connection.setTriggersRun(true)
      throw error
    }
    for trigger in intact {
      if let problem = try Self.problem(of: trigger, on: connection) {
        throw ObjectInTheWay(
          object: Self.description(of: trigger), problem: "can't run in the new version: \(problem)"
        )
      }
    }
  }

  /// Returns SQLite's message for a trigger whose statements can't be compiled; `nil` if they can
  /// be, and if the trigger doesn't exist any longer.
  private static func problem(
    of trigger: FileObjects.Trigger, on connection: Connection
  ) throws(SQLiteError) -> String? {
    let tables = try connection.values(
      "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name = ?",
      [.text(trigger.name)])
    guard case .text(let name)? = tables.first?.first else { return nil }
    let columns = try connection.values("SELECT name FROM pragma_table_info(?)", [.text(name)])
    let assignments = columns.compactMap { row -> String? in
      guard case .text(let column)? = row.first else { return nil }
      return "\(SQLSyntax.quoted(column)) = \(SQLSyntax.quoted(column))"
    }.joined(separator: ", ")
    let table = SQLSyntax.quoted(name)
    for sql in [
      "INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(assignments)",
      "DELETE FROM \(table)",
    ] {
      do throws(SQLiteError) {
        // Compiles the triggers, too, without running anything.
        _ = try connection.hasRow("EXPLAIN " + sql)
      } catch {
        // Others aren't the trigger's, and may have rolled the transaction back.
        guard error.code.primary == .error else { throw error }
        return error.message
      }
    }
    return nil
  }
}

extension FileObjects.Index {
  /// Returns the statement that creates it in another table, or with other names of its columns.
  fileprivate func renamed(_ table: String, columns: [String]) -> String {
    let parts = zip(parts, columns).map { part, column in
      SQLSyntax.quoted(column) + (part.isAscending ? "" : " DESC")
    }
    return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLSyntax.quoted(name)) "
      + "ON \(SQLSyntax.quoted(table)) (\(parts.joined(separator: ", ")))"
  }
}
