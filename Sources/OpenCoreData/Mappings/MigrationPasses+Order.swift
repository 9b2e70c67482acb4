import ManagedModel

// Restores the order of relationships that are set by their inverses.

extension MigrationPasses {
  /// Puts the objects of ordered relationships that an inferred mapping leaves to their inverses
  /// into the order that they had, once all are set.
  ///
  /// **Cost:** none without such relationships; otherwise, their owners are loaded again.
  func orderRelationships(_ plan: EntityMappingPlan, _ report: MigrationProgress) throws {
    let orders = plan.orders
    guard !orders.isEmpty else { return }
    let (known, names) = (manager.associations(of: plan.mapping), manager.knownNames)
    let paths = Array(Set(orders.flatMap(\.formers).map(\.name))).sorted()
    var start = 0
    while start < known.count {
      let range = start..<min(start + manager.batchSize, known.count)
      let sources = try manager.sourceContext.load(
        known.sources(in: range), prefetching: paths)
      for object in try manager.loadDestinations(of: known, in: range) {
        try report.check()
        let source = manager.sourceInstances(
          forEntityMappingName: plan.name, destinationInstances: [object]
        ).first
        for (relationship, formers) in orders {
          let others = formers.flatMap { source?.relatedObjects($0) ?? [] }
          object.order(relationship, as: manager.found(of: others, in: names))
        }
      }
      withExtendedLifetime(sources) {}
      try saveBatch(report)
      start = range.upperBound
    }
  }
}

extension EntityMappingPlan {
  /// The ordered relationships that are set by their inverses, with the source relationships that
  /// determine their order.
  fileprivate var orders:
    [(relationship: NSRelationshipDescription, formers: [NSRelationshipDescription])]
  {
    (mapping.relationshipMappings ?? []).compactMap { property in
      guard !property.orders.isEmpty, let name = property.name,
        let relationship = destination?.relationshipsByName[name]
      else { return nil }
      return (relationship, property.orders.compactMap { source?.relationshipsByName[$0] })
    }
  }
}

extension NSManagedObject {
  /// Puts the objects of an ordered relationship into the order of a list; others follow.
  fileprivate final func order(
    _ relationship: NSRelationshipDescription, as list: [NSManagedObject]
  ) {
    let present = relatedObjects(relationship)
    let known = Set(present)
    var seen: Set<NSManagedObject> = []
    let first = list.filter { known.contains($0) && seen.insert($0).inserted }
    let order = first + present.filter { !seen.contains($0) }
    if order != present { setValue(NSOrderedSet(array: order), forKey: relationship.name) }
  }
}
