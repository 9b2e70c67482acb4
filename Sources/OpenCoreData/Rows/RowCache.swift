import Foundation

/// A store's row cache: the most recent rows, shared by the contexts of one coordinator.
///
/// A cached row is marked (`isCached`), so that a fault that retains it needs no lookup.
///
/// An entry lives while it has an owner: a registered object with that key (one owner for each
/// context), a prefetch, or an object ID that a fetch returned. It can be empty: an owner waits for a
/// row. Every call is made under the store's lock; each takes it once, regardless of the number of
/// rows.
struct RowCache: ~Copyable {
  struct Entry {
    /// Nil until a row is added; the entry retains it once.
    var row: Row?
    var owners: Int32
    /// The store's commit number when the row was read.
    var commit: UInt64
    /// The time when the row was read or written, in seconds since 2001.
    var timestamp: Double
  }

  let tables: FixedArray<KeyTable<Entry>>

  /// Creates a cache with one table for each root entity.
  init(rootCount: Int) {
    tables = FixedArray(count: rootCount) { KeyTable() }
  }

  deinit {
    for root in 0..<tables.count {
      tables[root].forEach { _, entry in RowCache.clear(entry) }
    }
  }

  /// Returns the row of a key, retained for the caller; nil if there is none or it's older than
  /// `oldest` (seconds since 2001).
  func row(rootIndex: Int, key: Int64, notBefore oldest: Double) -> Row? {
    guard let entry = tables[rootIndex].find(key), let row = entry.pointee.row,
      entry.pointee.timestamp >= oldest
    else { return nil }
    row.retain()
    return row
  }

  /// Returns the row of a key, not retained; nil if there is none from before that commit.
  func row(rootIndex: Int, key: Int64, before commit: UInt64) -> Row? {
    guard let entry = tables[rootIndex].find(key), entry.pointee.commit < commit else { return nil }
    return entry.pointee.row
  }

  /// Reads from a key's row without retaining it; nil if there's no row.
  func peek<R>(rootIndex: Int, key: Int64, _ body: (Row) -> R?) -> R? {
    guard let row = tables[rootIndex].find(key)?.pointee.row else { return nil }
    return body(row)
  }

  /// Adds an owner to a key.
  func own(rootIndex: Int, key: Int64) {
    entry(rootIndex, key).pointee.owners += 1
  }

  /// Adds a row or replaces an older one; without an owner it isn't cached.
  ///
  /// A row read from an older snapshot than the entry's never replaces it.
  /// - Returns: The cached row, or `row` itself, retained for the caller.
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

  /// Removes an entry's row from the cache.
  private static func clear(_ entry: UnsafeMutablePointer<Entry>) {
    guard let row = entry.pointee.row else { return }
    row.isCached = false
    entry.pointee.row = nil
    row.release()
  }

  /// Reserves room for the given number of additional keys of a root entity.
  func reserve(rootIndex: Int, _ additional: Int) {
    tables[rootIndex].reserve(additional)
  }

  /// Adds an owner to a key and adds its row, as `own` and `install` do, in one lookup.
  func own(
    _ row: Row, rootIndex: Int, key: Int64, commit: UInt64, timestamp: Double
  ) -> Row {
    let entry = entry(rootIndex, key)
    entry.pointee.owners += 1
    return RowCache.place(row, in: entry, commit: commit, timestamp: timestamp)
  }

  /// Removes an owner; the entry is removed with the last one.
  func disown(rootIndex: Int, key: Int64) {
    guard let entry = tables[rootIndex].find(key) else { return }
    entry.pointee.owners -= 1
    if entry.pointee.owners <= 0 {
      RowCache.clear(entry)
      tables[rootIndex].remove(key)
    }
  }

  /// Clears a key's entry; owners are kept.
  ///
  /// Rows read before `commit` aren't added again.
  func forget(rootIndex: Int, key: Int64, commit: UInt64) {
    guard let entry = tables[rootIndex].find(key) else { return }
    RowCache.clear(entry)
    entry.pointee.commit = max(entry.pointee.commit, commit)
  }

  /// Returns whether a key has an entry, with or without a row.
  func hasEntry(rootIndex: Int, key: Int64) -> Bool {
    tables[rootIndex].find(key) != nil
  }

  private func entry(_ rootIndex: Int, _ key: Int64) -> UnsafeMutablePointer<Entry> {
    tables[rootIndex].find(key, orInsert: Entry(row: nil, owners: 0, commit: 0, timestamp: 0))
  }
}
