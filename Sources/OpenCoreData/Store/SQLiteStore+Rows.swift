import ManagedModel
import SQLiteDriver

extension SQLiteStore {
  /// Runs a SELECT of rows; the caller owns one count of each.
  ///
  /// `visit` sees each row's statement.
  func rows(
    _ query: SelectQuery, on connection: Connection, for entity: String, in scope: ProfileScope,
    _ visit: (Statement) -> Void = { _ in }
  ) throws -> [FetchedRow] {
    var rows: [FetchedRow] = []
    var decoder: RowDecoder?
    do {
      try select(query, on: connection, for: entity, in: scope) { statement in
        if decoder == nil {
          decoder = RowDecoder(
            statement: statement, projection: query.projection, layouts: layouts)
        }
        visit(statement)
        if let row = try decoder?.row() { rows.append(row) }
      }
    } catch {
      for fetched in rows { fetched.row.release() }
      throw error
    }
    return rows
  }

  /// Runs a SELECT of keys.
  func keys(
    _ query: SelectQuery, on connection: Connection, for entity: String, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    var keys: [FetchedIdentity] = []
    var decoder: RowDecoder?
    try select(query, on: connection, for: entity, in: scope) { statement in
      if decoder == nil {
        decoder = RowDecoder(statement: statement, projection: query.projection, layouts: layouts)
      }
      if let key = try decoder?.identity() { keys.append(key) }
    }
    return keys
  }

  /// Puts fetched rows into the row cache under one lock.
  ///
  /// Where `owning` says so, an owner is added first, without which a row is not kept. - Returns:
  /// The rows to use, each with a count for the caller.
  func install(_ rows: [FetchedRow], owning: [Bool], commit: UInt64) -> [Row] {
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared { shared in
      var current: [Row] = []
      current.reserveCapacity(rows.count)
      for (index, fetched) in rows.enumerated() {
        let rootIndex = fetched.layout.rootIndex
        if owning[index] { shared.rows.own(rootIndex: rootIndex, key: fetched.primaryKey) }
        current.append(
          shared.rows.install(
            fetched.row, rootIndex: rootIndex, key: fetched.primaryKey, commit: commit,
            timestamp: timestamp))
      }
      return current
    }
  }

  /// Puts fetched rows into the row cache for a new owner each.
  func cache(_ rows: [FetchedRow], commit: UInt64) {
    let owning = [Bool](repeating: true, count: rows.count)
    for row in install(rows, owning: owning, commit: commit) { row.release() }
  }
}
