import ManagedModel
import ProfileEvents
import SQLiteDriver

extension SQLiteStore {
  /// Runs a SELECT on rows of an entity: binds, steps, counts, tells.
  ///
  /// `body` is called once for each row. The statement's time is measured only while somebody listens.
  /// - Returns: The number of rows.
  @discardableResult
  func select(
    _ query: SelectQuery, on connection: Connection, for entity: String, in scope: ProfileScope,
    _ body: (Statement) throws -> Void
  ) throws -> Int {
    for (index, values) in query.intArrays.enumerated() {
      try connection.bindIntArray(index, values)
    }
    let statement = try connection.statement(query.sql)
    let event = scope.begin(.statement)
    var rows = 0
    defer {
      statement.reset()
      scope.counters.selects += 1
      scope.counters.rows += rows
      scope.end(event) { event in
        event.entity = entity
        event.rows = rows
        event.statement = record(query.sql, query.binds, query.intArrays.count, .select, scope)
      }
    }
    for (index, value) in query.binds.enumerated() {
      try statement.bind(value, at: Int32(index + 1))
    }
    while try statement.step() {
      rows += 1
      try body(statement)
    }
    return rows
  }

  /// Runs a statement that changes rows, or that begins or ends a transaction.
  /// - Returns: The number of rows changed.
  @discardableResult
  func change(
    _ sql: String, _ binds: [SQLiteValue] = [], kind: StatementKind, for entity: String? = nil,
    on connection: Connection, in scope: ProfileScope
  ) throws -> Int {
    let statement = try connection.statement(sql)
    let event = scope.begin(.statement)
    defer {
      statement.reset()
      count(kind, in: scope)
      scope.end(event) { event in
        event.entity = entity
        event.statement = record(sql, binds, 0, kind, scope)
      }
    }
    for (index, value) in binds.enumerated() {
      try statement.bind(value, at: Int32(index + 1))
    }
    while try statement.step() {}
    return connection.changes
  }

  func count(_ kind: StatementKind, in scope: ProfileScope) {
    switch kind {
    case .insert: scope.counters.inserts += 1
    case .update: scope.counters.updates += 1
    case .delete: scope.counters.deletes += 1
    case .select, .transaction, .housekeeping: break
    }
  }

  func record(
    _ sql: String, _ binds: [SQLiteValue], _ intArrays: Int, _ kind: StatementKind,
    _ scope: ProfileScope
  ) -> StatementRecord {
    StatementRecord(
      kind: kind, sql: sql,
      binds: scope.hub.detail.contains(.binds) ? binds.map(\.description) : nil,
      intArrays: intArrays)
  }
}
