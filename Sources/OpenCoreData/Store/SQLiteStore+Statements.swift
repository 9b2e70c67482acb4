import ManagedModel
import ProfileEvents
import SQLiteDriver

extension SQLiteStore {
  /// Runs a SELECT on rows of an entity: binds, steps, counts, and reports it.
  ///
  /// `body` is called once for each row. The statement's time is measured only if there's an
  /// observer.
  /// - Returns: The number of rows.
  @discardableResult
  func select(
    _ query: SelectQuery, on connection: Connection, for entity: String, in scope: ProfileScope,
    _ body: (Statement) throws -> Void
  ) throws -> Int {
    for (index, values) in query.intArrays.enumerated() {
      try connection.bindIntArray(index, values)
    }
    return try run(
      query.sql, on: connection, in: scope, entity: entity, binds: query.binds,
      arrays: query.intArrays, objects: query.projectionOfObjects
    ) { statement throws(SQLiteError) in
      for (index, value) in query.binds.enumerated() {
        try statement.bind(value, at: Int32(index + 1))
      }
    } body: {
      try body($0)
    }
  }

  /// Runs a fault's SELECT, whose only bound value is a primary key.
  @discardableResult
  func select(
    _ plan: FaultPlan, key: Int64, on connection: Connection, for layout: EntityLayout,
    in scope: ProfileScope, _ body: (Statement) throws -> Void
  ) throws -> Int {
    try run(
      plan.query.sql, on: connection, in: scope, entity: layout.entityName,
      binds: [.integer(key)], arrays: [], objects: plan.query.projectionOfObjects
    ) { statement throws(SQLiteError) in
      try statement.bind(key, at: 1)
    } body: {
      try body($0)
    }
  }

  /// Runs a query.
  ///
  /// Reported values are created only if there's an observer, and the bound values (`binds` and
  /// `arrays`) and the contents of the columns (`objects`, `nil` if a row isn't an object) only if
  /// one requires them.
  @inline(__always)
  private func run(
    _ sql: String, on connection: Connection, in scope: ProfileScope,
    entity: @autoclosure () -> String, binds: @autoclosure () -> [SQLiteValue],
    arrays: @autoclosure () -> [ContiguousArray<Int64>], objects: @autoclosure () -> Projection?,
    bind: (Statement) throws(SQLiteError) -> Void, body: (Statement) throws -> Void
  ) throws -> Int {
    let statement = try connection.statement(sql)
    let event = scope.begin(.statement)
    let before = event == nil ? nil : scope.work(of: statement)
    var rows = 0
    var found: [StatementRecord.FoundObject]?
    defer {
      statement.reset()
      scope.counters.selects += 1
      scope.counters.rows += rows
      scope.end(event) { event in
        event.entity = entity()
        event.rows = rows
        event.setStatement(
          .select, sql: sql, binds: texts(of: binds(), in: scope), intArrays: arrays().count,
          arrays: recorded(arrays(), in: scope), work: before.map { statement.work - $0 },
          found: found, plan: plan(of: sql, binds(), on: connection, in: scope))
      }
    }
    try bind(statement)
    guard event != nil, scope.demand.includes(.rows), let projection = objects() else {
      try forEachRow(of: statement, counting: &rows, body)
      return rows
    }
    var list: [StatementRecord.FoundObject] = []
    defer { found = list }
    try forEachRow(of: statement, counting: &rows) { statement in
      list.append(foundObject(statement, projection))
      try body(statement)
    }
    return rows
  }

  @inline(__always)
  private func forEachRow(
    of statement: Statement, counting rows: inout Int, _ body: (Statement) throws -> Void
  ) throws {
    while try statement.step() {
      rows += 1
      try body(statement)
    }
  }

  /// Runs a statement that changes rows, or that begins or ends a transaction.
  ///
  /// - Parameter body: Reads each row that the statement returns; its event reports their number.
  /// - Returns: The number of rows changed.
  @discardableResult
  func change(
    _ sql: String, _ binds: [SQLiteValue] = [], intArrays: [ContiguousArray<Int64>] = [],
    kind: StatementKind, for entity: String? = nil, on connection: Connection,
    in scope: ProfileScope, _ body: ((Statement) throws -> Void)? = nil
  ) throws -> Int {
    for (index, values) in intArrays.enumerated() { try connection.bindIntArray(index, values) }
    var changed = 0
    let statement = try connection.statement(sql)
    let event = scope.begin(.statement)
    let before = event == nil ? nil : scope.work(of: statement)
    defer {
      statement.reset()
      count(kind, in: scope)
      scope.end(event) { event in
        event.entity = entity
        if body != nil { event.rows = changed }
        event.setStatement(
          kind, sql: sql, binds: texts(of: binds, in: scope), intArrays: intArrays.count,
          arrays: recorded(intArrays, in: scope), work: before.map { statement.work - $0 })
      }
    }
    for (index, value) in binds.enumerated() {
      try statement.bind(value, at: Int32(index + 1))
    }
    while try statement.step() { try body?(statement) }
    changed = connection.changes
    return changed
  }

  func count(_ kind: StatementKind, in scope: ProfileScope) {
    switch kind {
    case .insert: scope.counters.inserts += 1
    case .update: scope.counters.updates += 1
    case .delete: scope.counters.deletes += 1
    case .select, .transaction, .housekeeping: break
    }
  }

  /// Returns bound values as SQLDebug prints them; `nil` unless a sink requires them.
  func texts(
    of binds: @autoclosure () -> [SQLiteValue], in scope: ProfileScope
  ) -> [String]? {
    scope.demand.includes(.binds) ? binds().map(\.description) : nil
  }

  /// Returns a statement's arrays if an observer requires bound values and all are short enough.
  private func recorded(
    _ arrays: @autoclosure () -> [ContiguousArray<Int64>], in scope: ProfileScope
  ) -> [ContiguousArray<Int64>]? {
    guard scope.demand.includes(.binds) else { return nil }
    let arrays = arrays()
    let isShort = arrays.allSatisfy { $0.count <= StatementRecord.longestArray }
    return isShort && !arrays.isEmpty ? arrays : nil
  }
}

extension SQLiteStore {
  /// Returns the object of a SELECT's current row, for a log that lists objects.
  func foundObject(
    _ statement: Statement, _ projection: Projection
  ) -> StatementRecord.FoundObject {
    let number =
      projection.hasEntityNumber
      ? Int(statement.int64(Projection.entityColumn)) : projection.entity.number
    let layout = layouts.layout(entityNumber: number)
    return StatementRecord.FoundObject(
      object: ObjectReference(
        store: identifier, entity: layout?.entityName ?? projection.entity.name,
        primaryKey: statement.int64(Projection.keyColumn)),
      className: layout.map { String(describing: $0.objectClass) } ?? "NSManagedObject")
  }

  /// Returns the query plan of a statement, if a sink requires plans; `nil` otherwise, and if
  /// SQLite returns none.
  func plan(
    of sql: String, _ binds: @autoclosure () -> [SQLiteValue], on connection: Connection,
    in scope: ProfileScope
  ) -> [String]? {
    guard scope.demand.includes(.plans) else { return nil }
    return (try? connection.explainQueryPlan(sql, binds: binds()))?.lines
  }
}

extension SelectQuery {
  /// The contents of the columns if the rows are objects: if the list of columns is that of the
  /// projection.
  var projectionOfObjects: Projection? {
    let list = projection.selectList
    let isComplete =
      sql.hasPrefix("SELECT \(list) FROM ") || sql.hasPrefix("SELECT DISTINCT \(list) FROM ")
    return isComplete ? projection : nil
  }
}

/// The statements that read the faults of each entity: a SELECT, and a decoder with its own
/// buffers.
///
/// They're created when they're first needed, and checked out from the store by one reader, because
/// a decoder serves one thread.
final class FaultPlans: @unchecked Sendable {  // one reader has it at a time
  /// By layout index.
  private var plans: [FaultPlan?] = []

  /// Returns the statement and the decoder of an entity's faults; `nil` if the store can't contain
  /// the entity.
  func plan(_ layout: EntityLayout, in store: SQLiteStore) -> FaultPlan? {
    if plans.indices.contains(layout.index), let plan = plans[layout.index] { return plan }
    guard let entity = store.storedEntity(layout) else { return nil }
    let query = store.translator.fault(entity: entity)
    let plan = FaultPlan(
      query: query, decoder: RowDecoder(projection: query.projection, layouts: store.layouts))
    while plans.count <= layout.index { plans.append(nil) }
    plans[layout.index] = plan
    return plan
  }
}

/// The statement and the decoder for the faults of one entity.
final class FaultPlan {
  let query: SelectQuery
  let decoder: RowDecoder

  init(query: SelectQuery, decoder: RowDecoder) {
    self.query = query
    self.decoder = decoder
  }
}

/// The SQL of a store's INSERTs, UPDATEs, and DELETEs, created once for each statement.
///
/// Used only inside of `ConnectionPool.withWriter`, which admits one thread at a time.
final class WriteStatements: @unchecked Sendable {  // used with the writer
  private struct UpdateShape: Hashable {
    let entity: Int
    let slots: [Int]
    let moved: [Int]
  }

  private let translator: SQLTranslator
  private var inserts: [Int: RowStatement] = [:]
  private var deletes: [Int: RowStatement] = [:]
  private var updates: [UpdateShape: RowStatement] = [:]

  init(translator: SQLTranslator) {
    self.translator = translator
  }

  func insert(_ entity: SQLEntity) -> RowStatement {
    if let known = inserts[entity.number] { return known }
    let statement = translator.insert(entity: entity)
    inserts[entity.number] = statement
    return statement
  }

  func delete(_ entity: SQLEntity) -> RowStatement {
    if let known = deletes[entity.number] { return known }
    let statement = translator.delete(entity: entity)
    deletes[entity.number] = statement
    return statement
  }

  /// - Parameters:
  ///   - slots: The slots to write, in ascending order.
  ///   - moved: The slots whose value changes: such a to-one gets another order key, or none.
  func update(_ entity: SQLEntity, slots: [Int], moved: [Int]) -> RowStatement {
    let moved = moved.filter { entity.columns[$0].orderColumn != nil }
    let shape = UpdateShape(entity: entity.number, slots: slots, moved: moved)
    if let known = updates[shape] { return known }
    let statement = translator.update(entity: entity, slots: slots, orderedSlots: moved)
    updates[shape] = statement
    return statement
  }
}
