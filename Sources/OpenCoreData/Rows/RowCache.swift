import Foundation

/// A store's row cache: the last rows seen, shared by the contexts of one coordinator.
///
/// A row that stands in an entry says so itself (`isCached`), so that a fault that has it at hand needs
/// no look-up.
///
/// An entry lives while somebody owns it: a registered object of that key (one owner for each
/// context), a prefetch, an object ID that an ID fetch returned. It may be empty: an owner waits for
/// a row. Every call is made under the store's lock; each takes it once, however many rows it moves.
struct RowCache: ~Copyable {
  struct Entry {
    /// Nil while no row has been seen; the entry owns one count of it.
    var row: Row?
    var owners: Int32
    /// The store's commit number that the row was read at.
    var commit: UInt64
    /// When the row was read or written, in seconds since 2001.
    var timestamp: Double
  }

  let tables: FixedArray<KeyTable<Entry>>

  /// One table for each root entity.
  init(rootCount: Int) {
    tables = FixedArray(count: rootCount) { KeyTable() }
  }

  deinit {
    for root in 0..<tables.count {
      tables[root].forEach { _, entry in RowCache.clear(entry) }
    }
  }

  /// The row of a key, with one count for the caller; nil when there is none or it is older than
  /// `oldest` (seconds since 2001).
  func row(rootIndex: Int, key: Int64, notBefore oldest: Double) -> Row? {
    guard let entry = tables[rootIndex].find(key), let row = entry.pointee.row,
      entry.pointee.timestamp >= oldest
    else { return nil }
    row.retain()
    return row
  }

  /// The row of a key without a count; nil when there is none from before that commit.
  func row(rootIndex: Int, key: Int64, before commit: UInt64) -> Row? {
    guard let entry = tables[rootIndex].find(key), entry.pointee.commit < commit else { return nil }
    return entry.pointee.row
  }

  /// Reads from a key's row without taking a count; nil when there's no row.
  func peek<R>(rootIndex: Int, key: Int64, _ body: (Row) -> R?) -> R? {
    guard let row = tables[rootIndex].find(key)?.pointee.row else { return nil }
    return body(row)
  }

  /// Adds an owner to a key.
  func own(rootIndex: Int, key: Int64) {
    entry(rootIndex, key).pointee.owners += 1
  }

  /// Puts a row in the place of an older one; without an owner it is not kept.
  ///
  /// A row read from an older snapshot than the entry's never replaces it.
  /// - Returns: The row that stands in the cache now, or `row` itself, with one count for the caller.
  func install(_ row: Row, rootIndex: Int, key: Int64, commit: UInt64, timestamp: Double) -> Row {
    guard let entry = tables[rootIndex].find(key) else { return row }
    return RowCache.place(row, in: entry, commit: commit, timestamp: timestamp)
  }

  private static func place(
    _ row: Row, in entry: UnsafeMutablePointer<Entry>, commit: UInt64, timestamp: Double
  ) -> Row {
    if entry.pointee.commit > commit {
      // Newer: another row, or none because it was deleted since.
      guard let present = entry.pointee.row else { return row }
      row.release()
      present.retain()
      return present
    }
    clear(entry)
    row.retain()
    row.isCached = true
    entry.pointee.row = row
    entry.pointee.commit = commit
    entry.pointee.timestamp = timestamp
    return row
  }

  /// Takes an entry's row out of the cache.
  private static func clear(_ entry: UnsafeMutablePointer<Entry>) {
    guard let row = entry.pointee.row else { return }
    row.isCached = false
    entry.pointee.row = nil
    row.release()
  }

  /// Makes room for as many more keys of a root.
  func reserve(rootIndex: Int, _ additional: Int) {
    tables[rootIndex].reserve(additional)
  }

  /// Adds an owner to a key and puts a row there, as `own` and `install` do, in one look-up.
  func own(
    _ row: Row, rootIndex: Int, key: Int64, commit: UInt64, timestamp: Double
  ) -> Row {
    let entry = entry(rootIndex, key)
    entry.pointee.owners += 1
    return RowCache.place(row, in: entry, commit: commit, timestamp: timestamp)
  }

  /// Takes an owner away; the entry goes with the last.
  func disown(rootIndex: Int, key: Int64) {
    guard let entry = tables[rootIndex].find(key) else { return }
    entry.pointee.owners -= 1
    if entry.pointee.owners <= 0 {
      RowCache.clear(entry)
      tables[rootIndex].remove(key)
    }
  }

  /// Empties a key's entry; owners stay.
  ///
  /// Rows read before `commit` do not fill it again.
  func forget(rootIndex: Int, key: Int64, commit: UInt64) {
    guard let entry = tables[rootIndex].find(key) else { return }
    RowCache.clear(entry)
    entry.pointee.commit = max(entry.pointee.commit, commit)
  }

  /// Whether any entry of a key exists, with or without a row.
  func hasEntry(rootIndex: Int, key: Int64) -> Bool {
    tables[rootIndex].find(key) != nil
  }

  private func entry(_ rootIndex: Int, _ key: Int64) -> UnsafeMutablePointer<Entry> {
    tables[rootIndex].find(key, orInsert: Entry(row: nil, owners: 0, commit: 0, timestamp: 0))
  }
}
