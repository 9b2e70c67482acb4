import ManagedModel

extension NSManagedObjectContext {
  /// Whether unsaved changes may alter what a request gives.
  final func hasPendingChanges(touching plan: FetchPlan) -> Bool {
    !changes.isEmpty
      && changes.all.contains { plan.covers($0.layout) }
  }

  /// Lays unsaved changes over what the store gave: deleted objects go, changed ones that no longer
  /// match go, those that match now come, in the order of the sort descriptors.
  ///
  /// Offset and limit have been applied to the saved values; the limit is applied again.
  final func overlay(_ plan: FetchPlan, on fetched: [NSManagedObject]) -> [NSManagedObject] {
    guard plan.includesPendingChanges, hasPendingChanges(touching: plan) else { return fetched }
    let present = Set(fetched)
    var result = fetched.filter { object in
      !object.isDeleted && (!object.isUpdated || matches(object, plan))
    }
    var hasMoved = result.contains { $0.isUpdated }
    for object in changes.inserted.array + changes.updated.array
    where !present.contains(object) && !object.isDeleted && plan.covers(object.layout)
      && matches(object, plan)
    {
      result.append(object)
      hasMoved = true
    }
    if hasMoved, !plan.sort.isEmpty { result = result.sorted(using: plan.sort) }
    return plan.limit > 0 ? Array(result.prefix(plan.limit)) : result
  }

  private func matches(_ object: NSManagedObject, _ plan: FetchPlan) -> Bool {
    plan.predicate?.evaluate(with: object) ?? true
  }
}
