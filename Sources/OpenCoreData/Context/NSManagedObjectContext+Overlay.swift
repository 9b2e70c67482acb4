import ManagedModel

// Merges unsaved changes into what the store returned.

extension NSManagedObjectContext {
  /// Returns whether an unsaved change could alter the result.
  final func hasPendingChanges(touching plan: FetchPlan) -> Bool {
    !changes.isEmpty
      && changes.all.contains { plan.covers($0.layout) }
  }

  /// Merges unsaved changes into fetched objects, in memory.
  ///
  /// Unchanged objects keep the store's order; changed objects are inserted in order, each with
  /// about log₂ of the count comparisons, which fire the faults that they read. The limit is
  /// applied again.
  /// - Throws: 134060 if the predicate can't be evaluated for a changed object, or a value that
  ///   determines its position can't be computed.
  final func overlay(
    _ plan: FetchPlan, on fetched: [NSManagedObject]
  ) throws -> [NSManagedObject] {
    try overlay(plan, on: fetched, known: { $0 }, object: { $0 }, element: { $0 })
  }

  /// Merges unsaved changes into fetched object IDs; only objects that are compared are registered.
  ///
  /// The fetched IDs retain their rows, and are the ones to return.
  final func overlay(
    _ plan: FetchPlan, on fetched: [NSManagedObjectID]
  ) throws -> [NSManagedObjectID] {
    try overlay(
      plan, on: fetched, known: { self.registeredObject(for: $0) },
      object: { self.object(with: $0) }, element: { $0.objectID })
  }

  private func overlay<Element>(
    _ plan: FetchPlan, on fetched: [Element], known: (Element) -> NSManagedObject?,
    object: (Element) -> NSManagedObject, element: (NSManagedObject) -> Element
  ) throws -> [Element] {
    guard plan.includesPendingChanges, hasPendingChanges(touching: plan) else { return fetched }
    var (kept, moved): ([Element], [NSManagedObject]) = ([], [])
    var present: [ObjectIdentifier: Element] = [:]
    kept.reserveCapacity(fetched.count)
    for element in fetched {
      guard let object = known(element), object.isDeleted || object.isUpdated else {
        kept.append(element)
        continue
      }
      present[ObjectIdentifier(object)] = element
      guard !object.isDeleted, try plan.matches(object) else { continue }
      if object.mayMove(under: plan.sort) { moved.append(object) } else { kept.append(element) }
    }
    for object in changes.inserted.array + changes.updated.array
    where present[ObjectIdentifier(object)] == nil && !object.isDeleted
      && plan.covers(object.layout)
    {
      if try plan.matches(object) { moved.append(object) }
    }
    func back(_ object: NSManagedObject) -> Element {
      present[ObjectIdentifier(object)] ?? element(object)
    }
    let result: [Element]
    if plan.sort.isEmpty {
      result = kept + moved.map(back)
    } else {
      do {
        result = try insert(
          try moved.ordered(by: plan.sort), in: kept, plan.sort, object, back)
      } catch {
        throw NSError.unsortable(plan.sort, error)
      }
    }
    return plan.limit > 0 ? Array(result.prefix(plan.limit)) : result
  }

  /// Inserts sorted objects in order into sorted elements, after equal ones.
  private func insert<Element>(
    _ moved: [NSManagedObject], in kept: [Element], _ sort: [NSSortDescriptor],
    _ object: (Element) -> NSManagedObject, _ element: (NSManagedObject) -> Element
  ) throws(PredicateEvaluationError) -> [Element] {
    var result: [Element] = []
    result.reserveCapacity(kept.count + moved.count)
    var start = 0
    for mover in moved {
      var (low, high) = (start, kept.count)
      while low < high {
        let middle = (low + high) / 2
        if try precedes(mover, object(kept[middle]), sort) {
          high = middle
        } else {
          low = middle + 1
        }
      }
      result += kept[start..<low]
      result.append(element(mover))
      start = low
    }
    return result + kept[start...]
  }

  private func precedes(
    _ first: NSManagedObject, _ second: NSManagedObject, _ sort: [NSSortDescriptor]
  ) throws(PredicateEvaluationError) -> Bool {
    for descriptor in sort {
      switch try descriptor.order(of: first, second) {
      case .orderedAscending: return true
      case .orderedDescending: return false
      case .orderedSame: continue
      }
    }
    return false
  }
}

extension NSManagedObject {
  /// Returns whether the object's unsaved changes can have changed its position.
  fileprivate final func mayMove(under sort: [NSSortDescriptor]) -> Bool {
    guard !sort.isEmpty else { return false }
    let names = Set(changedSlots().map(\.name))
    return sort.contains { descriptor in
      guard let key = descriptor.key, !key.contains(".") else { return true }
      return names.contains(key)
    }
  }
}
