extension Connection {
  /// How SQLite would run the text now.
  ///
  /// Nothing is run.
  ///
  /// Parameters need no values and `_Z_intarrayN` tables no arrays; but where there is a partial index,
  /// the values decide whether it holds the rows. Functions and collations the text names must be
  /// registered. One statement, not cached.
  /// - Parameter binds: values of the first parameters; those that do not fit are left out.
  package func explainQueryPlan(
    _ sql: String, binds: [SQLiteValue] = []
  ) throws(SQLiteError) -> QueryPlan {
    let prefix = "EXPLAIN QUERY PLAN "
    let text = sql.uppercased().hasPrefix(prefix) ? sql : prefix + sql
    let statement = try prepare(text)
    for (index, value) in binds.enumerated() {
      guard (try? statement.bind(value, at: Int32(index + 1))) != nil else { break }
    }
    var rows: [QueryPlan.Row] = []
    while try statement.step() {
      rows.append(
        QueryPlan.Row(
          id: Int(statement.int64(0)), parent: Int(statement.int64(1)), detail: statement.string(3))
      )
    }
    return QueryPlan(rows)
  }
}
