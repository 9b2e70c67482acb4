/// The keys of to-many destinations, cached with the rows under the store's lock.
///
/// An entry is removed with its owner's row entry. It's valid for one version of the owner's row: if
/// that was changed elsewhere and reread, the relationship may have changed too.
struct ToManyCache: ~Copyable, LinkTable {
  typealias Key = ToManyKey

  struct Entry {
    /// Each destination's entity and key, in the order of the store.
    var destinations: [FetchedIdentity]
    var commit: UInt64
    /// The `Z_OPT` of the owner's cached row when this was read; nil if there was none.
    var version: Int64?
    /// The time in seconds since 2001.
    var timestamp: Double
  }

  private var entries: [Key: Entry] = [:]
  private var names: [RowKey: Set<String>] = [:]

  /// Returns the destinations, unless they are unknown, older than `oldest`, or of another version of
  /// the owner's row than the cached one.
  func destinations(
    _ key: Key, ownerVersion: Int64?, notBefore oldest: Double
  ) -> [FetchedIdentity]? {
    guard let entry = entries[key], entry.timestamp >= oldest else { return nil }
    if let then = entry.version, let ownerVersion, then != ownerVersion { return nil }
    return entry.destinations
  }

  /// Returns the destinations known before a commit; nil if they weren't, or have changed.
  func destinations(_ key: Key, before commit: UInt64) -> [FetchedIdentity]? {
    guard let entry = entries[key], entry.commit < commit else { return nil }
    return entry.destinations
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
    guard var entry = entries[key] else { return }
    if let removing { entry.destinations.removeAll { $0.primaryKey == removing } }
    if let adding, !entry.destinations.contains(where: { $0.primaryKey == adding.primaryKey }) {
      entry.destinations.append(adding)
    }
    entry.commit = commit
    entries[key] = entry
  }

  /// Applies a saved list, if the relationship is cached.
  mutating func replace(_ key: Key, by list: [FetchedIdentity], commit: UInt64) {
    guard var entry = entries[key] else { return }
    entry.destinations = list
    entry.commit = commit
    entries[key] = entry
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

  /// Removes rows from relationships of every owner: one pass over all entries.
  mutating func removeEverywhere(_ rows: [String: Set<RowKey>], commit: UInt64) {
    for (key, entry) in entries {
      guard let gone = rows[key.relationship] else { continue }
      let rest = entry.destinations.filter { !gone.contains(RowKey($0)) }
      guard rest.count < entry.destinations.count else { continue }
      entries[key]?.destinations = rest
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

/// A table of the destinations of to-many relationships: a cache, or the storage of an in-memory store.
protocol LinkTable: ~Copyable {
  /// Applies a saved change of one destination of one owner.
  mutating func edit(_ key: ToManyKey, adding: FetchedIdentity?, removing: Int64?, commit: UInt64)
  /// Applies the saved list of an ordered relationship of one owner.
  mutating func replace(_ key: ToManyKey, by list: [FetchedIdentity], commit: UInt64)
  /// Records that some destinations of one owner may have no row.
  mutating func doubt(_ key: ToManyKey)
  /// Removes rows from named relationships of every owner.
  mutating func removeEverywhere(_ rows: [String: Set<RowKey>], commit: UInt64)
}

/// One to-many relationship of one owner.
struct ToManyKey: Hashable {
  let rootIndex: Int
  let primaryKey: Int64
  let relationship: String
}
