package import ManagedModel
package import SQLiteDriver

/// Creates SQL with Core Data's spacing for fetches, faults, prefetches, and saves.
///
/// No method accesses a database.
struct SQLTranslator: Sendable {
  let model: SQLModel

  /// The maximum size in bytes of values that external storage keeps in rows.
  let largestInRow: Int

  /// Returns the key of a managed object or object ID; `nil` for any other value.
  let objectKey: @Sendable (Any) -> ObjectKey?

  /// The cache of translated fetches.
  let cache = TranslationCache()

  /// - Parameters:
  ///   - model: The model mapped to the file.
  ///   - largestInRow: The maximum size in bytes of values that external storage keeps in rows.
  ///   - objectKey: Returns the key of a managed object or object ID; `nil` for any other value.
  init(
    model: SQLModel, largestInRow: Int = ExternalStorage.largestInRowOfFile,
    objectKey: @escaping @Sendable (Any) -> ObjectKey? = { _ in nil }
  ) {
    self.model = model
    self.largestInRow = largestInRow
    self.objectKey = objectKey
  }
}

extension SQLTranslator {
  /// The kind of result of a fetch.
  enum Result: UInt8, Sendable {
    case rows
    case identifiers
    case count
  }

  /// Returns the SELECT of a fetch request.
  ///
  /// - Parameters:
  ///   - entity: The entity to fetch.
  ///   - predicate: The condition; `nil` for all rows.
  ///   - sort: The order. A count ignores it unless it's limited.
  ///   - limit: The maximum number of rows; 0 for all.
  ///   - offset: The number of rows to skip.
  ///   - includesSubentities: Whether to include rows of subentities.
  ///   - result: The kind of result.
  /// - Throws: A `TranslationError` with the part that has no SQL.
  func fetch(
    entity: SQLEntity, predicate: NSPredicate? = nil, sort: [NSSortDescriptor] = [],
    limit: Int = 0, offset: Int = 0, includesSubentities: Bool = true,
    result: Result = .rows
  ) throws(TranslationError) -> SelectQuery {
    let shape = PredicateShape(
      entity: entity, predicate: predicate, sort: sort, limit: limit, offset: offset,
      includesSubentities: includesSubentities, result: result)
    if let shape, let query = cache.entry(shape)?.query(shape.constants, for: self) {
      return query
    }
    let translation = PredicateTranslation(self, entity: entity, shape: shape)
    var conditions: [SQLCondition] = []
    if let predicate { conditions.append(try translation.condition(predicate)) }
    if let filter = entityFilter(entity, includesSubentities: includesSubentities) {
      conditions.append(filter)
    }
    let isLimited = limit > 0 || offset > 0
    let order = result == .count && !isLimited ? "" : try translation.order(sort)
    let projection = Projection(
      entity: entity, extent: result == .rows ? .entity : .identifiers)
    var text = SelectText(list: projection.selectList, table: entity.table)
    text.isDistinct = translation.isDistinct
    text.joins = translation.root.text
    text.order = order
    text.limit = limit
    text.offset = offset
    var binds: [SQLBind] = []
    switch SQLCondition.all(conditions) {
    case .constant(true): break
    case let condition:
      text.condition = condition.fragment.sql
      binds = condition.fragment.binds
    }
    if result == .count { makeCount(&text, hasJoins: translation.root.hasJoins) }
    let entry = TranslationCache.Entry(
      sql: text.sql, binds: binds, intArrays: translation.intArrays, projection: projection)
    cache.add(entry, shape: translation.isReusable ? shape : nil)
    guard let query = entry.query(shape?.constants ?? [], for: self) else {
      fatalError("The number of constants must match the cached SQL text.")
    }
    return query
  }

  /// Changes a SELECT of identifiers into one that counts them.
  private func makeCount(_ text: inout SelectText, hasJoins: Bool) {
    if text.limit > 0 || text.offset > 0 {
      text.isNested = true
    } else if hasJoins {
      text.list = "COUNT(DISTINCT t0.Z_PK)"
      text.isDistinct = false
    } else {
      text.list = "COUNT(*)"
      text.hidesAlias = text.condition.isEmpty
    }
  }

  /// Returns the condition that excludes the table's other entities; `nil` if there are none.
  func entityFilter(_ entity: SQLEntity, includesSubentities: Bool) -> SQLCondition? {
    guard entity.hasHierarchy else { return nil }
    let numbers = includesSubentities ? entity.concreteNumbers : [entity.number]
    if numbers.count == entity.root.concreteNumbers.count { return nil }
    return PredicateTranslation.condition(" t0.Z_ENT", is: numbers)
  }
}

extension SQLTranslator {
  /// Returns the SELECT of the primary keys and order keys of an ordered to-many's destinations.
  ///
  /// One bound value: the source's key.
  func orderKeys(_ relationship: SQLToMany) -> SelectQuery {
    let projection = Projection(entity: relationship.destination, extent: .identifiers)
    let (table, key, source, order) =
      switch relationship.storage {
      case .foreignKey(let column, let orderColumn):
        (relationship.destination.table, SQLNames.primaryKey, column, orderColumn)
      case .joinTable(let table, let source, let destination, let orderColumn):
        (table, destination, source, orderColumn)
      }
    let orderKey = order.map { "t0.\(SQLSyntax.quoted($0))" } ?? "NULL"
    let sql =
      "SELECT t0.\(SQLSyntax.quoted(key)), \(orderKey) FROM \(SQLSyntax.quoted(table)) t0"
      + " WHERE  t0.\(SQLSyntax.quoted(source)) = ?"
    return SelectQuery(sql: sql, projection: projection)
  }

  /// Returns the UPDATE of a row's order key in the ordered inverse of a to-one, regardless of its
  /// version.
  ///
  /// Bound values: the order key, the row's key. `nil` for a to-one whose inverse isn't ordered.
  func updateOrderKey(entity: SQLEntity, slot: Int) -> String? {
    entity.columns[slot].orderColumn.map { order in
      "UPDATE \(SQLSyntax.quoted(entity.table)) SET \(SQLSyntax.quoted(order)) = ? WHERE Z_PK=?"
    }
  }
}

extension SQLTranslator {
  /// Returns the SELECT of the row of one object.
  ///
  /// One bound value: its key.
  func fault(entity: SQLEntity) -> SelectQuery {
    select(Projection(entity: entity, extent: .hierarchy), where: " t0.Z_PK = ?")
  }

  /// Returns the SELECT of the rows of one batch of a batched fetch.
  ///
  /// The keys are in `_Z_intarray0`.
  func page(entity: SQLEntity, limit: Int) -> SelectQuery {
    select(
      Projection(entity: entity, extent: .entity),
      where: " t0.Z_PK IN (SELECT * FROM _Z_intarray0) ", limit: limit)
  }

  /// Returns the SELECT of the keys of the objects at the other end of a to-many.
  ///
  /// One bound value: the source's key.
  ///
  /// An ordered relationship's order keys are selected too, and determine the order of the rows.
  func toMany(_ relationship: SQLToMany) -> SelectQuery {
    var projection = Projection(entity: relationship.destination, extent: .identifiers)
    switch relationship.storage {
    case .foreignKey(let column, let orderColumn):
      var order = ""
      if let orderColumn {
        projection.appendOrder(orderColumn, alias: "t0")
        order = "t0.\(SQLSyntax.quoted(orderColumn))"
      }
      return select(projection, where: " t0.\(SQLSyntax.quoted(column)) = ?", order: order)
    case .joinTable(let table, let source, let destination, let orderColumn):
      var order = ""
      if let orderColumn {
        projection.appendOrder(orderColumn, alias: "t1")
        order = " ORDER BY t1.\(SQLSyntax.quoted(orderColumn))"
      }
      let sql =
        "SELECT \(projection.selectList) FROM \(SQLSyntax.quoted(table)) t1"
        + " JOIN \(SQLSyntax.quoted(relationship.destination.table)) t0"
        + " ON t0.Z_PK = t1.\(SQLSyntax.quoted(destination))"
        + " WHERE t1.\(SQLSyntax.quoted(source)) = ?" + order
      return SelectQuery(sql: sql, projection: projection)
    }
  }

  /// Returns the SELECT of the rows of a to-one's destinations.
  ///
  /// Their keys are in `_Z_intarray0`.
  func prefetchToOne(entity: SQLEntity) -> SelectQuery {
    select(
      Projection(entity: entity, extent: .entity),
      where: " t0.Z_PK IN (SELECT * FROM _Z_intarray0) ")
  }

  /// Returns the SELECT of the rows at the other end of a one-to-many, by source.
  ///
  /// The sources' keys are in `_Z_intarray0`; `projection.sourceKeyColumn` is the column with each
  /// row's source.
  ///
  /// `nil` for a many-to-many, which needs `prefetchJoin` for the join rows and `prefetchToOne` for
  /// the rows.
  func prefetchToMany(_ relationship: SQLToMany) -> SelectQuery? {
    guard case .foreignKey(let column, let orderColumn) = relationship.storage else { return nil }
    var projection = Projection(entity: relationship.destination, extent: .entity)
    projection.appendSourceKey(column, alias: "t0")
    var order = "t0.\(SQLSyntax.quoted(column))"
    if let orderColumn {
      projection.appendOrder(orderColumn, alias: "t0")
      order += ", t0.\(SQLSyntax.quoted(orderColumn))"
    }
    return select(
      projection,
      where: " t0.\(SQLSyntax.quoted(column)) IN (SELECT * FROM _Z_intarray0) ", order: order)
  }

  /// Returns the SELECT of the join rows of a many-to-many, by source.
  ///
  /// The sources' keys are in `_Z_intarray0`.
  ///
  /// `nil` for a one-to-many.
  func prefetchJoin(_ relationship: SQLToMany) -> JoinQuery? {
    guard
      case .joinTable(let table, let source, let destination, let order) = relationship.storage
    else { return nil }
    let names = [source, destination, order].compactMap { $0 }.map { "t0.\(SQLSyntax.quoted($0))" }
    let sorting = [names[0], order == nil ? nil : names[2]].compactMap { $0 }
    let sql =
      "SELECT \(names.joined(separator: ", ")) FROM \(SQLSyntax.quoted(table)) t0"
      + " WHERE  \(names[0]) IN (SELECT * FROM _Z_intarray0) "
      + " ORDER BY \(sorting.joined(separator: ", "))"
    return JoinQuery(sql: sql, hasOrder: order != nil)
  }

  func select(
    _ projection: Projection, where condition: String, order: String = "", limit: Int = 0
  ) -> SelectQuery {
    var text = SelectText(
      list: projection.selectList, table: projection.entity.table)
    text.condition = condition
    text.order = order
    text.limit = limit
    return SelectQuery(sql: text.sql, projection: projection)
  }
}

/// The SELECT and the bound values of a fetch with a predicate, which isn't run.
package struct FetchStatement: Sendable {
  /// The reason why there's no SELECT.
  package struct Refusal: Error, Sendable {
    /// The part of the predicate that can't be translated to SQL, in predicate format.
    package let piece: String
    /// The message.
    package let reason: String
    /// The suggested name if one was misspelled.
    package let suggestion: String?
  }

  /// The SQL text, with `?` for values.
  package let sql: String
  /// The bound values, in order.
  package let binds: [SQLiteValue]
  /// The contents of the tables `_Z_intarray0`, `_Z_intarray1` ….
  package let intArrays: [[Int64]]

  /// Translates a predicate for all objects of an entity.
  ///
  /// Runs no statements. Objects and object IDs in the predicate have no primary key here.
  package init(
    predicate: NSPredicate, entity: NSEntityDescription, in model: SQLModel
  ) throws(Refusal) {
    let query: SelectQuery
    do {
      query = try SQLTranslator(model: model).fetch(
        entity: model.entity(for: entity), predicate: predicate)
    } catch {
      throw Refusal(piece: error.piece, reason: error.reason, suggestion: error.suggestion)
    }
    sql = query.sql
    binds = query.binds
    intArrays = query.intArrays.map { Array($0) }
  }
}
