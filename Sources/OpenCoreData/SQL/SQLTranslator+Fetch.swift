import ManagedModel
import SQLiteDriver

extension SQLTranslator {
  /// What a fetch brings back.
  enum Result: UInt8, Sendable {
    case rows
    case identifiers
    case count
  }

  /// The SELECT of a fetch request.
  ///
  /// - Parameters:
  ///   - entity: The entity to fetch.
  ///   - predicate: The condition, nil for all rows.
  ///   - sort: The order. A count ignores it unless it is limited.
  ///   - limit: The greatest number of rows, 0 for all.
  ///   - offset: How many rows to leave out at the start.
  ///   - includesSubentities: Whether rows of sub-entities count.
  ///   - result: What is selected.
  ///   - variables: Values for the predicate's variables.
  /// - Throws: `TranslationError` which names the piece that has no SQL.
  func fetch(
    entity: SQLEntity, predicate: NSPredicate? = nil, sort: [NSSortDescriptor] = [],
    limit: Int = 0, offset: Int = 0, includesSubentities: Bool = true,
    result: Result = .rows, variables: [String: Any] = [:]
  ) throws(TranslationError) -> SelectQuery {
    let bound = variables.isEmpty ? predicate : predicate?.withSubstitutionVariables(variables)
    let shape = PredicateShape(
      entity: entity, predicate: bound, sort: sort, limit: limit, offset: offset,
      includesSubentities: includesSubentities, result: result)
    if let shape, let query = cache.entry(shape)?.query(shape.constants, for: self) {
      return query
    }
    let translation = PredicateTranslation(self, entity: entity, shape: shape)
    var conditions: [SQLCondition] = []
    if let bound { conditions.append(try translation.condition(bound)) }
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
      preconditionFailure("The constants of a predicate fit the text that was made for them.")
    }
    return query
  }

  /// Turns a SELECT of identifiers into one that counts them.
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

  /// The condition that leaves out the table's other entities, nil when there are none.
  func entityFilter(_ entity: SQLEntity, includesSubentities: Bool) -> SQLCondition? {
    guard entity.hasHierarchy else { return nil }
    let numbers = includesSubentities ? entity.concreteNumbers : [entity.number]
    if numbers.count == entity.root.concreteNumbers.count { return nil }
    return PredicateTranslation.condition(" t0.Z_ENT", is: numbers)
  }
}
