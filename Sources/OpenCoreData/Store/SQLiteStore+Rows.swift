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
    let decoder = RowDecoder(projection: query.projection, layouts: layouts)
    do {
      try select(query, on: connection, for: entity, in: scope) { statement in
        visit(statement)
        rows.append(try decoder.row(statement))
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
    let decoder = RowDecoder(projection: query.projection, layouts: layouts)
    try select(query, on: connection, for: entity, in: scope) { statement in
      keys.append(try decoder.identity(statement))
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
      if let first = rows.first {
        shared.rows.reserve(rootIndex: first.layout.rootIndex, rows.count)
      }
      for (index, fetched) in rows.enumerated() {
        let rootIndex = fetched.layout.rootIndex
        current.append(
          owning[index]
            ? shared.rows.own(
              fetched.row, rootIndex: rootIndex, key: fetched.primaryKey, commit: commit,
              timestamp: timestamp)
            : shared.rows.install(
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
