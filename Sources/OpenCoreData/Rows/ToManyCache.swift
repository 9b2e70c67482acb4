/// Keys of to-many destinations, kept beside the rows under the store's lock.
///
/// An entry goes with its owner's row entry, and whenever a save changes the relationship.
struct ToManyCache: ~Copyable {
  struct Key: Hashable {
    let rootIndex: Int
    let primaryKey: Int64
    let relationship: String
  }

  struct Entry {
    /// Each destination's entity and key, in the order of the database.
    var destinations: [FetchedIdentity]
    var commit: UInt64
    /// Seconds since 2001.
    var timestamp: Double
  }

  private var entries: [Key: Entry] = [:]
  private var names: [OwnerKey: Set<String>] = [:]

  private struct OwnerKey: Hashable {
    let rootIndex: Int
    let primaryKey: Int64
  }

  /// The destinations, unless they are unknown or older than `oldest`.
  func destinations(_ key: Key, notBefore oldest: Double) -> [FetchedIdentity]? {
    guard let entry = entries[key], entry.timestamp >= oldest else { return nil }
    return entry.destinations
  }

  /// Keeps what was read, unless something newer is there.
  mutating func install(_ entry: Entry, for key: Key) {
    if let present = entries[key], present.commit > entry.commit { return }
    entries[key] = entry
    names[OwnerKey(rootIndex: key.rootIndex, primaryKey: key.primaryKey), default: []]
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

  /// Drops all relationships of one owner.
  mutating func forget(rootIndex: Int, key: Int64) {
    let owner = OwnerKey(rootIndex: rootIndex, primaryKey: key)
    guard !names.isEmpty, let relationships = names.removeValue(forKey: owner) else { return }
    for name in relationships {
      entries[Key(rootIndex: rootIndex, primaryKey: key, relationship: name)] = nil
    }
  }
}
