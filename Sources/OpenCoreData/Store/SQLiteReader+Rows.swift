import ManagedModel
import SQLiteDriver

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
      if let dictionary = plan.dictionary, dictionary.isAggregated || dictionary.isDistinct {
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
    let plan = faultPlans.plan(layout, in: sqlite)
    var fetched: FetchedRow?
    do {
      try sqlite.select(plan.query, key: key, on: connection, for: layout.entity, in: scope) {
        fetched = try plan.decoder.row($0)
      }
    } catch {
      fetched?.row.release()
      throw error
    }
    return fetched
  }

  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, pageSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow] {
    let entity = sqlite.entity(layout)
    var query =
      pageSize.map { sqlite.translator.page(entity: entity, limit: $0) }
      ?? sqlite.translator.prefetchToOne(entity: entity)
    query.intArrays = [keys]
    return try rows(query, for: entity.name, in: scope)
  }

  /// Runs a SELECT of rows; the caller owns one count of each.
  ///
  /// `visit` sees the statement of each row that was read.
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
          return try passOver(error)
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
        try passOver(error)
      }
    }
    return keys
  }

  /// Goes on behind a row that no object can be of, where somebody only looks and takes note.
  private func passOver(_ error: any Error) throws {
    guard sqlite.damagedRows?.note(error) == true else { throw error }
  }

  /// The SELECT of a fetch.
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
