/// The tables in which Core Data stores a store's metadata, entities, model, and history.
///
/// A store can come from anywhere. Reading costs are only predictable for an ordinary table with
/// stored columns: a view can run forever, and a generated column computes any expression of the
/// file.
package enum HousekeepingTables {
  /// The table of the store's UUID and property list.
  package static let metadata = "Z_METADATA"
  /// The table of the entity IDs, each with its greatest primary key.
  package static let entities = "Z_PRIMARYKEY"
  /// The table of the model, compressed.
  package static let modelCache = "Z_MODELCACHE"
  /// The maximum number of rows of `Z_PRIMARYKEY`: entity IDs are below 16,000, and history has
  /// some above.
  package static let largestEntityList = 16_384
  /// The tables that every store has, and whose names no entity's table can have.
  package static let names: Set = [metadata, entities, modelCache]

  private static let columns: [String: [String]] = [
    metadata: ["Z_VERSION", "Z_UUID", "Z_PLIST"],
    entities: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"],
    modelCache: ["Z_CONTENT"],
    "ACHANGE": ["Z_PK"], "ATRANSACTION": ["Z_PK"], "ATRANSACTIONSTRING": ["Z_PK"],
  ]

  /// Returns a description of the first existing table that isn't an ordinary table; `nil` if all
  /// are.
  ///
  /// One statement, and one for each housekeeping table whose text mentions a generated column.
  /// - Throws: `SQLiteError`.
  package static func problem(on connection: Connection) throws(SQLiteError) -> String? {
    let names = columns.keys.sorted()
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let rows = try connection.values(
      "SELECT upper(name), type, rootpage > 0, sql LIKE '%AS%(%' FROM sqlite_master "
        + "WHERE type IN ('table', 'view') AND upper(name) IN (\(marks))",
      names.map { .text($0) })
    for row in rows {
      guard case .text(let name) = row[0] else { continue }
      guard row[1] == .text("table"), row[2] == .integer(1) else {
        return "\(name) isn't an ordinary table"
      }
      guard row[3] != .integer(0) else { continue }
      let generated = try connection.values(
        "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 0 LIMIT 1", [.text(name)])
      if case .text(let column)? = generated.first?.first {
        return "the column \(column) of \(name) is generated"
      }
    }
    return nil
  }

  /// Returns the columns that `Z_METADATA` and `Z_PRIMARYKEY` lack, each with its table.
  ///
  /// **Cost:** one statement for each table.
  /// - Throws: `SQLiteError`.
  package static func missingColumns(
    on connection: Connection
  ) throws(SQLiteError) -> [(table: String, column: String)] {
    var missing: [(table: String, column: String)] = []
    for table in [metadata, entities] {
      let rows = try connection.values(
        "SELECT upper(name) FROM pragma_table_info(?)", [.text(table)])
      for column in columns[table] ?? [] where !rows.contains([.text(column)]) {
        missing.append((table, column))
      }
    }
    return missing
  }

  /// Returns the row of a housekeeping table, reading only its first row.
  ///
  /// - Parameter sql: A SELECT of columns of one table.
  /// - Returns: The row; `nil` for a table without rows.
  /// - Throws: `SQLITE_TOOBIG` for a value larger than the limit, which it states; other
  ///   `SQLiteError`s.
  package static func row(
    _ sql: String, on connection: Connection
  ) throws(SQLiteError) -> [SQLiteValue]? {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    for column in 0..<statement.columnCount {
      // The only string is the store's identifier.
      let isText = statement.type(column) == .text
      let limit = isText ? StoreLimits.identifierLength : StoreLimits.housekeepingValueSize
      let size = statement.blob(column).count
      guard size <= limit else {
        throw SQLiteError(
          code: .tooBig, message: "a value has \(size) bytes, and the limit is \(limit)", sql: sql)
      }
    }
    let row = (0..<statement.columnCount).map { statement.value($0) }
    // SQLite reports that it had no memory for a value only now.
    _ = try statement.step()
    return row
  }
}
