import ManagedModel

/// The rows and links of a store in memory: a value, so that a copy is a snapshot.
struct MemoryTables: LinkTable, Sendable {
  /// By root entity, then by key.
  private(set) var rows: [[Int64: MemoryRow]]
  private(set) var links: [ToManyKey: [FetchedIdentity]] = [:]

  init(rootCount: Int) {
    rows = [[Int64: MemoryRow]](repeating: [:], count: rootCount)
  }

  func row(_ rootIndex: Int, _ key: Int64) -> MemoryRow? {
    rows[rootIndex][key]
  }

  mutating func put(_ row: MemoryRow) {
    rows[row.layout.rootIndex][row.primaryKey] = row
  }

  /// Removes a row, with the pairs that it has in many-to-many relationships.
  ///
  /// The inverse of a to-one stays: rows that still refer to the removed one are found from it, as by
  /// their foreign keys in SQL.
  mutating func remove(_ layout: EntityLayout, _ key: Int64) {
    rows[layout.rootIndex][key] = nil
    for relationship in layout.toMany
    where relationship.inverseRelationship?.isToMany != false {
      links[
        ToManyKey(rootIndex: layout.rootIndex, primaryKey: key, relationship: relationship.name)] =
        nil
    }
  }

  mutating func edit(_ key: ToManyKey, adding: FetchedIdentity?, removing: Int64?, commit: UInt64) {
    if let removing {
      links[key]?.removeAll { $0.primaryKey == removing }
      if links[key]?.isEmpty == true { links[key] = nil }
    }
    guard let adding else { return }
    if links[key]?.contains(where: { $0.primaryKey == adding.primaryKey }) != true {
      links[key, default: []].append(adding)
    }
  }

  mutating func replace(_ key: ToManyKey, by list: [FetchedIdentity], commit: UInt64) {
    links[key] = list
  }

  /// Nothing: reading leaves out what has no row.
  mutating func doubt(_ key: ToManyKey) {}

  mutating func removeEverywhere(_ rows: [String: Set<RowKey>], commit: UInt64) {
    for key in links.keys {
      guard let gone = rows[key.relationship] else { continue }
      links[key]?.removeAll { gone.contains(RowKey($0)) }
    }
  }
}
