import ManagedModel
import SQLiteDriver

extension SQLiteReader {
  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]] {
    let found = try query(plan, dictionary)
    var dictionaries: [[String: Any]] = []
    try sqlite.select(found.query, on: connection, for: plan.entityName, in: scope) { statement in
      var entries: [String: Any] = [:]
      for column in found.columns {
        entries[column.name] = try value(column, statement)
      }
      dictionaries.append(dictionary.gathered(entries))
    }
    return dictionaries
  }

  /// The SELECT of a fetch of dictionaries, or of their number.
  func query(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, isCounted: Bool = false
  ) throws -> DictionaryQuery {
    do {
      return try sqlite.translator.dictionaries(
        dictionary, entity: sqlite.entity(plan.layout), predicate: plan.predicate,
        sort: plan.sort, limit: plan.limit, offset: plan.offset,
        includesSubentities: plan.includesSubentities, isCounted: isCounted)
    } catch {
      throw NSError.translation(error, entity: plan.entityName)
    }
  }

  /// An entry of the current row's dictionary, nil for nil.
  private func value(
    _ column: DictionaryQuery.Column, _ statement: Statement
  ) throws -> Any? {
    switch column.source {
    case .value(let index, let type):
      return PredicateValue(column: statement.value(index)).read(as: type)
        .dictionaryValue(column.resultType)
    case .objectID(let keyColumn, let entity, let numberColumn):
      if statement.isNull(keyColumn) { return nil }
      let key = statement.int64(keyColumn)
      var layout = EntityLayout.of(entity.description).at(sqlite.place)
      // A link to a row that is no more has no number; its entity is the relationship's then.
      if let numberColumn, !statement.isNull(numberColumn) {
        let number = Int(statement.int64(numberColumn))
        guard let found = sqlite.layouts.layout(entityNumber: number) else {
          throw NSError.damagedRow(entityNumber: number, primaryKey: key)
        }
        layout = found
      }
      return NSManagedObjectID(layout: layout, primaryKey: key, store: sqlite)
    }
  }
}
