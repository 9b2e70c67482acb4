/// A table of the destinations of to-many relationships: a cache, or the storage of an in-memory
/// store.
protocol LinkTable: ~Copyable {
  /// Applies a saved change of one destination of one owner.
  mutating func edit(_ key: ToManyKey, adding: FetchedIdentity?, removing: Int64?, commit: UInt64)
  /// Applies the saved changes of an ordered relationship of one owner.
  mutating func arrange(_ key: ToManyKey, as order: SavedOrder, commit: UInt64)
  /// Records that some destinations of one owner may have no row.
  mutating func doubt(_ key: ToManyKey)
  /// Removes rows from named relationships of every owner, or of those of one root entity.
  ///
  /// - Parameter layout: That of the owners' entity, if another one of the same root entity has a
  ///   relationship of that name; a table that doesn't know the entities discards what it has.
  mutating func removeEverywhere(
    _ rows: [String: Set<RowKey>], ofRoot rootIndex: Int?, layout: EntityLayout?, commit: UInt64)
}

/// One to-many relationship of one owner.
struct ToManyKey: Hashable {
  let rootIndex: Int
  let primaryKey: Int64
  let relationship: String
}

/// The order of a relationship that a context has saved, which may have read it before others saved
/// theirs.
struct SavedOrder {
  /// The destinations in order.
  let list: [FetchedIdentity]
  /// The keys of those that the save added.
  let added: Set<Int64>
  /// The keys of those that it removed.
  let removed: Set<Int64>
}

/// The destinations of a to-many relationship of one owner: each one's entity and key, in the order
/// of the store.
///
/// Adding takes constant time, amortized, after the first addition, which lists the keys.
struct LinkedRows: Sendable {
  private(set) var list: [FetchedIdentity]
  /// The keys of the list; `nil` until one is added.
  private var keys: Set<Int64>?

  init(_ list: [FetchedIdentity]) {
    self.list = list
  }

  /// Adds a destination at the end, unless it's present.
  mutating func add(_ destination: FetchedIdentity) {
    if keys == nil { keys = Set(list.lazy.map(\.primaryKey)) }
    if keys?.insert(destination.primaryKey).inserted == true { list.append(destination) }
  }

  /// Removes a destination, if it's present: one pass over the list.
  mutating func remove(_ key: Int64) {
    if keys != nil, keys?.remove(key) == nil { return }
    list.removeAll { $0.primaryKey == key }
  }
  /// Adds and removes destinations, and arranges the others; those that the order doesn't contain
  /// stay at the end.
  mutating func arrange(as order: SavedOrder) {
    let present = Set(list.lazy.map(\.primaryKey))
    let arranged = order.list.filter {
      present.contains($0.primaryKey) || order.added.contains($0.primaryKey)
    }
    let known = Set(arranged.lazy.map(\.primaryKey)).union(order.removed)
    list = arranged + list.filter { !known.contains($0.primaryKey) }
    keys = nil
  }
}
