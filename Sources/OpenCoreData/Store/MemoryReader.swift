import ManagedModel

/// Reads a snapshot of a store in memory.
final class MemoryReader: StoreReader {
  let store: RowStore
  let commit: UInt64
  let tables: MemoryTables
  /// The first key that a row was asked for and does not have.
  var unknownKey: (key: String, entity: String)?

  init(store: RowStore, tables: MemoryTables, commit: UInt64) {
    self.store = store
    self.tables = tables
    self.commit = commit
  }

  var generation: StoreGeneration? { nil }

  var isFresh: Bool {
    store.commitNumber == commit
  }

  func end() {}

  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow] {
    try matches(plan).map(\.fetched)
  }

  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity] {
    try matches(plan).map(\.identity)
  }

  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int {
    if let dictionary = plan.dictionary {
      return try dictionaries(plan, dictionary, in: scope).count
    }
    var counted = plan
    // No order changes the number. Where one would say which rows lie within the limits, its keys have
    // to be known, as in SQL.
    let isLimited = plan.limit > 0 || plan.offset > 0
    counted.sort.removeAll { !isLimited || plan.isTransient($0) }
    return try matches(counted).count
  }

  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow? {
    tables.row(layout.rootIndex, key)?.fetched
  }

  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, pageSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow] {
    Set(keys).sorted().compactMap { tables.row(layout.rootIndex, $0)?.fetched }
  }

  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    let key = ToManyKey(
      rootIndex: owner.layout.rootIndex, primaryKey: owner.primaryKey,
      relationship: relationship.name)
    // As a join does, this leaves out a destination that was deleted before it was linked.
    return (tables.links[key] ?? []).filter {
      tables.row($0.layout.rootIndex, $0.primaryKey) != nil
    }
  }

  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    var rows: [FetchedRow] = []
    var seen: Set<Int64> = []
    for owner in owners {
      let found = try destinations(of: relationship, owner, in: scope)
      links[owner.primaryKey] = found
      for identity in found where seen.insert(identity.primaryKey).inserted {
        if let row = tables.row(identity.layout.rootIndex, identity.primaryKey) {
          rows.append(row.fetched)
        }
      }
    }
    return rows
  }

  /// A descriptor by a to-one with an ordered inverse sorts by the places in that inverse's list.
  private func placed(_ descriptor: NSSortDescriptor, _ plan: FetchPlan) -> NSSortDescriptor {
    guard let key = descriptor.key,
      plan.entity.relationshipsByName[key]?.inverseRelationship?.isOrdered == true
    else { return descriptor }
    return NSSortDescriptor(key: MemoryRecord.placeKey + key, ascending: descriptor.ascending)
  }

  /// The rows that a fetch asks for, in its order; in the order of their keys where it says none.
  private func matches(_ plan: FetchPlan) throws -> [MemoryRow] {
    var records = try records(plan)
    if !plan.sort.isEmpty { records = records.sorted(using: plan.sort.map { placed($0, plan) }) }
    try checkUnknownKey()
    let skipped = records.dropFirst(plan.offset)
    return (plan.limit > 0 ? skipped.prefix(plan.limit) : skipped).map(\.row)
  }

  /// What a fetch's predicate holds for, in the order of the keys.
  func records(_ plan: FetchPlan) throws -> [MemoryRecord] {
    unknownKey = nil
    try checkKeys(of: plan)
    let rows = tables.rows[plan.layout.rootIndex].values
      .filter { plan.covers($0.layout) }
      .sorted { $0.primaryKey < $1.primaryKey }
    var records = rows.map { MemoryRecord($0, self) }
    if let predicate = plan.predicate {
      do {
        records = try records.filter { try predicate.evaluation(ofRecord: $0) }
      } catch {
        throw NSError.unanswerable(predicate, error)
      }
    }
    return records
  }
}
