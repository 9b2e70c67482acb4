/// Rows and to-many keys of one query generation that the row cache does not have.
struct PinnedRows {
  private struct Key: Hashable {
    let rootIndex: Int
    let primaryKey: Int64
  }

  /// Each with one count.
  private var rows: [Key: Row] = [:]
  private var links: [Key: [String: [FetchedIdentity]]] = [:]

  var isEmpty: Bool { rows.isEmpty && links.isEmpty }

  /// The row of a key, without a count.
  func row(rootIndex: Int, key: Int64) -> Row? {
    rows[Key(rootIndex: rootIndex, primaryKey: key)]
  }

  /// Where a to-many leads; nil when it is not known.
  func destinations(_ key: ToManyKey) -> [FetchedIdentity]? {
    links[Key(rootIndex: key.rootIndex, primaryKey: key.primaryKey)]?[key.relationship]
  }

  /// Keeps a row, taking a count of its own, unless one is there.
  mutating func keep(_ row: Row, rootIndex: Int, key: Int64) {
    let key = Key(rootIndex: rootIndex, primaryKey: key)
    guard rows[key] == nil else { return }
    row.retain()
    rows[key] = row
  }

  mutating func keep(_ destinations: [FetchedIdentity], for key: ToManyKey) {
    links[Key(rootIndex: key.rootIndex, primaryKey: key.primaryKey), default: [:]][
      key.relationship] = destinations
  }

  /// Drops the row and the to-many keys of an object that nobody owns any more.
  mutating func forget(rootIndex: Int, key: Int64) {
    let key = Key(rootIndex: rootIndex, primaryKey: key)
    rows.removeValue(forKey: key)?.release()
    links[key] = nil
  }

  mutating func removeAll() {
    for row in rows.values { row.release() }
    rows = [:]
    links = [:]
  }
}
