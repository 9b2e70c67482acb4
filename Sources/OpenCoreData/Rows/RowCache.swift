import Foundation

/// A store's row cache: the last rows seen, shared by the contexts of one coordinator.
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

  private var tables: [RowTable] = []

  /// One table for each root entity.
  init(rootCount: Int) {
    tables = (0..<rootCount).map { _ in RowTable() }
  }

  /// Entries that hold a row.
  var rowCount: Int {
    tables.reduce(0) { $0 + $1.rowCount }
  }

  /// The owners of all entries, for tests.
  var ownerCount: Int {
    tables.reduce(0) { $0 + $1.ownerCount }
  }

  /// The row of a key, with one count for the caller; nil when there is none or it is older than
  /// `oldest` (seconds since 2001).
  func row(rootIndex: Int, key: Int64, notBefore oldest: Double) -> Row? {
    guard let entry = tables[rootIndex].entries.find(key), let row = entry.pointee.row,
      entry.pointee.timestamp >= oldest
    else { return nil }
    row.retain()
    return row
  }

  /// Reads from a key's row without taking a count; nil when there is no row.
  func peek<R>(rootIndex: Int, key: Int64, _ body: (Row) -> R?) -> R? {
    guard let row = tables[rootIndex].entries.find(key)?.pointee.row else { return nil }
    return body(row)
  }

  /// Adds an owner to a key.
  func own(rootIndex: Int, key: Int64) {
    tables[rootIndex].entry(key).pointee.owners += 1
  }

  /// Puts a row in the place of an older one; without an owner it is not kept.
  ///
  /// A row read from an older snapshot than the entry's never replaces it.
  /// - Returns: The row that stands in the cache now, or `row` itself, with one count for the caller.
  func install(_ row: Row, rootIndex: Int, key: Int64, commit: UInt64, timestamp: Double) -> Row {
    guard let entry = tables[rootIndex].entries.find(key) else { return row }
    if entry.pointee.commit > commit {
      // Newer: another row, or none because it was deleted since.
      guard let present = entry.pointee.row else { return row }
      row.release()
      present.retain()
      return present
    }
    entry.pointee.row?.release()
    row.retain()
    entry.pointee.row = row
    entry.pointee.commit = commit
    entry.pointee.timestamp = timestamp
    return row
  }

  /// Takes an owner away; the entry goes with the last.
  func disown(rootIndex: Int, key: Int64) {
    let table = tables[rootIndex]
    guard let entry = table.entries.find(key) else { return }
    entry.pointee.owners -= 1
    if entry.pointee.owners <= 0 {
      table.entries.remove(key)?.row?.release()
    }
  }

  /// Empties a key's entry; owners stay.
  ///
  /// Rows read before `commit` do not fill it again.
  func forget(rootIndex: Int, key: Int64, commit: UInt64) {
    guard let entry = tables[rootIndex].entries.find(key) else { return }
    entry.pointee.row?.release()
    entry.pointee.row = nil
    entry.pointee.commit = max(entry.pointee.commit, commit)
  }

  /// Whether any entry of a key exists, with or without a row.
  func hasEntry(rootIndex: Int, key: Int64) -> Bool {
    tables[rootIndex].entries.find(key) != nil
  }
}

/// The rows of one root entity; a class so that an array of them is not copied with its tables.
private final class RowTable {
  var entries = KeyTable<RowCache.Entry>()

  var rowCount: Int {
    var count = 0
    entries.forEach { _, entry in
      if entry.pointee.row != nil { count += 1 }
    }
    return count
  }

  var ownerCount: Int {
    var count = 0
    entries.forEach { _, entry in count += Int(entry.pointee.owners) }
    return count
  }

  func entry(_ key: Int64) -> UnsafeMutablePointer<RowCache.Entry> {
    entries.find(key, orInsert: RowCache.Entry(row: nil, owners: 0, commit: 0, timestamp: 0))
  }

  deinit {
    entries.forEach { _, entry in entry.pointee.row?.release() }
  }
}
