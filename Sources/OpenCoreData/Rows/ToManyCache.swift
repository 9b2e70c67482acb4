/// Keys of to-many destinations, kept beside the rows under the store's lock.
///
/// An entry goes with its owner's row entry. It is good for one version of the owner's row: when that
/// was written by somebody else and read again, the relationship may have changed with it.
struct ToManyCache: ~Copyable, LinkTable {
  typealias Key = ToManyKey

  struct Entry {
    /// Each destination's entity and key, in the order of the database.
    var destinations: [FetchedIdentity]
    var commit: UInt64
    /// `Z_OPT` of the owner's cached row when this was read; nil when there was none.
    var version: Int64?
    /// Seconds since 2001.
    var timestamp: Double
  }

  private var entries: [Key: Entry] = [:]
  private var names: [RowKey: Set<String>] = [:]

  /// The destinations, unless they are unknown, older than `oldest`, or of another version of the
  /// owner's row than the one that is cached now.
  func destinations(
    _ key: Key, ownerVersion: Int64?, notBefore oldest: Double
  ) -> [FetchedIdentity]? {
    guard let entry = entries[key], entry.timestamp >= oldest else { return nil }
    if let then = entry.version, let ownerVersion, then != ownerVersion { return nil }
    return entry.destinations
  }

  /// The destinations as they were known before a commit; nil when they were not, or have changed.
  func destinations(_ key: Key, before commit: UInt64) -> [FetchedIdentity]? {
    guard let entry = entries[key], entry.commit < commit else { return nil }
    return entry.destinations
  }

  /// Keeps what was read, unless something newer is there.
  mutating func install(_ entry: Entry, for key: Key) {
    if let present = entries[key], present.commit > entry.commit { return }
    entries[key] = entry
    names[RowKey(rootIndex: key.rootIndex, primaryKey: key.primaryKey), default: []]
      .insert(key.relationship)
  }

  /// Follows a saved change of one destination, where the relationship is known.
  mutating func edit(_ key: Key, adding: FetchedIdentity?, removing: Int64?, commit: UInt64) {
    guard var entry = entries[key] else { return }
    if let removing { entry.destinations.removeAll { $0.primaryKey == removing } }
    if let adding, !entry.destinations.contains(where: { $0.primaryKey == adding.primaryKey }) {
      entry.destinations.append(adding)
    }
    entry.commit = commit
    entries[key] = entry
  }

  /// Takes over a saved list, where the relationship is known.
  mutating func replace(_ key: Key, by list: [FetchedIdentity], commit: UInt64) {
    guard var entry = entries[key] else { return }
    entry.destinations = list
    entry.commit = commit
    entries[key] = entry
  }

  /// Forgets a relationship, so that the next fault asks the database.
  mutating func doubt(_ key: Key) {
    entries[key] = nil
  }

  /// Says that what is known of one owner holds for its newly saved row too.
  mutating func adopt(version: Int64, rootIndex: Int, key: Int64) {
    guard !names.isEmpty,
      let relationships = names[RowKey(rootIndex: rootIndex, primaryKey: key)]
    else { return }
    for name in relationships {
      entries[Key(rootIndex: rootIndex, primaryKey: key, relationship: name)]?.version = version
    }
  }

  /// Takes rows out of relationships of every owner: one pass over all that is known.
  mutating func removeEverywhere(_ rows: [String: Set<RowKey>], commit: UInt64) {
    for (key, entry) in entries {
      guard let gone = rows[key.relationship] else { continue }
      let rest = entry.destinations.filter { !gone.contains(RowKey($0)) }
      guard rest.count < entry.destinations.count else { continue }
      entries[key]?.destinations = rest
      entries[key]?.commit = commit
    }
  }

  /// Whether nothing is known of any relationship.
  var isEmpty: Bool { entries.isEmpty }

  /// Drops all relationships of every owner.
  mutating func removeAll() {
    entries = [:]
    names = [:]
  }

  /// Drops all relationships of one owner.
  mutating func forget(rootIndex: Int, key: Int64) {
    let owner = RowKey(rootIndex: rootIndex, primaryKey: key)
    guard !names.isEmpty, let relationships = names.removeValue(forKey: owner) else { return }
    for name in relationships {
      entries[Key(rootIndex: rootIndex, primaryKey: key, relationship: name)] = nil
    }
  }
}

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
