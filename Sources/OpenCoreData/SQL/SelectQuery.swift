import SQLiteDriver

/// A SELECT that is ready to run.
struct SelectQuery: Sendable {
  /// The text, spaced as Apple's.
  var sql: String

  /// The values of the `?`s in order.
  var binds: [SQLiteValue] = []

  /// The contents of `_Z_intarray0`, `_Z_intarray1` … in order.
  var intArrays: [ContiguousArray<Int64>] = []

  /// What the result columns hold.
  ///
  /// A count has the one column and no projection's.
  var projection: Projection
}
