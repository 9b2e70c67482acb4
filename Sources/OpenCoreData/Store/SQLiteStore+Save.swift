import ManagedModel
import ProfileEvents
import SQLiteDriver

extension SQLiteStore {
  /// Reserves primary keys for new objects in a transaction of its own and gives them to the objects.
  ///
  /// Cost: BEGIN, a read and a write of `Z_PRIMARYKEY` for each root entity, COMMIT.
  func reserve(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    var byRoot: [(root: SQLEntity, objects: [NSManagedObject])] = []
    for object in objects {
      let root = entity(object.layout).root
      if let index = byRoot.firstIndex(where: { $0.root === root }) {
        byRoot[index].objects.append(object)
      } else {
        byRoot.append((root, [object]))
      }
    }
    try pool.withWriter { connection in
      try transaction(on: connection, in: scope) {
        for (root, objects) in byRoot {
          var next = try reserve(objects.count, root: root, on: connection, in: scope)
          for object in objects {
            next += 1
            object.primaryKey = next
          }
        }
      }
    }
  }

  /// Writes a save in one transaction and, once it is committed, brings the row cache up to date.
  ///
  /// Cost: BEGIN, one statement a row and a join row, COMMIT.
  func commit(_ plan: SavePlan, in scope: ProfileScope) throws -> [Row] {
    try pool.withWriter { connection in
      try transaction(on: connection, in: scope) {
        var conflicts: [SaveConflict] = []
        for object in plan.inserted { try insert(object, on: connection, in: scope) }
        for object in plan.updated where try !update(object, on: connection, in: scope) {
          conflicts.append(try conflict(object, on: connection))
        }
        // All that was removed first: what one object gives up another may have taken.
        for object in plan.written { try removeLinks(of: object, on: connection, in: scope) }
        for object in plan.written { try addLinks(of: object, on: connection, in: scope) }
        for object in plan.deleted where try !delete(object, on: connection, in: scope) {
          conflicts.append(try conflict(object, on: connection))
        }
        if !conflicts.isEmpty { throw SaveConflicts(conflicts: conflicts) }
      }
      let commit = countCommit()
      return remember(plan, rows: newRows(of: plan.written), commit: commit)
    }
  }

  /// Runs a write transaction; an error rolls it back.
  private func transaction<R>(
    on connection: Connection, in scope: ProfileScope, _ body: () throws -> R
  ) throws -> R {
    let event = scope.begin(.transaction)
    try change("BEGIN EXCLUSIVE", kind: .transaction, on: connection, in: scope)
    do {
      let result = try body()
      try change("COMMIT", kind: .transaction, on: connection, in: scope)
      scope.counters.transactions += 1
      scope.end(event)
      return result
    } catch {
      defer { scope.abandon(event) }
      if connection.isInTransaction {
        // The error that led here is the one to tell.
        _ = try? change("ROLLBACK", kind: .transaction, on: connection, in: scope)
      }
      throw error
    }
  }

  /// Reserves `count` keys of a root entity and gives the last one used before.
  private func reserve(
    _ count: Int, root: SQLEntity, on connection: Connection, in scope: ProfileScope
  ) throws -> Int64 {
    let statement = try connection.statement(SQLTranslator.selectMaximumKey)
    let event = scope.begin(.statement)
    try statement.bind(Int64(root.number), at: 1)
    let last = try statement.step() ? statement.int64(0) : 0
    statement.reset()
    scope.end(event) { event in
      event.rows = 1
      event.statement = StatementRecord(kind: .housekeeping, sql: SQLTranslator.selectMaximumKey)
    }
    let changed = try change(
      SQLTranslator.reserveKeys,
      [.integer(last + Int64(count)), .integer(Int64(root.number)), .integer(last)],
      kind: .housekeeping, on: connection, in: scope)
    guard changed == 1 else {
      throw NSError.store(
        "The entity '\(root.name)' has no row in Z_PRIMARYKEY: the file cannot take new objects.")
    }
    return last
  }

  private func insert(
    _ object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws {
    let entity = entity(object.layout)
    let statement = statements.insert(entity)
    try change(
      statement.sql, binds(statement, object, version: 1, locked: 0), kind: .insert,
      for: entity.name, on: connection, in: scope)
  }

  private func update(
    _ object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws -> Bool {
    let entity = entity(object.layout)
    let statement = statements.update(entity, slots: object.changedSlots().map(\.index))
    let version = object.row.version
    return try change(
      statement.sql, binds(statement, object, version: version &+ 1, locked: version),
      kind: .update, for: entity.name, on: connection, in: scope) == 1
  }

  private func delete(
    _ object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws -> Bool {
    let entity = entity(object.layout)
    for relationship in entity.toMany.values {
      if let sql = translator.deleteJoinRows(relationship) {
        try change(
          sql, [.integer(object.primaryKey)], kind: .delete, for: entity.name, on: connection,
          in: scope)
      }
    }
    let statement = statements.delete(entity)
    return try change(
      statement.sql, binds(statement, object, version: 0, locked: object.row.version),
      kind: .delete, for: entity.name, on: connection, in: scope) == 1
  }

  private func binds(
    _ statement: RowStatement, _ object: NSManagedObject, version: Int64, locked: Int64
  ) -> [SQLiteValue] {
    statement.parameters.map { parameter in
      switch parameter {
      case .primaryKey: .integer(object.primaryKey)
      case .entityNumber: .integer(Int64(entity(object.layout).number))
      case .version: .integer(version)
      case .lockedVersion: .integer(locked)
      case .slot(let index): object.rawValue(object.layout.slots[index]).sqliteValue
      case .entity(ofSlot: let index):
        object.rawValue(object.layout.slots[index]).destinationEntityNumber
      case .order: .null
      }
    }
  }

  private func conflict(
    _ object: NSManagedObject, on connection: Connection
  ) throws -> SaveConflict {
    let table = SQLNames.quoted(entity(object.layout).table)
    let rows = try connection.values(
      "SELECT Z_OPT FROM \(table) WHERE Z_PK = ?", [.integer(object.primaryKey)])
    var found: Int64 = 0
    if case .integer(let version)? = rows.first?.first { found = version }
    return SaveConflict(object: object, oldVersion: object.row.version, newVersion: found)
  }
}

extension RowValue {
  /// The value as SQLite takes it.
  var sqliteValue: SQLiteValue {
    switch self {
    case .null: .null
    case .int64(let value): .integer(value)
    case .double(let value): .real(value)
    case .text(let text): .text(text)
    case .bytes(let data): .blob(Array(data))
    case .toOne(let primaryKey, _): .integer(primaryKey)
    }
  }

  /// What the column beside a polymorphic to-one holds.
  var destinationEntityNumber: SQLiteValue {
    if case .toOne(_, let number) = self { return .integer(number) }
    return .null
  }
}
