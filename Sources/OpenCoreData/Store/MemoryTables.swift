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

  /// Removes a row, with the links that it owns.
  mutating func remove(_ layout: EntityLayout, _ key: Int64) {
    rows[layout.rootIndex][key] = nil
    for relationship in layout.toMany {
      links[
        ToManyKey(rootIndex: layout.rootIndex, primaryKey: key, relationship: relationship.name)] =
        nil
    }
  }

  mutating func edit(_ key: ToManyKey, adding: FetchedIdentity?, removing: Int64?, commit: UInt64) {
    if let removing { links[key]?.removeAll { $0.primaryKey == removing } }
    guard let adding else { return }
    if links[key]?.contains(where: { $0.primaryKey == adding.primaryKey }) != true {
      links[key, default: []].append(adding)
    }
  }

  mutating func replace(_ key: ToManyKey, by list: [FetchedIdentity], commit: UInt64) {
    links[key] = list
  }

  mutating func removeEverywhere(_ rows: [String: Set<RowKey>], commit: UInt64) {
    for key in links.keys {
      guard let gone = rows[key.relationship] else { continue }
      links[key]?.removeAll { gone.contains(RowKey($0)) }
    }
  }
}

/// One row of a store in memory; it holds one count.
final class MemoryRow: Sendable {
  let layout: EntityLayout
  let primaryKey: Int64
  let row: Row

  /// Takes over the count that comes with the row.
  init(layout: EntityLayout, primaryKey: Int64, row: Row) {
    self.layout = layout
    self.primaryKey = primaryKey
    self.row = row
  }

  deinit {
    row.release()
  }

  /// The row with a count for the caller.
  var fetched: FetchedRow {
    row.retain()
    return FetchedRow(layout: layout, primaryKey: primaryKey, row: row)
  }

  var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }
}
