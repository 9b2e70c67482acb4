import ManagedModel

extension PredicateShape {
  /// The shape of a whole fetch, nil for one whose text serves it alone.
  init?(
    entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor], limit: Int, offset: Int,
    includesSubentities: Bool, result: SQLTranslator.Result
  ) {
    self.init([])
    add(UInt64(result.rawValue))
    guard
      add(
        entity: entity, predicate: predicate, sort: sort, limit: limit, offset: offset,
        includesSubentities: includesSubentities)
    else { return nil }
  }

  /// The shape of a fetch of dictionaries, nil for one whose text serves it alone.
  ///
  /// Keys are part of it: they lead from the columns to the entries.
  init?(
    _ plan: DictionaryPlan, entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor],
    limit: Int, offset: Int, includesSubentities: Bool, isCounted: Bool
  ) {
    self.init([])
    let kinds = UInt64(SQLTranslator.Result.count.rawValue)
    add(kinds + (isCounted ? 1 : 2))
    guard
      add(
        entity: entity, predicate: predicate, sort: sort, limit: limit, offset: offset,
        includesSubentities: includesSubentities)
    else { return nil }
    add(plan.isDistinct ? 1 : 0)
    for columns in [plan.columns, plan.groups] {
      add(UInt64(columns.count))
      for column in columns {
        add(column.name)
        add(UInt64(column.resultType?.rawValue ?? 0))
        add(column.isComputed ? 1 : 0)
        guard add(column.expression) else { return nil }
      }
    }
    add(plan.having == nil ? 0 : 1)
    if let having = plan.having, !add(checked: having) { return nil }
  }

  private mutating func add(
    entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor], limit: Int, offset: Int,
    includesSubentities: Bool
  ) -> Bool {
    add(UInt64(entity.number))
    add(UInt64(clamping: limit))
    add(UInt64(clamping: offset))
    add(includesSubentities ? 1 : 0)
    add(UInt64(sort.count))
    for descriptor in sort {
      guard let key = descriptor.key, let comparison = descriptor.comparison else { return false }
      add(key)
      add(comparison.rawValue)
      add(descriptor.ascending ? 1 : 0)
    }
    add(predicate == nil ? 0 : 1)
    guard let predicate else { return true }
    return add(checked: predicate)
  }

  private mutating func add(checked predicate: NSPredicate) -> Bool {
    predicate.depth <= PredicateTranslation.maximumDepth && add(predicate)
  }
}
