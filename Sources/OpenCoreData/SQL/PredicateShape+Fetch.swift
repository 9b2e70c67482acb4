import ManagedModel

extension PredicateShape {
  /// The shape of a whole fetch, nil for one whose text serves it alone.
  init?(
    entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor], limit: Int, offset: Int,
    includesSubentities: Bool, result: SQLTranslator.Result
  ) {
    self.init([])
    add(UInt64(entity.number))
    add(UInt64(result.rawValue))
    add(UInt64(clamping: limit))
    add(UInt64(clamping: offset))
    add(includesSubentities ? 1 : 0)
    add(UInt64(sort.count))
    for descriptor in sort {
      guard let key = descriptor.key, let comparison = descriptor.comparison else { return nil }
      add(key)
      add(comparison.rawValue)
      add(descriptor.ascending ? 1 : 0)
    }
    guard let predicate else { return }
    if predicate.depth > PredicateTranslation.maximumDepth || !add(predicate) { return nil }
  }
}
