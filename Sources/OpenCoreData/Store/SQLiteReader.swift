import ManagedModel
import ProfileEvents
import SQLiteDriver

/// A reading connection checked out by one context, with an open read transaction that its reads
/// share.
///
/// A lookup inside a transaction costs a fifth of one that opens and closes its own, so the faults
/// of a block share one. It ends at fetch, save, merge, refresh, and rollback, at the end of the
/// block, and at the next read after 50 ms or after a commit that has made its snapshot outdated; a
/// block that doesn't read again keeps it open until it ends. Not reported as an event or counted
/// as a transaction.
final class SQLiteReader: StoreReader {
  let sqlite: SQLiteStore
  let connection: Connection
  let commit: UInt64
  let faultPlans: FaultPlans
  private let begun: UInt64
  /// Whether the reads share a read transaction.
  ///
  /// Not in memory: there, an open read transaction would block every save.
  private let isTransaction: Bool
  /// Whether the connection is this reader's own rather than the pool's.
  private let isPrivate: Bool
  private var isOpen = true

  /// The maximum age in nanoseconds of a fresh reader.
  private static let longest: UInt64 = 50_000_000

  var store: CachingStore { sqlite }
  var generation: StoreGeneration? { nil }

  /// Checks out a connection and begins a read transaction.
  init(store: SQLiteStore) throws {
    sqlite = store
    // A store opened read-only may have been written elsewhere, which makes previous reads
    // outdated.
    if store.opensReadOnly, try store.pool.reopenIfChanged() { _ = store.countCommit() }
    commit = store.commitNumber
    begun = MonotonicClock.now()
    isPrivate = false
    isTransaction = !store.pool.isInMemory
    connection = try store.pool.lease()
    do {
      if isTransaction { try connection.execute("BEGIN") }
    } catch {
      store.pool.returnToPool(connection)
      throw error
    }
    faultPlans = store.leaseFaultPlans()
  }

  /// Creates a reader of a copy of the store that doesn't change.
  ///
  /// - Parameter copy: The connection, which is closed at the end.
  init(store: SQLiteStore, copy: Connection) {
    sqlite = store
    commit = store.commitNumber
    begun = MonotonicClock.now()
    connection = copy
    isTransaction = false
    isPrivate = true
    faultPlans = store.leaseFaultPlans()
  }

  var isFresh: Bool {
    sqlite.commitNumber == commit && !sqlite.pool.isWriter(connection)
      && MonotonicClock.now() &- begun < SQLiteReader.longest
  }

  func end() {
    guard isOpen else { return }
    isOpen = false
    sqlite.returnToPool(faultPlans)
    // A read transaction has no changes to lose: if COMMIT fails, the connection is still returned.
    if isTransaction { try? connection.execute("COMMIT") }
    if isPrivate { connection.close() } else { sqlite.pool.returnToPool(connection) }
  }

  deinit {
    end()
  }
}

extension SQLiteReader {
  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow] {
    let query = try query(plan, .rows)
    guard let rowsRead = plan.rowsRead else {
      return try rows(query, for: plan.entityName, in: scope)
    }
    var count = 0
    return try rows(query, for: plan.entityName, in: scope) { _ in
      count += 1
      if count.isMultiple(of: 100) { rowsRead(count) }
    }
  }

  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity] {
    try keys(query(plan, .identifiers), for: plan.entityName, in: scope)
  }

  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int {
    var count = 0
    let query =
      if let dictionary = plan.dictionary, plan.countsDictionaries {
        try self.query(plan, dictionary, isCounted: true).query
      } else {
        try self.query(plan, .count)
      }
    try sqlite.select(query, on: connection, for: plan.entityName, in: scope) {
      count = Int($0.int64(0))
    }
    return count
  }

  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow? {
    guard let plan = faultPlans.plan(layout, in: sqlite) else { return nil }
    var fetched: FetchedRow?
    do {
      try sqlite.select(plan, key: key, on: connection, for: layout, in: scope) {
        fetched = try plan.decoder.row($0)
      }
    } catch {
      fetched?.row.release()
      throw error
    }
    return fetched
  }

  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, batchSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow] {
    guard let entity = sqlite.storedEntity(layout) else { return [] }
    var query =
      batchSize.map { sqlite.translator.page(entity: entity, limit: $0) }
      ?? sqlite.translator.prefetchToOne(entity: entity)
    query.intArrays = [keys]
    return try rows(query, for: entity.name, in: scope)
  }

  /// Runs a SELECT of rows; each is retained for the caller.
  ///
  /// `visit` receives the statement for each row that was read.
  func rows(
    _ query: SelectQuery, for entity: String, in scope: ProfileScope,
    _ visit: (Statement) -> Void = { _ in }
  ) throws -> [FetchedRow] {
    var rows: [FetchedRow] = []
    let decoder = RowDecoder(projection: query.projection, layouts: sqlite.layouts)
    do {
      try sqlite.select(query, on: connection, for: entity, in: scope) { statement in
        do {
          rows.append(try decoder.row(statement))
        } catch {
          return try skipUnmappableRow(error)
        }
        visit(statement)
      }
    } catch {
      for fetched in rows { fetched.row.release() }
      throw error
    }
    return rows
  }

  /// Runs a SELECT of keys.
  func keys(
    _ query: SelectQuery, for entity: String, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    var keys: [FetchedIdentity] = []
    let decoder = RowDecoder(projection: query.projection, layouts: sqlite.layouts)
    try sqlite.select(query, on: connection, for: entity, in: scope) { statement in
      do {
        keys.append(try decoder.identity(statement))
      } catch {
        try skipUnmappableRow(error)
      }
    }
    return keys
  }

  /// Skips an unmappable row, if the store was opened with a list for such rows.
  private func skipUnmappableRow(_ error: any Error) throws {
    guard sqlite.skippedRows?.note(error) == true else { throw error }
  }

  /// Returns the SELECT of a fetch.
  private func query(_ plan: FetchPlan, _ result: SQLTranslator.Result) throws -> SelectQuery {
    do {
      return try sqlite.translator.fetch(
        entity: sqlite.entity(plan.layout), predicate: plan.predicate, sort: plan.sort,
        limit: plan.limit, offset: plan.offset, includesSubentities: plan.includesSubentities,
        result: result)
    } catch {
      throw NSError.translation(error, entity: plan.entityName)
    }
  }
}

extension SQLiteReader {
  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    guard let source = sqlite.storedEntity(owner.layout) else { return [] }
    guard let mapped = source.toMany[relationship.name] else {
      // There are none, or they're in a store of another configuration, which this one can't refer
      // to.
      guard let destination = relationship.destinationEntity,
        sqlite.mapping.storedEntity(for: destination) != nil
      else { return [] }
      throw NSError.fetch("The store doesn't contain the relationship '\(relationship.name)'.")
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
      let mapped = sqlite.storedEntity(source.layout)?.toMany[relationship.name]
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

  /// Runs a many-to-many prefetch in two statements: the join rows, then the rows of the
  /// destinations.
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

extension SQLiteReader {
  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]] {
    let found = try query(plan, dictionary)
    var encoded: [Int: EncodedColumn] = [:]
    for (number, column) in found.columns.enumerated() where column.source.isOfBytes {
      encoded[number] = EncodedColumn(dictionary.columns[number].expression, plan.entity)
    }
    var dictionaries: [[String: Any]] = []
    try sqlite.select(found.query, on: connection, for: plan.entityName, in: scope) { statement in
      var entries: [String: Any] = [:]
      for (number, column) in found.columns.enumerated() {
        entries[column.name] = try value(column, encoded[number], statement)
      }
      dictionaries.append(dictionary.gathered(entries))
    }
    return dictionaries
  }

  /// Returns the SELECT of a fetch of dictionaries, or of their number.
  func query(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, isCounted: Bool = false
  ) throws -> DictionaryQuery {
    do {
      return try sqlite.translator.dictionaries(
        dictionary, entity: sqlite.entity(plan.layout), predicate: plan.predicate,
        sort: plan.sort, limit: plan.limit, offset: plan.offset,
        includesSubentities: plan.includesSubentities, isCounted: isCounted)
    } catch {
      throw NSError.translation(error, entity: plan.entityName)
    }
  }

  /// Returns an entry of the current row's dictionary; `nil` for `nil`.
  private func value(
    _ column: DictionaryQuery.Column, _ encoded: EncodedColumn?, _ statement: Statement
  ) throws -> Any? {
    switch column.source {
    case .value(let index, let type):
      if let encoded, case .blob(let bytes) = statement.value(index) {
        return try encoded.value(of: Data(bytes), in: sqlite)
      }
      return PredicateValue(column: statement.value(index)).read(as: type)
        .dictionaryValue(column.resultType)
    case .objectID(let keyColumn, let entity, let numberColumn):
      if statement.isNull(keyColumn) { return nil }
      let key = statement.int64(keyColumn)
      var layout = EntityLayout.of(entity.description).at(sqlite.storeIndex)
      // A dangling reference has no entity ID; the relationship's entity is used then.
      if let numberColumn, !statement.isNull(numberColumn) {
        let number = Int(statement.int64(numberColumn))
        guard let found = sqlite.layouts.layout(entityNumber: number) else {
          throw NSError.damagedRow(entityNumber: number, primaryKey: key)
        }
        layout = found
      }
      return NSManagedObjectID(layout: layout, primaryKey: key, store: sqlite)
    }
  }
}

extension DictionaryQuery.Source {
  /// Whether it's a binary or transformable attribute.
  fileprivate var isOfBytes: Bool {
    guard case .value(_, let type) = self else { return false }
    return type == .binaryDataAttributeType || type == .transformableAttributeType
  }
}

/// A column of dictionaries whose bytes aren't the value: an attribute that is transformable, or
/// allows external storage.
private struct EncodedColumn {
  private let layout: EntityLayout
  private let slot: RowSlot

  /// Creates the column for the key path of such an attribute, or returns `nil` for any other
  /// expression.
  init?(_ expression: NSExpression, _ entity: NSEntityDescription) {
    guard case .keyPath(let path) = expression.node, path.keys.count == path.components.count else {
      return nil
    }
    var (keys, owner) = (path.keys, entity)
    while let key = keys.first, let relationship = owner.relationshipsByName[key] {
      guard let destination = relationship.destinationEntity else { return nil }
      owner = destination
      keys.removeFirst()
    }
    let layout = EntityLayout.of(owner)
    guard case .slot(let index)? = layout.position(of: keys.joined(separator: ".")) else {
      return nil
    }
    let slot = layout.slots[index]
    guard slot.kind == .external || slot.kind == .transformable else { return nil }
    (self.layout, self.slot) = (layout, slot)
  }

  /// Returns the value of a column's bytes; `nil` if they can't be transformed.
  ///
  /// - Throws: 133000 if its external data file can't be read.
  func value(of bytes: Data, in store: SQLiteStore) throws -> Any? {
    var bytes = bytes
    if slot.kind == .external {
      switch ExternalStorage.contents(bytes) {
      case let file as ExternalFile: bytes = try store.externalData(file)
      case let value as Data: bytes = value
      default: break
      }
    }
    guard let transformer = layout.transformer(slot) else { return bytes }
    return transformer.decode(bytes)
  }
}
