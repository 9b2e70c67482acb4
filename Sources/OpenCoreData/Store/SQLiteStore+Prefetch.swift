import ManagedModel
import SQLiteDriver

extension SQLiteStore {
  /// The distinct keys that a to-one leads to, as the cached rows of the sources say, in the order
  /// of the sources.
  func destinationKeys(of name: String, from sources: [FetchedIdentity]) -> ContiguousArray<Int64> {
    shared.withLock { shared in
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

  /// A pair of keys that a to-many prefetch found.
  struct Link {
    let owner: Int64
    let destination: FetchedIdentity
  }

  /// Runs one statement of a to-many prefetch: links, rows, or both, as its columns say.
  func links(
    _ query: SelectQuery, on connection: Connection, for entity: String, in scope: ProfileScope,
    _ body: (Link?, FetchedRow?) -> Void
  ) throws {
    var decoder: RowDecoder?
    try select(query, on: connection, for: entity, in: scope) { statement in
      var current =
        decoder
        ?? RowDecoder(statement: statement, projection: query.projection, layouts: layouts)
      let identity = try current.identity()
      let link = query.projection.sourceKeyColumn.map {
        Link(owner: statement.int64($0), destination: identity)
      }
      let row = query.projection.isIdentifiersOnly ? nil : try current.row()
      decoder = current
      body(link, row)
    }
  }

  /// Keeps the destinations of each owner beside the rows; owners without any are known to have none.
  func remember(
    _ links: [Int64: [FetchedIdentity]], of relationship: String, owners: [FetchedIdentity],
    commit: UInt64
  ) {
    let timestamp = Date.timeIntervalSinceReferenceDate
    shared.withLock { shared in
      for owner in owners {
        let key = ToManyCache.Key(
          rootIndex: owner.layout.rootIndex, primaryKey: owner.primaryKey,
          relationship: relationship)
        let entry = ToManyCache.Entry(
          destinations: links[owner.primaryKey] ?? [], commit: commit, timestamp: timestamp)
        shared.toMany.install(entry, for: key)
      }
    }
  }
}
