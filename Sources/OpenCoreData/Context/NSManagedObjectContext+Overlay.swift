import ManagedModel

// Merges unsaved changes into what the store returned.

extension NSManagedObjectContext {
  /// Returns whether an unsaved change could alter the result.
  final func hasPendingChanges(touching plan: FetchPlan) -> Bool {
    !changes.isEmpty
      && changes.all.contains { plan.covers($0.layout) }
  }

  /// Returns the plan that reads the rows of a fetch with an offset or a limit if unsaved changes
  /// must be merged before those are applied; `nil` for other fetches, and for that plan.
  ///
  /// It skips no rows, and reads additional ones in place of those that the merge may remove. If
  /// changes of related objects alter the order, it reads all.
  final func widened(_ plan: FetchPlan) -> FetchPlan? {
    guard plan.limit > 0 || plan.offset > 0, plan.window == nil, plan.includesPendingChanges,
      hasPendingChanges(touching: plan)
    else { return nil }
    var wide = plan
    wide.window = (plan.offset, plan.limit)
    wide.offset = 0
    if plan.limit > 0 {
      let removable = (changes.updated.array + changes.deleted.array).count {
        plan.covers($0.layout)
      }
      // Powers of two, so that few statements differ.
      var spare = removable > 0 ? 1 : 0
      while spare < removable { spare *= 2 }
      wide.limit = changesOrder(of: plan) ? 0 : plan.firstRows(and: spare)
    }
    return wide
  }

  /// Merges unsaved changes into fetched objects, in memory.
  ///
  /// Unchanged objects keep the store's order, unless changes of related objects alter it; then all
  /// are sorted. Changed objects are inserted in order, each with about log₂ of the count
  /// comparisons. Comparisons fire the faults that they read. The offset and the limit of a widened
  /// plan are applied afterward.
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
    guard plan.includesPendingChanges, hasPendingChanges(touching: plan) else {
      return plan.windowed(fetched)
    }
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
    guard !plan.sort.isEmpty else { return plan.windowed(kept + moved.map(back)) }
    do {
      guard changesOrder(of: plan) else {
        return plan.windowed(
          try insert(try moved.ordered(by: plan.sort), in: kept, plan.sort, object, back))
      }
      let unmoved = kept.map(object)
      for (object, element) in zip(unmoved, kept) { present[ObjectIdentifier(object)] = element }
      return plan.windowed(try (unmoved + moved).ordered(by: plan.sort).map(back))
    } catch {
      throw NSError.unsortable(plan.sort, error)
    }
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

extension NSManagedObjectContext {
  /// Returns whether unsaved changes of related objects, whose values a key path of the order
  /// reads, can have changed the positions of unchanged objects.
  private func changesOrder(of plan: FetchPlan) -> Bool {
    let keys = plan.relatedSortKeys
    return !keys.isEmpty && hasChanges(of: keys)
  }

  /// Returns whether this context or a parent, whose values this context reads, has unsaved changes
  /// of properties.
  private func hasChanges(of keys: [(entity: NSEntityDescription, key: String)]) -> Bool {
    let isChanged = changes.updated.array.contains { object in
      let names = object.changedSlots().map(\.name)
      return keys.contains { entity, key in
        object.layout.entity.isKind(of: entity)
          && names.contains { $0 == key || $0.hasPrefix(key + ".") }
      }
    }
    return isChanged || askParent { $0.hasChanges(of: keys) } == true
  }
}

extension FetchPlan {
  /// The properties that the key paths of the order read from related objects, each with its
  /// entity.
  fileprivate var relatedSortKeys: [(entity: NSEntityDescription, key: String)] {
    var found: [(entity: NSEntityDescription, key: String)] = []
    for descriptor in sort {
      let names = descriptor.key?.split(separator: ".").map(String.init) ?? []
      var owner = entity
      for (name, next) in zip(names, names.dropFirst()) {
        guard let destination = owner.relationshipsByName[name]?.destinationEntity else { break }
        found.append((destination, next))
        owner = destination
      }
    }
    return found
  }

  /// Returns the elements within the offset and the limit of the request.
  fileprivate func windowed<Element>(_ elements: [Element]) -> [Element] {
    let (offset, limit) = window ?? (0, limit)
    guard offset > 0 || (limit > 0 && limit < elements.count) else { return elements }
    let rest = elements.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
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
