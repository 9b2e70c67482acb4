import ManagedModel
import ProfileEvents
import SQLiteDriver

// Batch deletions: the matched rows, the rows that cascade rules add, and the references to them.

extension SQLiteStore {
  /// Deletes the matches of a fetch, or the rows with the given keys, and performs the cascade and
  /// nullify rules.
  ///
  /// - Parameter keys: Primary keys of the entity's rows; `nil` for the rows that `plan` matches.
  /// - Returns: The matched rows. Rows that were deleted by a cascade rule aren't included.
  func delete(
    _ plan: FetchPlan, keys: ContiguousArray<Int64>?, returning: Bool,
    in context: NSManagedObjectContext
  ) throws -> BatchOutcome {
    let entity = entity(plan.layout)
    let query = try keys == nil ? self.keys(plan) : nil
    let rows = MatchedRows(
      entity: entity, keys: query?.keysText ?? MatchedRows.boundKeys, binds: query?.binds ?? [],
      intArrays: query?.intArrays ?? [keys ?? []])
    let cascades = cascades(from: entity)
    var obsolete: [ExternalFile] = []
    let outcome = try batch(in: context) { connection, history in
      let deletion = BatchDeletion(
        store: self, connection: connection, history: history, scope: context.scope)
      defer { obsolete = deletion.obsolete }
      return try cascades.isEmpty
        ? deletion.delete(rows, returning: returning)
        : deletion.delete(rows, cascades)
    }
    removeExternalData(obsolete)
    return outcome
  }

  /// Returns the relationships with a cascade rule that deleting an entity's rows can follow, each
  /// once.
  private func cascades(from entity: SQLEntity) -> [CascadePath] {
    var reached: Set<Int> = []
    var found: [ObjectIdentifier: CascadePath] = [:]
    var order: [ObjectIdentifier] = []
    var waiting = entity.concreteNumbers.compactMap { mapping.entity(number: $0) }
    while let owner = waiting.popLast() {
      guard reached.insert(owner.number).inserted else { continue }
      for declaring in owner.lineage {
        for relationship in declaring.description.ownStoredRelationships
        where relationship.deleteRule == .cascadeDeleteRule {
          let identity = ObjectIdentifier(relationship)
          guard found[identity] == nil, let path = CascadePath(relationship, of: declaring, mapping)
          else { continue }
          found[identity] = path
          order.append(identity)
          waiting += path.destination.concreteNumbers.compactMap { mapping.entity(number: $0) }
        }
      }
    }
    return order.compactMap { found[$0] }
  }
}

/// The rows that a batch deletion matches.
struct MatchedRows {
  let entity: SQLEntity
  /// The operand of `Z_PK IN`.
  let keys: String
  var binds: [SQLiteValue] = []
  var intArrays: [ContiguousArray<Int64>]

  /// The keys in the first bound array.
  static let boundKeys = "SELECT * FROM _Z_intarray0"

  init(
    entity: SQLEntity, keys: String = boundKeys, binds: [SQLiteValue] = [],
    intArrays: [ContiguousArray<Int64>]
  ) {
    self.entity = entity
    self.keys = keys
    self.binds = binds
    self.intArrays = intArrays
  }
}

/// A relationship with a cascade rule, and the SELECT of the rows that it adds to a deletion.
private struct CascadePath {
  /// The entity IDs of the owners.
  let owners: Set<Int>
  let destination: SQLEntity
  /// Selects `Z_ENT` and `Z_PK` of the destinations; the keys of the owners are in `_Z_intarray0`.
  let query: SelectQuery

  /// Fails for a relationship into another store.
  init?(_ relationship: NSRelationshipDescription, of owner: SQLEntity, _ mapping: SQLModel) {
    guard let entity = relationship.destinationEntity,
      let destination = mapping.storedEntity(for: entity)
    else { return nil }
    let keys = MatchedRows.boundKeys
    let condition: String
    switch owner.toMany[relationship.name]?.storage {
    case .foreignKey(let column, _):
      condition = "\(SQLSyntax.quoted(column)) IN (\(keys))"
    case .joinTable(let table, let source, let target, _):
      condition =
        "Z_PK IN (SELECT \(SQLSyntax.quoted(target)) FROM \(SQLSyntax.quoted(table)) "
        + "WHERE \(SQLSyntax.quoted(source)) IN (\(keys)))"
    case nil:
      guard let column = owner.column(named: relationship.name) else { return nil }
      condition =
        "Z_PK IN (SELECT \(SQLSyntax.quoted(column.name)) FROM \(SQLSyntax.quoted(owner.table)) "
        + "WHERE Z_PK IN (\(keys)))"
    }
    owners = Set(owner.concreteNumbers)
    self.destination = destination
    query = SelectQuery(
      sql: "SELECT Z_ENT, Z_PK FROM \(SQLSyntax.quoted(destination.table)) WHERE \(condition)",
      projection: Projection(entity: destination, extent: .identifiers))
  }
}

/// The statements of one batch deletion, inside its transaction.
private final class BatchDeletion {
  private let store: SQLiteStore
  private let connection: Connection
  private let history: HistoryWriter?
  private let scope: ProfileScope
  /// The external data files that no row refers to after the deletion.
  private(set) var obsolete: [ExternalFile] = []

  init(
    store: SQLiteStore, connection: Connection, history: HistoryWriter?, scope: ProfileScope
  ) {
    self.store = store
    self.connection = connection
    self.history = history
    self.scope = scope
  }

  /// Deletes rows of entities without further cascade rules: one DELETE, then one statement for
  /// each column and join table that refers to them.
  func delete(_ rows: MatchedRows, returning: Bool) throws -> BatchOutcome {
    let references = store.references(to: rows.entity)
    let outcome = try remove(rows, returning: returning || !references.isEmpty)
    guard outcome.count > 0 else { return outcome }
    try clear(references, to: ContiguousArray(outcome.identities.map(\.primaryKey)))
    return outcome
  }

  /// Deletes rows and the rows that cascade rules add.
  ///
  /// One SELECT finds the matched rows; each level of the cascade is one SELECT for each
  /// relationship that continues from it. Then, for each table with deleted rows, one DELETE and
  /// one statement for each column and join table that refers to them.
  func delete(_ rows: MatchedRows, _ cascades: [CascadePath]) throws -> BatchOutcome {
    let matched = try identities(
      SelectQuery(
        sql: "SELECT Z_ENT, Z_PK FROM \(SQLSyntax.quoted(rows.entity.table)) "
          + "WHERE Z_PK IN (\(rows.keys))",
        binds: rows.binds, intArrays: rows.intArrays,
        projection: Projection(entity: rows.entity, extent: .identifiers)), of: rows.entity)
    var deletions = RowsToDelete(layouts: store.layouts)
    var level = deletions.add(matched, of: rows.entity.root)
    while !level.isEmpty {
      var next: [Int: ContiguousArray<Int64>] = [:]
      for path in cascades {
        let owners = ContiguousArray(level.filter { path.owners.contains($0.key) }.flatMap(\.value))
        guard !owners.isEmpty else { continue }
        var query = path.query
        query.intArrays = [owners]
        let found = try identities(query, of: path.destination)
        next.merge(deletions.add(found, of: path.destination.root)) { $0 + $1 }
      }
      level = next
    }
    for (root, keys) in deletions.tables {
      _ = try remove(MatchedRows(entity: root, intArrays: [keys]), returning: false)
    }
    // Afterward: a row that is deleted itself isn't updated before.
    for (root, keys) in deletions.tables { try clear(store.references(to: root), to: keys) }
    var outcome = BatchOutcome(store: store)
    outcome.count = matched.count
    outcome.identities = matched
    return outcome
  }

  private func identities(
    _ query: SelectQuery, of entity: SQLEntity
  ) throws -> [FetchedIdentity] {
    var found: [FetchedIdentity] = []
    try store.select(query, on: connection, for: entity.name, in: scope) { statement in
      let number = Int(statement.int64(0))
      guard let layout = store.layouts.layout(entityNumber: number) else {
        throw NSError.damagedRow(entityNumber: number, primaryKey: statement.int64(1))
      }
      found.append(FetchedIdentity(layout: layout, primaryKey: statement.int64(1)))
    }
    return found
  }

  /// Deletes rows of one table, and records them in the history.
  private func remove(_ rows: MatchedRows, returning: Bool) throws -> BatchOutcome {
    obsolete += try store.externalFiles(
      in: store.externalColumns(of: rows.entity), of: rows.entity, keys: rows.keys, rows.binds,
      rows.intArrays, on: connection)
    try history?.record(
      .delete, rowsOf: rows.entity, in: rows.keys, rows.binds, rows.intArrays)
    return try store.change(
      "DELETE FROM \(SQLSyntax.quoted(rows.entity.table)) WHERE Z_PK IN (\(rows.keys))",
      rows.binds, rows.intArrays, returning: returning, kind: .delete, rows.entity,
      on: connection, in: scope)
  }

  /// Sets the columns that refer to deleted rows to NULL, and deletes their join rows.
  ///
  /// - Throws: 134030 if a row that stays requires a deleted one.
  private func clear(_ references: [RowReference], to removed: ContiguousArray<Int64>) throws {
    for reference in references {
      let isRecorded = history != nil && reference.kind == .update && reference.updatesObjects
      let outcome = try store.change(
        reference.sql, [], [removed], returning: isRecorded, kind: reference.kind, reference.entity,
        on: connection, in: scope)
      guard outcome.count == 0 || !reference.isRequired else {
        throw NSError.requiredInverse(reference.name, of: reference.entity.name, outcome.count)
      }
      guard isRecorded, outcome.count > 0 else { continue }
      try history?.record(
        .update, rowsOf: reference.entity, in: MatchedRows.boundKeys, [],
        [ContiguousArray(outcome.identities.map(\.primaryKey))], properties: [reference.name])
    }
  }
}

/// The rows that a batch deletion deletes, by table.
private struct RowsToDelete {
  /// In the order in which the tables were reached.
  private(set) var tables: [(root: SQLEntity, keys: ContiguousArray<Int64>)] = []
  private var known: [Int: Set<Int64>] = [:]
  private let layouts: StoreLayouts

  init(layouts: StoreLayouts) {
    self.layouts = layouts
  }

  /// Adds rows of a table.
  ///
  /// - Returns: The keys of those that weren't known, by entity ID.
  mutating func add(
    _ rows: [FetchedIdentity], of root: SQLEntity
  ) -> [Int: ContiguousArray<Int64>] {
    var added: [Int: ContiguousArray<Int64>] = [:]
    var keys: ContiguousArray<Int64> = []
    for row in rows where known[root.number, default: []].insert(row.primaryKey).inserted {
      added[layouts.entityNumber(row.layout), default: []].append(row.primaryKey)
      keys.append(row.primaryKey)
    }
    guard !keys.isEmpty else { return added }
    if let index = tables.firstIndex(where: { $0.root === root }) {
      tables[index].keys += keys
    } else {
      tables.append((root, keys))
    }
    return added
  }
}
