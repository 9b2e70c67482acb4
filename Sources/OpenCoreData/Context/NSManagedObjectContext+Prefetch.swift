import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Prefetches the destinations of key paths; their rows live as long as the objects of this
  /// fetch.
  ///
  /// **Cost:** one SELECT for each step, two for a many-to-many. The destinations stay faults.
  final func prefetch(
    _ paths: [String], from objects: [NSManagedObject], of entity: NSEntityDescription,
    in store: RowStore
  ) throws {
    guard !paths.isEmpty else { return }
    let steps = try paths.map { try relationships(along: $0, from: entity) }
    guard !objects.isEmpty else { return }
    let owner = PrefetchedRows(store: store, paths: Set(paths))
    let sources = objects.filter { $0.primaryKey > 0 }.map { $0.identity }
    var loaded: [String: [FetchedIdentity]] = [:]
    for path in steps {
      var (reached, present) = ("", sources)
      for relationship in path {
        reached += "." + relationship.name
        if let known = loaded[reached] {
          present = known
        } else {
          present = try prefetch(relationship, from: present, owner: owner, in: store)
          loaded[reached] = present
        }
      }
    }
    for object in objects {
      object.prefetched = object.prefetched.map { $0.joined(with: owner) } ?? owner
    }
  }

  /// Returns the relationships along a path of names, up to the first that has no destination.
  private func relationships(
    along path: String, from entity: NSEntityDescription
  ) throws -> [NSRelationshipDescription] {
    var current = entity
    var found: [NSRelationshipDescription] = []
    for name in path.split(separator: ".").map(String.init) {
      guard let relationship = current.relationshipsByName[name] else {
        throw NSError.fetch(
          "'\(name)' in the prefetched path '\(path)' isn't a relationship of "
            + "'\(current.name ?? "")'. It has: "
            + current.relationshipsByName.keys.sorted().joined(separator: ", ") + ".")
      }
      guard let destination = relationship.destinationEntity else { break }
      current = destination
      found.append(relationship)
    }
    return found
  }

  /// Performs one step: loads the destinations and returns their identities.
  ///
  /// A step that has no destinations loads nothing, and is neither reported nor counted.
  private func prefetch(
    _ relationship: NSRelationshipDescription, from sources: [FetchedIdentity],
    owner: PrefetchedRows, in store: RowStore
  ) throws -> [FetchedIdentity] {
    let event = scope.begin(.prefetch)
    var found: [FetchedIdentity]?
    defer { if found == nil { scope.abandon(event) } }
    found =
      relationship.isToMany
      ? try prefetchToMany(relationship, from: sources, owner: owner, in: store)
      : try prefetchToOne(relationship, from: sources, owner: owner, in: store)
    guard let found else { return [] }
    scope.counters.prefetches += 1
    scope.end(event) { event in
      event.entity = relationship.entity?.name
      event.relationship = relationship.name
      event.rows = found.count
    }
    return found
  }

  private func prefetchToOne(
    _ relationship: NSRelationshipDescription, from sources: [FetchedIdentity],
    owner: PrefetchedRows, in store: RowStore
  ) throws -> [FetchedIdentity]? {
    // A store of a configuration has no rows of other entities.
    guard let destination = relationship.destinationEntity,
      store.layouts.contains(EntityLayout.of(destination))
    else { return nil }
    return try read(store) { reader in
      let keys = reader.destinationKeys(of: relationship.name, from: sources)
      guard !keys.isEmpty else { return nil }
      let layout = EntityLayout.of(destination).at(store.storeIndex)
      let rows = try reader.rows(keys, of: layout, batchSize: nil, in: scope)
      return retainRows(rows, owner, reader)
    }
  }

  private func prefetchToMany(
    _ relationship: NSRelationshipDescription, from sources: [FetchedIdentity],
    owner: PrefetchedRows, in store: RowStore
  ) throws -> [FetchedIdentity]? {
    let owners = sources.filter { $0.layout.position(of: relationship.name) != nil }
    guard !owners.isEmpty else { return nil }
    return try read(store) { reader in
      var links: [Int64: [FetchedIdentity]] = [:]
      let rows = try reader.linkedRows(of: relationship, owners, in: scope, links: &links)
      reader.remember(links, of: relationship.name, owners: owners)
      return retainRows(rows, owner, reader)
    }
  }

  /// Adds prefetched rows to the row cache, retained by the fetch.
  private func retainRows(
    _ rows: [FetchedRow], _ owner: PrefetchedRows, _ reader: any StoreReader
  ) -> [FetchedIdentity] {
    reader.cache(rows)
    var byRoot: [Int: [Int64]] = [:]
    for row in rows { byRoot[row.layout.rootIndex, default: []].append(row.primaryKey) }
    for (rootIndex, keys) in byRoot { owner.add(keys, rootIndex: rootIndex) }
    return rows.map { $0.identity }
  }
}

/// The rows that a fetch has prefetched, which stay in the row cache until the last object of that
/// fetch is released or turned back into a fault.
final class PrefetchedRows {
  private let store: RowStore
  private let paths: Set<String>
  /// The rows that an earlier fetch prefetched along other paths for the same object.
  private let earlier: [PrefetchedRows]
  private var keys: [Int: [Int64]] = [:]

  init(store: RowStore, paths: Set<String>, earlier: [PrefetchedRows] = []) {
    self.store = store
    self.paths = paths
    self.earlier = earlier
  }

  /// Records rows whose owners were already added.
  func add(_ primaryKeys: some Sequence<Int64>, rootIndex: Int) {
    keys[rootIndex, default: []].append(contentsOf: primaryKeys)
  }

  /// Returns what an object retains after a later fetch: the later rows, and these unless the later
  /// fetch loaded the same paths.
  func joined(with later: PrefetchedRows) -> PrefetchedRows {
    if paths.isSubset(of: later.paths) { return later }
    let kept = earlier.isEmpty ? [self] : earlier.filter { !$0.paths.isSubset(of: later.paths) }
    return PrefetchedRows(
      store: store, paths: kept.reduce(into: later.paths) { $0.formUnion($1.paths) },
      earlier: kept + [later])
  }

  deinit {
    for (rootIndex, keys) in keys { store.removeOwner(rootIndex: rootIndex, keys: keys) }
  }
}
