import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

extension SQLiteStore {
  /// Writes a save in one transaction and, after the commit, updates the row cache.
  ///
  /// **Cost:** BEGIN, one statement for each row and join row, COMMIT. A row that has changed costs
  /// a SELECT after the rollback, one that violates a constraint another.
  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row] {
    let external = try ExternalWrites(plan, of: self)
    do {
      let rows = try commit(plan, external, in: scope, beforeCommit)
      external.removeObsoleteFiles()
      return rows
    } catch {
      external.removeWrittenFiles()
      throw error
    }
  }

  private func commit(
    _ plan: SavePlan, _ external: ExternalWrites, in scope: ProfileScope,
    _ beforeCommit: () throws -> Void
  ) throws -> [Row] {
    try pool.withWriter { connection in
      defer { _ = derived.take() }
      var rows: [Row]
      do {
        rows = try savingMetadata {
          try writtenRows(of: plan, external, on: connection, in: scope, beforeCommit)
        }
      } catch let changed as ChangedRows {
        throw try conflicts(changed.objects, on: connection, in: scope)
      }
      let commit = finishCommit()
      noteTransaction(of: plan)
      external.name(in: &rows, of: plan.written)
      let remembered = remember(plan, rows: rows, commit: commit)
      remember(derived.take(), commit: commit)
      return remembered
    }
  }

  /// Keeps the number of a save's history transaction for its context, before others can follow.
  private func noteTransaction(of plan: SavePlan) {
    guard let context = (plan.written.first ?? plan.deleted.first)?.context,
      let number = writtenTransaction.withLock({ $0 })
    else { return }
    context.savedTransactions[identifier] = number
  }

  /// Writes the rows in one transaction, again if unique values move between objects of the save,
  /// or if the row that had one was removed in the meantime.
  private func writtenRows(
    of plan: SavePlan, _ external: ExternalWrites, on connection: Connection,
    in scope: ProfileScope, _ beforeCommit: () throws -> Void
  ) throws -> [Row] {
    for attempt in 1...Self.maximumAttempts {
      let writer = RowWriter(self, connection, external, scope)
      do {
        try transaction(on: connection, in: scope) {
          _ = derived.take()
          if attempt == 1 {
            try write(plan, writer, on: connection, in: scope)
          } else {
            try rewrite(plan, writer, on: connection, in: scope)
          }
          try beforeCommit()
        }
        return writer.takeRows()
      } catch let error as SQLiteError where error.code == .constraintUnique {
        // Outside of the transaction, other processes may write.
        try throwViolations(of: plan, on: connection, in: scope)
        guard attempt < Self.maximumAttempts else { throw error }
      }
    }
    fatalError("the last attempt returns or throws")
  }

  /// The maximum number of attempts to save, because unique values can move between objects.
  private static let maximumAttempts = 10

  /// Runs a write transaction, and rolls it back after an error.
  ///
  /// - Throws: Also 134070 if a copy of the store is to replace it.
  func transaction<R>(
    on connection: Connection, in scope: ProfileScope, _ body: () throws -> R
  ) throws -> R {
    try checkIsNotMoving()
    let event = scope.begin(.transaction)
    do {
      try change("BEGIN EXCLUSIVE", kind: .transaction, on: connection, in: scope)
      let result = try body()
      try change("COMMIT", kind: .transaction, on: connection, in: scope)
      if let number = takeOpenTransaction() { writtenTransaction.withLock { $0 = number } }
      scope.counters.transactions += 1
      scope.end(event)
      return result
    } catch {
      defer { scope.fail(event, error) }
      _ = takeOpenTransaction()
      // The original error is the one to report.
      rollBack(on: connection, in: scope)
      throw error
    }
  }

  /// Returns the number of the history transaction in a transaction that has ended.
  private func takeOpenTransaction() -> Int64? {
    openTransaction.withLock { number in
      defer { number = nil }
      return number
    }
  }

  /// Rolls back a failed transaction, unless SQLite has already done so.
  ///
  /// An interrupt may also stop the ROLLBACK, which is then tried again.
  private func rollBack(on connection: Connection, in scope: ProfileScope) {
    while connection.isInTransaction {
      do {
        try change("ROLLBACK", kind: .transaction, on: connection, in: scope)
      } catch {
        guard (error as? SQLiteError)?.code == .interrupt else { return }
      }
    }
  }

  private func write(
    _ plan: SavePlan, _ writer: RowWriter, on connection: Connection, in scope: ProfileScope
  ) throws {
    writer.orderKeys = try orderKeyChanges(of: plan, on: connection, in: scope)
    for object in plan.inserted { try writer.insert(object) }
    for object in plan.updated { try writer.update(object) }
    try writeJoinRows(of: plan, writer, on: connection, in: scope)
    for object in plan.deleted { try writer.delete(object) }
    try finish(plan, writer, on: connection, in: scope)
  }

  /// Writes a save in which unique values move between objects: deleted rows and released
  /// values come first.
  private func rewrite(
    _ plan: SavePlan, _ writer: RowWriter, on connection: Connection, in scope: ProfileScope
  ) throws {
    writer.orderKeys = try orderKeyChanges(of: plan, on: connection, in: scope)
    for object in plan.deleted { try writer.delete(object) }
    for object in plan.updated { try writer.releaseUniqueValues(of: object) }
    for object in plan.updated { try writer.update(object) }
    for object in plan.inserted { try writer.insert(object) }
    try writeJoinRows(of: plan, writer, on: connection, in: scope)
    try finish(plan, writer, on: connection, in: scope)
  }

  /// Writes join rows, columns of relationships without an inverse, and order keys.
  private func writeJoinRows(
    of plan: SavePlan, _ writer: RowWriter, on connection: Connection, in scope: ProfileScope
  ) throws {
    // All removals first: another object may have what one no longer has.
    let owners = plan.written { !$0.toMany.isEmpty }
    for object in owners { try removeJoinRows(of: object, on: connection, in: scope) }
    for object in owners { try addJoinRows(of: object, on: connection, in: scope) }
    for object in plan.deleted where !object.layout.toMany.isEmpty {
      try clearHiddenInverses(of: object, on: connection, in: scope)
    }
    try writeOrderKeys(writer.orderKeys, on: connection, in: scope)
  }

  /// Compares the versions of rows that aren't written, and writes what every save writes.
  ///
  /// - Throws: `ChangedRows` for rows that have changed.
  private func finish(
    _ plan: SavePlan, _ writer: RowWriter, on connection: Connection, in scope: ProfileScope
  ) throws {
    for object in plan.locked { try writer.check(object) }
    try writer.finish()
    if hasUnsavedMetadata { try writeMetadata(on: connection) }
    try recordHistory(of: plan, on: connection, in: scope)
  }

  /// Rereads changed rows after the rollback, and adds them to the row cache.
  private func conflicts(
    _ objects: [NSManagedObject], on connection: Connection, in scope: ProfileScope
  ) throws -> SaveConflicts {
    let plans = leaseFaultPlans()
    defer { returnToPool(plans) }
    return try storeConflicts(objects) { object in
      guard let plan = plans.plan(object.layout, in: self) else { return nil }
      var query = plan.query
      query.binds = [.integer(object.primaryKey)]
      var fetched: FetchedRow?
      try select(query, on: connection, for: object.layout.entityName, in: scope) {
        fetched = try plan.decoder.row($0)
      }
      guard let fetched else { return nil }
      guard fetched.layout === object.layout else {
        fetched.row.release()
        return nil
      }
      return fetched.row
    }
  }

  /// Throws the stored rows whose constrained values a save would duplicate, if there are any.
  private func throwViolations(
    of plan: SavePlan, on connection: Connection, in scope: ProfileScope
  ) throws {
    let saved = SavedRows(of: plan)
    var violations: [ConstraintViolation] = []
    for candidate in plan.constrained {
      let object = candidate.object
      var query = translator.rows(
        entity(EntityLayout.of(candidate.constraint.scope)),
        columns: candidate.constraint.slots.map { entity(object.layout).columns[$0].name })
      query.binds = candidate.constraint.slots.map {
        object.rawValue(object.layout.slots[$0]).sqliteValue
      }
      let decoder = RowDecoder(projection: query.projection, layouts: layouts)
      try select(query, on: connection, for: object.layout.entityName, in: scope) {
        let found = try decoder.row($0)
        defer { found.row.release() }
        guard found.primaryKey != object.primaryKey,
          let violation = saved.violation(
            by: candidate, found.identity, snapshot: { found.row.snapshot(found.layout, self) })
        else { return }
        violations.append(violation)
      }
    }
    if !violations.isEmpty { throw ConstraintViolations(violations: violations) }
  }
}

extension SQLiteStore {
  /// Reserves primary keys for new objects in a separate transaction and assigns them to the
  /// objects.
  ///
  /// **Cost:** BEGIN, a read and a write of `Z_PRIMARYKEY` for each root entity, COMMIT.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    var byRoot: [(root: SQLEntity, objects: ArraySlice<NSManagedObject>)] = []
    var start = 0
    while start < objects.count {
      // Consecutive objects usually are of one entity.
      let layout = objects[start].layout
      var end = start + 1
      while end < objects.count, objects[end].layout === layout { end += 1 }
      let (root, run) = (entity(layout).root, objects[start..<end])
      if let index = byRoot.firstIndex(where: { $0.root === root }) {
        byRoot[index].objects += run
      } else {
        byRoot.append((root, run))
      }
      start = end
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

  /// Reserves `count` primary keys of a root entity and returns the last one used before.
  func reserve(
    _ count: Int, root: SQLEntity, on connection: Connection, in scope: ProfileScope
  ) throws -> Int64 {
    let statement = try connection.statement(SQLTranslator.selectMaximumKey)
    let event = scope.begin(.statement)
    try statement.bind(Int64(root.number), at: 1)
    let last = try statement.step() ? statement.int64(0) : 0
    statement.reset()
    scope.end(event) { event in
      event.rows = 1
      event.statement = StatementRecord(
        kind: .housekeeping, sql: SQLTranslator.selectMaximumKey,
        binds: texts(of: [.integer(Int64(root.number))], in: scope))
    }
    let (next, isTooMuch) = last.addingReportingOverflow(Int64(count))
    guard last >= 0, !isTooMuch else { throw NSError.exhaustedKeys(of: root.name, last) }
    let changed = try change(
      SQLTranslator.reserveKeys,
      [.integer(next), .integer(Int64(root.number)), .integer(last)],
      kind: .housekeeping, on: connection, in: scope)
    guard changed == 1 else { throw NSError.noMaximumKey(of: root.name) }
    return last
  }
}

extension SQLiteStore {
  /// Returns pairs of the object ID that each row has in another store, and its object ID here.
  ///
  /// One SELECT for each table. Rows of unknown entities are skipped.
  func idPairs(from old: SQLiteStore) throws -> [[NSManagedObjectID]] {
    let connection = try pool.lease()
    defer { pool.returnToPool(connection) }
    var pairs: [[NSManagedObjectID]] = []
    for root in mapping.roots {
      let rows = try connection.values(
        "SELECT Z_ENT, Z_PK FROM \(SQLSyntax.quoted(root.table)) ORDER BY Z_PK")
      for case (.integer(let number), .integer(let key)) in rows.lazy.map({ ($0[0], $0[1]) }) {
        guard key > 0, let layout = layouts.layout(entityNumber: Int(truncatingIfNeeded: number)),
          let former = old.layouts.layout(entityNumber: Int(truncatingIfNeeded: number))
        else { continue }
        pairs.append([
          NSManagedObjectID(layout: former, primaryKey: key, store: old),
          NSManagedObjectID(layout: layout, primaryKey: key, store: self),
        ])
      }
    }
    return pairs
  }
}
