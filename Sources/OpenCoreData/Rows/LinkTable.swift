/// Where the destinations of to-many relationships are kept: beside the rows, or in memory for good.
protocol LinkTable: ~Copyable {
  /// Follows a saved change of one destination of one owner.
  mutating func edit(_ key: ToManyKey, adding: FetchedIdentity?, removing: Int64?, commit: UInt64)
  /// Takes over the saved list of an ordered relationship of one owner.
  mutating func replace(_ key: ToManyKey, by list: [FetchedIdentity], commit: UInt64)
  /// Says that some of what one owner was given may have no row.
  mutating func doubt(_ key: ToManyKey)
  /// Takes rows out of relationships, which have names, of every owner.
  mutating func removeEverywhere(_ rows: [String: Set<RowKey>], commit: UInt64)
}

/// One to-many relationship of one owner.
struct ToManyKey: Hashable {
  let rootIndex: Int
  let primaryKey: Int64
  let relationship: String
}
