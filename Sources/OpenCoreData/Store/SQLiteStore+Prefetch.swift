import ManagedModel
import SQLiteDriver

extension SQLiteStore {
  /// The distinct keys that a to-one leads to, as the cached rows of the sources say, in the order
  /// of the sources.
  func destinationKeys(of name: String, from sources: [FetchedIdentity]) -> ContiguousArray<Int64> {
    withShared { shared in
      var seen: Set<Int64> = []
      var keys: ContiguousArray<Int64> = []
      for source in sources {
        guard case .slot(let index)? = source.layout.place(of: name),
          let key = shared.rows.peek(
            rootIndex: source.layout.rootIndex, key: source.primaryKey,
            { row in
              let slot = source.layout.slots[index]
              return row.isNull(slot) ? nil : row.int64(slot)
            })
        else { continue }
        if seen.insert(key).inserted { keys.append(key) }
      }
      return keys
    }
  }

  /// Runs a one-to-many prefetch: each row carries its owner's key.
  ///
  /// The caller owns the rows.
  func linkedRows(
    _ query: SelectQuery, on connection: Connection, for entity: String, in scope: ProfileScope,
    links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    var owners: [Int64] = []
    let column = query.projection.sourceKeyColumn ?? Projection.keyColumn
    let rows = try rows(query, on: connection, for: entity, in: scope) { statement in
      owners.append(statement.int64(column))
    }
    for (owner, row) in zip(owners, rows) {
      links[owner, default: []].append(
        FetchedIdentity(layout: row.layout, primaryKey: row.primaryKey))
    }
    return rows
  }

  /// Runs a many-to-many prefetch in two statements: the pairs, then the rows of the destinations.
  func joinedRows(
    _ relationship: SQLToMany, _ keys: ContiguousArray<Int64>, on connection: Connection,
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    guard let join = translator.prefetchJoin(relationship) else { return [] }
    var pairs: [(owner: Int64, destination: Int64)] = []
    let pairQuery = SelectQuery(
      sql: join.sql, intArrays: [keys],
      projection: Projection(entity: relationship.destination, extent: .identifiers))
    try select(pairQuery, on: connection, for: relationship.destination.name, in: scope) {
      pairs.append(($0.int64(0), $0.int64(1)))
    }
    guard !pairs.isEmpty else { return [] }
    var query = translator.prefetchToOne(entity: relationship.destination)
    query.intArrays = [ContiguousArray(Set(pairs.map(\.destination)).sorted())]
    let rows = try rows(query, on: connection, for: relationship.destination.name, in: scope)
    let layouts = Dictionary(
      rows.map { ($0.primaryKey, $0.layout) }, uniquingKeysWith: { first, _ in first })
    for pair in pairs {
      guard let layout = layouts[pair.destination] else { continue }
      links[pair.owner, default: []].append(
        FetchedIdentity(layout: layout, primaryKey: pair.destination))
    }
    return rows
  }

  /// Keeps the destinations of each owner beside the rows; owners without any are known to have none.
  func remember(
    _ links: [Int64: [FetchedIdentity]], of relationship: String, owners: [FetchedIdentity],
    commit: UInt64
  ) {
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      // A save since then may have changed any of them: it edits what is known under this lock,
      // after it has counted its commit.
      guard commitNumber == commit else { return }
      for owner in owners {
        let key = ToManyCache.Key(
          rootIndex: owner.layout.rootIndex, primaryKey: owner.primaryKey,
          relationship: relationship)
        let version = shared.rowVersion(rootIndex: key.rootIndex, key: key.primaryKey)
        let entry = ToManyCache.Entry(
          destinations: links[owner.primaryKey] ?? [], commit: commit, version: version,
          timestamp: timestamp)
        shared.toMany.install(entry, for: key)
      }
    }
  }

  /// Keeps the destinations of one owner beside the rows, as `remember` of several does.
  func remember(_ found: [FetchedIdentity], for key: ToManyCache.Key, commit: UInt64) {
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      guard commitNumber == commit,
        shared.rows.hasEntry(rootIndex: key.rootIndex, key: key.primaryKey)
      else { return }
      let version = shared.rowVersion(rootIndex: key.rootIndex, key: key.primaryKey)
      shared.toMany.install(
        ToManyCache.Entry(
          destinations: found, commit: commit, version: version, timestamp: timestamp), for: key)
    }
  }
}
