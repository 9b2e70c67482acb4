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

  /// Reserves `count` keys of a root entity and gives the last one used before.
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
      event.statement = record(
        SQLTranslator.selectMaximumKey, [.integer(Int64(root.number))], 0, .housekeeping, scope)
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
  /// The ID that each row has in another store, and its ID here.
  ///
  /// One SELECT for each table. Rows of unknown entities are left out.
  func idPairs(from old: SQLiteStore) throws -> [[NSManagedObjectID]] {
    let connection = try pool.lease()
    defer { pool.giveBack(connection) }
    var pairs: [[NSManagedObjectID]] = []
    for root in mapping.entities where root.superentity == nil {
      let rows = try connection.values(
        "SELECT Z_ENT, Z_PK FROM \(SQLNames.quoted(root.table)) ORDER BY Z_PK")
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
