import EngineInterface
import OpenCoreData
import PostgresDriver

/// The plan of an INSERT, UPDATE, or DELETE: measured in a transaction that is rolled back, or
/// estimated.
///
/// `EXPLAIN (ANALYZE)` executes the statement. It's measured on a copy of the data from before the
/// steps, because it would write nothing after them: keys exist, and versions are others. If it
/// writes nothing there either, as a change of an object that an earlier step has inserted, or if
/// the server rejects it, then the plan is that of EXPLAIN without ANALYZE.
struct WritePlan {
  /// The plan, whose last line states how it was found.
  let plan: ServerPlan

  /// Thrown in a transaction to roll it back.
  private struct Measured: Error {
    let lines: [String]
  }

  /// Runs or estimates a statement.
  ///
  /// - Parameter connection: Its first schema has a copy of the data, which isn't changed.
  /// - Throws: The server's error if the statement can't be planned.
  init(of statement: ServerStatement, on connection: PostgresConnection) throws {
    let typed = try TypedArrays(of: statement.sql, on: connection).typed(statement)
    let reason: String
    do {
      let measured = PostgresPlan(lines: try Self.measure(typed, on: connection))
      if measured.writtenRows != 0 || statement.rows == 0 {
        var plan = measured.plan
        plan.lines.append("Measured on a copy of the data, and rolled back.")
        self.plan = plan
        return
      }
      reason = "it would write no rows of the data from before the steps"
    } catch let error as PostgresError {
      reason = error.message
    }
    let lines = try PostgresPlan.lines(of: typed, "COSTS OFF", on: connection)
    plan = ServerPlan(lines: lines + ["Estimated, without ANALYZE: \(reason)."])
  }

  private static func measure(
    _ statement: ServerStatement, on connection: PostgresConnection
  ) throws -> [String] {
    do {
      try connection.transaction {
        throw Measured(lines: try PostgresPlan.lines(of: statement, on: connection))
      }
      return []
    } catch let measured as Measured {
      return measured.lines
    }
  }
}

/// The types of the arrays that a statement of the store writes rows from.
///
/// The store binds arrays with their types, but reports their values as text, and the server
/// doesn't infer the types of `unnest($1, $2)`.
private struct TypedArrays {
  private var types: [String] = []

  private static let list = "unnest("

  /// Reads the types of the columns that a statement writes.
  ///
  /// - Throws: The server's error if the table doesn't exist.
  init(of sql: String, on connection: PostgresConnection) throws {
    guard let names = Self.names(in: sql) else { return }
    let result = try connection.query(
      "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute "
        + "WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped",
      [.text(names.table)])
    var columns: [String: String] = [:]
    for row in 0..<result.rowCount {
      if let name = result.text(row, 0) { columns[name] = result.text(row, 1) }
    }
    types = names.columns.map { name in (name.flatMap { columns[$0] } ?? "bigint") + "[]" }
  }

  /// Returns the statement with a type for each array.
  func typed(_ statement: ServerStatement) -> ServerStatement {
    guard let list = statement.sql.firstRange(of: Self.list), !types.isEmpty else {
      return statement
    }
    let rest = statement.sql[list.upperBound...]
    let arrays = rest.prefix { $0 != ")" }
    let typed = zip(arrays.split(separator: ", "), types).map { "\($0)::\($1)" }
    return ServerStatement(
      sql: statement.sql[..<list.upperBound] + typed.joined(separator: ", ")
        + rest.dropFirst(arrays.count),
      values: statement.values, isQuery: statement.isQuery, rows: statement.rows)
  }

  /// Returns the table that a statement writes, and the column that each array is for; nil for one
  /// of keys, versions, or positions.
  private static func names(in sql: String) -> (table: String, columns: [String?])? {
    let start = sql.firstMatch(
      of:
        #/^(?:INSERT INTO|UPDATE|DELETE FROM) ((?:(?:"(?:[^"]|"")+"|\w+)\.)?(?:"(?:[^"]|"")+"|\w+)) /#
    )
    guard let start else { return nil }
    let table = String(start.1)
    let rest = sql[start.range.upperBound...]
    if let inserted = rest.firstMatch(
      of: #/^\(((?:"(?:[^"]|"")+"|\w+)(?:, (?:"(?:[^"]|"")+"|\w+))*)\) SELECT \* FROM unnest\(/#)
    {
      return (
        table,
        inserted.1.matches(of: #/"(?:[^"]|"")+"|\w+/#).map { PostgresPlan.unquoted($0.output) }
      )
    }
    guard let aliases = rest.firstMatch(of: /unnest\([$\d, ]+\) AS v\(([\w, ]+)\)/) else {
      return nil
    }
    var columns: [String: String] = [:]
    for match in rest.matches(of: #/("(?:[^"]|"")+"|\w+) = v\.(c\d+)/#) {
      columns[String(match.2)] = PostgresPlan.unquoted(match.1)
    }
    return (table, aliases.1.split(separator: ", ").map { columns[String($0)] })
  }
}
