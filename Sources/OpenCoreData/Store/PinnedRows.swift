/// Rows and to-many keys of one query generation that the row cache does not have.
struct PinnedRows {
  /// Each with one count.
  private(set) var rows: [RowKey: Row] = [:]
  private(set) var links: [RowKey: [String: [FetchedIdentity]]] = [:]

  /// The row of a key, without a count.
  func row(rootIndex: Int, key: Int64) -> Row? {
    rows[RowKey(rootIndex: rootIndex, primaryKey: key)]
  }

  /// Where a to-many leads; nil when it is not known.
  func destinations(_ key: ToManyKey) -> [FetchedIdentity]? {
    links[RowKey(rootIndex: key.rootIndex, primaryKey: key.primaryKey)]?[key.relationship]
  }

  /// Keeps a row, taking a count of its own, unless one is there.
  mutating func keep(_ row: Row, rootIndex: Int, key: Int64) {
    let key = RowKey(rootIndex: rootIndex, primaryKey: key)
    guard rows[key] == nil else { return }
    row.retain()
    rows[key] = row
  }

  mutating func keep(_ destinations: [FetchedIdentity], for key: ToManyKey) {
    links[RowKey(rootIndex: key.rootIndex, primaryKey: key.primaryKey), default: [:]][
      key.relationship] = destinations
  }

  /// Drops the row and the to-many keys of an object that nobody owns any more.
  mutating func forget(rootIndex: Int, key: Int64) {
    let key = RowKey(rootIndex: rootIndex, primaryKey: key)
    rows.removeValue(forKey: key)?.release()
    links[key] = nil
  }

  mutating func removeAll() {
    for row in rows.values { row.release() }
    rows = [:]
    links = [:]
  }
}
