import ManagedModel

/// Reads a query generation for one context.
///
/// Others may read the same generation at the same time: each call waits for its turn.
final class GenerationReader: StoreReader {
  private let pinned: StoreGeneration

  init(_ generation: StoreGeneration) {
    pinned = generation
  }

  var store: RowStore { pinned.store }
  var commit: UInt64 { pinned.commit - 1 }
  var generation: StoreGeneration? { pinned }
  var isFresh: Bool { true }

  func end() {}

  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow] {
    try pinned.read { try $0.rows(plan, in: scope) }
  }

  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity] {
    try pinned.read { try $0.identities(plan, in: scope) }
  }

  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]] {
    try pinned.read { try $0.dictionaries(plan, dictionary, in: scope) }
  }

  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int {
    try pinned.read { try $0.count(plan, in: scope) }
  }

  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow? {
    try pinned.read { try $0.row(layout, key, in: scope) }
  }

  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, pageSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow] {
    try pinned.read { try $0.rows(keys, of: layout, pageSize: pageSize, in: scope) }
  }

  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    try pinned.read { try $0.destinations(of: relationship, owner, in: scope) }
  }

  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    try pinned.read {
      try $0.linkedRows(of: relationship, owners, in: scope, links: &links)
    }
  }
}
