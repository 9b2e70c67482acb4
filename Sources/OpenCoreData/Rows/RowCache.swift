import Foundation

/// A store's row cache: the most recent rows, shared by the contexts of one coordinator.
///
/// A cached row is marked (`isCached`), so that a fault that retains it needs no lookup.
///
/// An entry lives while it has an owner: a registered object with that key (one owner for each
/// context), a prefetch, or an object ID that a fetch returned. It can be empty: an owner waits for
/// a row. Every call is made under the store's lock; each takes it once, regardless of the number
/// of rows.
struct RowCache: ~Copyable {
  /// With its key, half of a line of the processor's cache.
  struct Entry {
    /// `nil` until a row is added; the entry retains it once.
    var row: Row?
    /// The store's commit number when the row was read.
    var commit: UInt64
    var owners: Int32
    /// The time when the row was read or written.
    var time: Time
  }

  /// A time in 128ths of a second since the cache was created, rounded down; after a year, the same
  /// for good, so that rows are read again if their age matters.
  struct Time {
    fileprivate let ticks: UInt32

    fileprivate var seconds: Double { Double(ticks) / 128 }
  }

  let tables: FixedArray<KeyTable<Entry>>
  /// The time of creation, in seconds since 2001.
  private let creation = Date.timeIntervalSinceReferenceDate

  /// Creates a cache with one table for each root entity.
  init(rootCount: Int) {
    tables = FixedArray(count: rootCount) { KeyTable() }
  }

  private func time(_ timestamp: Double) -> Time {
    Time(ticks: UInt32(max(0, min((timestamp - creation) * 128, Double(UInt32.max)))))
  }

  deinit {
    for root in 0..<tables.count {
      tables[root].forEach { _, entry in RowCache.clear(entry) }
    }
  }

  /// Returns the row of a key, retained for the caller; `nil` if there's none or it's older than
  /// `oldest` (seconds since 2001).
  func row(rootIndex: Int, key: Int64, notBefore oldest: Double) -> Row? {
    guard let entry = tables[rootIndex].find(key), let row = entry.pointee.row,
      creation + entry.pointee.time.seconds >= oldest
    else { return nil }
    row.retain()
    return row
  }

  /// Returns the row of a key, not retained; `nil` if there's none from before that commit.
  func row(rootIndex: Int, key: Int64, before commit: UInt64) -> Row? {
    guard let entry = tables[rootIndex].find(key), entry.pointee.commit < commit else { return nil }
    return entry.pointee.row
  }

  /// Reads from a key's row without retaining it; `nil` if there's no row.
  func peek<R>(rootIndex: Int, key: Int64, _ body: (Row) -> R?) -> R? {
    guard let row = tables[rootIndex].find(key)?.pointee.row else { return nil }
    return body(row)
  }

  /// Adds an owner to a key.
  func addOwner(rootIndex: Int, key: Int64) {
    entry(rootIndex, key).pointee.owners += 1
  }

  /// Adds a row or replaces an older one; without an owner it isn't cached.
  ///
  /// A row read from an older snapshot than the entry's never replaces it. The timestamp is in
  /// seconds since 2001.
  /// - Returns: The cached row, or `row` itself, retained for the caller.
  func install(_ row: Row, rootIndex: Int, key: Int64, commit: UInt64, timestamp: Double) -> Row {
    guard let entry = tables[rootIndex].find(key) else { return row }
    return RowCache.store(row, in: entry, commit: commit, time(timestamp))
  }

  private static func store(
    _ row: Row, in entry: UnsafeMutablePointer<Entry>, commit: UInt64, _ time: Time
  ) -> Row {
    if entry.pointee.commit > commit {
      // Newer: another row, or none because it was deleted since. One of another entity isn't what
      // the caller has read.
      guard let present = entry.pointee.row, present.layoutIndex == row.layoutIndex else {
        return row
      }
      row.release()
      present.retain()
      return present
    }
    clear(entry)
    row.retain()
    row.isCached = true
    entry.pointee.row = row
    entry.pointee.commit = commit
    entry.pointee.time = time
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

  /// Adds an owner to a key and adds its row, as `addOwner(rootIndex:key:)` and `install` do, in
  /// one lookup.
  func addOwner(
    _ row: Row, rootIndex: Int, key: Int64, commit: UInt64, timestamp: Double
  ) -> Row {
    let entry = entry(rootIndex, key)
    entry.pointee.owners += 1
    return RowCache.store(row, in: entry, commit: commit, time(timestamp))
  }

  /// Removes an owner; the entry is removed with the last one.
  func removeOwner(rootIndex: Int, key: Int64) {
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
    tables[rootIndex].find(
      key, orInsert: Entry(row: nil, commit: 0, owners: 0, time: Time(ticks: 0)))
  }
}

/// The keys of to-many destinations, cached with the rows under the store's lock.
///
/// An entry is removed with its owner's row entry. It's valid for one version of the owner's row:
/// if that was changed elsewhere and reread, the relationship may have changed too.
struct ToManyCache: ~Copyable, LinkTable {
  typealias Key = ToManyKey

  struct Entry {
    var destinations: LinkedRows
    var commit: UInt64
    /// The `Z_OPT` of the owner's cached row when this was read; `nil` if there was none.
    var version: Int64?
    /// The time in seconds since 2001.
    var timestamp: Double
  }

  private var entries: [Key: Entry] = [:]
  private var names: [RowKey: Set<String>] = [:]

  /// Returns the destinations, unless they are unknown, older than `oldest`, or of another version
  /// of the owner's row than the cached one.
  func destinations(
    _ key: Key, ownerVersion: Int64?, notBefore oldest: Double
  ) -> [FetchedIdentity]? {
    guard let entry = entries[key], entry.timestamp >= oldest else { return nil }
    if let then = entry.version, let ownerVersion, then != ownerVersion { return nil }
    return entry.destinations.list
  }

  /// Returns the destinations known before a commit; `nil` if they weren't, or have changed.
  func destinations(_ key: Key, before commit: UInt64) -> [FetchedIdentity]? {
    guard let entry = entries[key], entry.commit < commit else { return nil }
    return entry.destinations.list
  }

  /// Adds what was read, unless there's a newer entry.
  mutating func install(_ entry: Entry, for key: Key) {
    if let present = entries[key], present.commit > entry.commit { return }
    entries[key] = entry
    names[RowKey(rootIndex: key.rootIndex, primaryKey: key.primaryKey), default: []]
      .insert(key.relationship)
  }

  /// Applies a saved change of one destination, if the relationship is cached.
  mutating func edit(_ key: Key, adding: FetchedIdentity?, removing: Int64?, commit: UInt64) {
    guard let index = entries.index(forKey: key) else { return }
    if let removing { entries.values[index].destinations.remove(removing) }
    if let adding { entries.values[index].destinations.add(adding) }
    entries.values[index].commit = commit
  }

  /// Applies a saved order, if the relationship is cached.
  mutating func arrange(_ key: Key, as order: SavedOrder, commit: UInt64) {
    guard let index = entries.index(forKey: key) else { return }
    entries.values[index].destinations.arrange(as: order)
    entries.values[index].commit = commit
  }

  /// Removes a relationship, so that the next fault queries the store.
  mutating func doubt(_ key: Key) {
    entries[key] = nil
  }

  /// Marks an owner's entries as valid for its newly saved row.
  mutating func adopt(version: Int64, rootIndex: Int, key: Int64) {
    guard !names.isEmpty,
      let relationships = names[RowKey(rootIndex: rootIndex, primaryKey: key)]
    else { return }
    for name in relationships {
      entries[Key(rootIndex: rootIndex, primaryKey: key, relationship: name)]?.version = version
    }
  }

  /// Removes rows from relationships of every owner, or of those of one root entity: one pass over
  /// all entries.
  ///
  /// The entities of owners aren't known: if one is given, the relationships are read again.
  mutating func removeEverywhere(
    _ rows: [String: Set<RowKey>], ofRoot rootIndex: Int?, layout: EntityLayout?, commit: UInt64
  ) {
    for (key, entry) in entries {
      guard rootIndex == nil || key.rootIndex == rootIndex, let gone = rows[key.relationship]
      else { continue }
      let rest = entry.destinations.list.filter { !gone.contains(RowKey($0)) }
      guard rest.count < entry.destinations.list.count else { continue }
      guard layout == nil else {
        doubt(key)
        continue
      }
      entries[key]?.destinations = LinkedRows(rest)
      entries[key]?.commit = commit
    }
  }

  /// Whether no relationship is cached.
  var isEmpty: Bool { entries.isEmpty }

  /// Removes all relationships of every owner.
  mutating func removeAll() {
    entries = [:]
    names = [:]
  }

  /// Removes all relationships of one owner.
  mutating func forget(rootIndex: Int, key: Int64) {
    let owner = RowKey(rootIndex: rootIndex, primaryKey: key)
    guard !names.isEmpty, let relationships = names.removeValue(forKey: owner) else { return }
    for name in relationships {
      entries[Key(rootIndex: rootIndex, primaryKey: key, relationship: name)] = nil
    }
  }
}
