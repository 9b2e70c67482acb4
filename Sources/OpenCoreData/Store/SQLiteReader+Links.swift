import ManagedModel
import SQLiteDriver

extension SQLiteReader {
  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    guard let mapped = sqlite.entity(owner.layout).toMany[relationship.name] else {
      // There are none, or in a store of another configuration, where nothing of this one leads.
      guard let destination = relationship.destinationEntity,
        sqlite.mapping.held(destination) != nil
      else { return [] }
      throw NSError.fetch("The store does not keep the relationship '\(relationship.name)'.")
    }
    var query = sqlite.translator.toMany(mapped)
    query.binds = [.integer(owner.primaryKey)]
    return try keys(query, for: mapped.destination.name, in: scope)
  }

  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    guard let source = owners.first,
      let mapped = sqlite.entity(source.layout).toMany[relationship.name]
    else { return [] }
    let keys = ContiguousArray(owners.map(\.primaryKey))
    guard var query = sqlite.translator.prefetchToMany(mapped) else {
      return try joinedRows(mapped, keys, in: scope, links: &links)
    }
    query.intArrays = [keys]
    return try linkedRows(query, for: mapped.destination.name, in: scope, links: &links)
  }

  /// Runs a one-to-many prefetch: each row carries its owner's key.
  private func linkedRows(
    _ query: SelectQuery, for entity: String, in scope: ProfileScope,
    links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    var owners: [Int64] = []
    let column = query.projection.sourceKeyColumn ?? Projection.keyColumn
    let rows = try rows(query, for: entity, in: scope) { statement in
      owners.append(statement.int64(column))
    }
    for (owner, row) in zip(owners, rows) {
      links[owner, default: []].append(row.identity)
    }
    return rows
  }

  /// Runs a many-to-many prefetch in two statements: the pairs, then the rows of the destinations.
  private func joinedRows(
    _ relationship: SQLToMany, _ keys: ContiguousArray<Int64>, in scope: ProfileScope,
    links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    guard let join = sqlite.translator.prefetchJoin(relationship) else { return [] }
    var pairs: [(owner: Int64, destination: Int64)] = []
    let pairQuery = SelectQuery(
      sql: join.sql, intArrays: [keys],
      projection: Projection(entity: relationship.destination, extent: .identifiers))
    try sqlite.select(pairQuery, on: connection, for: relationship.destination.name, in: scope) {
      pairs.append(($0.int64(0), $0.int64(1)))
    }
    guard !pairs.isEmpty else { return [] }
    var query = sqlite.translator.prefetchToOne(entity: relationship.destination)
    query.intArrays = [ContiguousArray(Set(pairs.map(\.destination)).sorted())]
    let rows = try rows(query, for: relationship.destination.name, in: scope)
    let layouts = Dictionary(
      rows.map { ($0.primaryKey, $0.layout) }, uniquingKeysWith: { first, _ in first })
    for pair in pairs {
      guard let layout = layouts[pair.destination] else { continue }
      links[pair.owner, default: []].append(
        FetchedIdentity(layout: layout, primaryKey: pair.destination))
    }
    return rows
  }
}
