import SQLiteDriver

/// A SELECT of pairs of keys from a join table.
///
/// Result column 0 is the source's key, column 1 the destination's, column 2 the place in the list
/// when the relationship is ordered.
struct JoinQuery: Sendable {
  let sql: String
  let hasOrder: Bool
}
