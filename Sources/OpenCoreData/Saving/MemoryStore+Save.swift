import ManagedModel
import ProfileEvents
import Synchronization

extension MemoryStore {
  /// Writes a save to the document, if there is one, and to the tables.
  func writeToDocument(
    _ plan: SavePlan, beforeCommit: () throws -> Void
  ) throws -> [Row] {
    let (rows, commit) = try writing.withLock { () -> ([Row], UInt64) in
      try checkIsNotMoving()
      // Its tables are empty, and would replace the document.
      guard !isRemoved else { throw NSError.removedStore(self) }
      try contents.withLock { try check(plan, $0.tables) }
      guard let document else {
        try beforeCommit()
        let rows = newRows(of: plan.written)
        return (rows, contents.withLock { apply(plan, rows, to: &$0.tables) })
      }
      return try writingDocument {
        try write(plan, to: document, beforeCommit: beforeCommit)
      }
    }
    return remember(plan, rows: rows, commit: commit)
  }

  /// Writes a save to the document, then to the tables, which are read as before until then.
  private func write(
    _ plan: SavePlan, to document: AtomicStoreDocument, beforeCommit: () throws -> Void
  ) throws -> ([Row], UInt64) {
    let rows = newRows(of: plan.written)
    let (present, lastKeys) = contents.withLock { ($0.tables, $0.lastKeys) }
    var tables = present
    put(plan, rows, into: &tables, commit: commitNumber)
    do {
      try document.write(
        tables, of: self, lastKey: lastKeys.max() ?? 0, beforeCommit: beforeCommit)
    } catch {
      for row in rows { row.release() }
      throw error
    }
    let saved = tables
    let commit = contents.withLock { contents -> UInt64 in
      contents.tables = saved
      return countCommit()
    }
    return (rows, commit)
  }

  /// Compares the versions and the constrained values of a save with those of the tables.
  ///
  /// - Throws: `SaveConflicts` or `ConstraintViolations`.
  final func check(_ plan: SavePlan, _ tables: MemoryTables) throws {
    let changed = plan.compared.filter { object in
      let found = tables.row(object.layout.rootIndex, object.primaryKey)?.row.version
      if object.state.contains(.restored) { return found != nil }
      return found != object.row.version && !(found == nil && object.isDeleted)
    }
    guard changed.isEmpty else {
      throw storeConflicts(changed) { object in
        let found = tables.row(object.layout.rootIndex, object.primaryKey)
        guard let found, found.layout === object.layout else { return nil }
        found.row.retain()
        return found.row
      }
    }
    try checkConstraints(plan, tables)
  }

  /// Applies a save to the tables, and counts it as a commit.
  ///
  /// - Returns: The commit number.
  final func apply(_ plan: SavePlan, _ rows: [Row], to tables: inout MemoryTables) -> UInt64 {
    let commit = countCommit()
    put(plan, rows, into: &tables, commit: commit)
    return commit
  }

  private func put(
    _ plan: SavePlan, _ rows: [Row], into tables: inout MemoryTables, commit: UInt64
  ) {
    for (object, row) in zip(plan.written, rows) {
      row.retain()
      tables.put(MemoryRow(layout: object.layout, primaryKey: object.primaryKey, row: row))
      object.followLinks(in: &tables, commit: commit)
    }
    for object in plan.deleted {
      tables.remove(object.layout, object.primaryKey)
      object.removeFromLinks(in: &tables, commit: commit)
    }
    plan.removeDeletedFromLinks(in: &tables, commit: commit)
  }

  /// Compares the constrained values of a save with those of all rows, in one pass over the rows.
  ///
  /// The violations are in the order of the objects and their constraints, as in a SQLite store,
  /// because a merge policy resolves one after another.
  private func checkConstraints(_ plan: SavePlan, _ tables: MemoryTables) throws {
    let constrained = plan.constrained
    guard !constrained.isEmpty else { return }
    let wanted = Dictionary(
      constrained.indices.map { (constrained[$0].key, $0) }, uniquingKeysWith: { $1 })
    let saved = SavedRows(of: plan)
    var violations: [(index: Int, violation: ConstraintViolation)] = []
    for rootIndex in Set(constrained.map(\.object.layout.rootIndex)) {
      for found in tables.rows[rootIndex].values {
        for constraint in found.layout.constraints {
          guard
            let key = constraint.key({ found.row.rawValue(found.layout.slots[$0]) }),
            let index = wanted[key], constrained[index].object.primaryKey != found.primaryKey,
            let violation = saved.violation(
              by: constrained[index], found.identity,
              snapshot: { found.row.snapshot(found.layout, self) })
          else { continue }
          violations.append((index, violation))
        }
      }
    }
    guard !violations.isEmpty else { return }
    violations.sort { $0.index < $1.index }
    throw ConstraintViolations(violations: violations.map(\.violation))
  }
}
