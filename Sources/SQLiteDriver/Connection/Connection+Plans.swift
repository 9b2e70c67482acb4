extension Connection {
  /// How SQLite would run the text now.
  ///
  /// Nothing is run.
  ///
  /// Parameters need no values and `_Z_intarrayN` tables no arrays. Functions and collations the
  /// text names must be registered. One statement, not cached.
  package func explainQueryPlan(_ sql: String) throws(SQLiteError) -> QueryPlan {
    let prefix = "EXPLAIN QUERY PLAN "
    let text = sql.uppercased().hasPrefix(prefix) ? sql : prefix + sql
    let statement = try prepare(text)
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
