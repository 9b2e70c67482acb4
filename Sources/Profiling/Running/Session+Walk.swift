import OpenCoreData
import RunResults
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Enumerates a result, or the destinations of its objects' relationships, without reading
  /// attributes.
  ///
  /// With `sort`, the objects are first sorted in memory, as by `sorted(using:)`.
  ///
  /// **Cost:** for a batched result, one SELECT per batch; for a relationship, its faults; for
  /// sorting, the faults of all objects.
  func walk(_ step: Step, _ input: StepInput) throws -> String {
    let range = step.part(of: input.objects.count)
    let every = max(1, step.number(of: .every) ?? 1)
    let indexes = stride(from: range.lowerBound, to: range.upperBound, by: every)
    var objects = input.objects
    if step.flag(of: .array) == true { objects = array(of: objects, input.context) }
    if let keys = step.sortKeys(of: .sort) {
      objects = try sorted(objects, by: keys, step, input)
    }
    let paths = step.reads.map { $0.split(separator: ".").map(String.init) }
    var walked = 0
    var reached = 0
    let budget = PathBudget(interruption)
    try objects.forEach(at: indexes, in: input.context) { object in
      try interruption.check()
      walked += 1
      readValues?.add(object)
      for path in paths { reached += try object.count(through: path[...], readValues, budget) }
    }
    // The interrupted statement might be that of the last object.
    try interruption.check()
    let head = "walked \(NumberText.counted(walked, "object"))"
    return paths.isEmpty
      ? head
      : "\(head), \(NumberText.grouped(reached)) through \(step.reads.joined(separator: ", "))"
  }

  /// Returns the objects as a Swift array, which loads all batches of a batched result.
  private func array(of objects: StepObjects, _ context: NSManagedObjectContext) -> StepObjects {
    switch objects {
    case .batched(let objects): .objects(Array(objects))
    case .controller(let list): .objects((0..<list.count).map(list.object))
    case .objects: objects
    case .ids(let ids): .objects(ids.map { context.object(with: $0) })
    }
  }

  /// Returns the objects sorted in memory, and records the sort if a fetch could have performed it.
  private func sorted(
    _ objects: StepObjects, by keys: [SortKey], _ step: Step, _ input: StepInput
  ) throws -> StepObjects {
    let all = array(of: objects, input.context)
    guard case .objects(let list) = all else { return all }
    let descriptors = keys.map(\.descriptor)
    // Like `sorted(using:)`, but can be interrupted with Ctrl-C.
    let ordered = try list.enumerated().sorted { left, right in
      try interruption.check()
      for descriptor in descriptors {
        let order = descriptor.compare(left.element, to: right.element)
        if order != .orderedSame { return order == .orderedAscending }
      }
      return left.offset < right.offset
    }.map(\.element)
    let names = ModelNames(model)
    let areStored = keys.allSatisfy { key in
      guard let entity = list.first?.entity,
        let path = try? names.resolve(key.keyPath, from: entity, at: step.ranges.verb)
      else { return false }
      return path.isStoredAttribute
    }
    if areStored {
      sorting = StepContext.Sorting(keys: keys, through: stack.recorder.mark)
    }
    return .objects(ordered)
  }

  /// Adds objects to to-many relationships, and removes objects from them.
  ///
  /// The objects of a named result are distributed among the owners in turn: of three owners, the
  /// second gets every third object, starting with the second.
  func relate(_ step: Step, _ input: StepInput) throws -> String {
    let range = step.part(of: input.objects.count)
    var counts = (added: 0, removed: 0)
    var position = 0
    try input.objects.forEach(at: range, in: input.context) { owner in
      try interruption.check()
      for assignment in step.assignments {
        counts.added += input.forEachShare(of: assignment.value, at: position, of: range.count) {
          owner.toMany(assignment.key).add($0)
        }
      }
      for removal in step.removals {
        counts.removed += input.forEachShare(of: removal.value, at: position, of: range.count) {
          owner.toMany(removal.key).remove($0)
        }
      }
      position += 1
    }
    let words = [(counts.added, "related"), (counts.removed, "removed")]
      .filter { $0.0 > 0 }.map { "\(NumberText.counted($0.0, "object")) \($0.1)" }
    return words.isEmpty ? "nothing to relate" : words.joined(separator: ", ")
  }
}

extension ResolvedPath {
  /// Whether the path ends at a persistent attribute.
  fileprivate var isStoredAttribute: Bool {
    last is NSAttributeDescription && last?.isTransient == false
      && steps.allSatisfy { !$0.isTransient }
  }
}

extension StepInput {
  /// Calls a closure with each object in one owner's share of a named result.
  ///
  /// - Returns: The number of objects.
  fileprivate func forEachShare(
    of name: String, at position: Int, of owners: Int, _ body: (NSManagedObject) -> Void
  ) -> Int {
    guard let objects = named[name] else { return 0 }
    var count = 0
    objects.forEach(at: stride(from: position, to: objects.count, by: owners), in: context) {
      body($0)
      count += 1
    }
    return count
  }
}

extension NSManagedObject {
  /// Returns a proxy to change an ordered or unordered to-many relationship.
  fileprivate func toMany(_ key: String) -> ToManyProxy {
    entity.relationshipsByName[key]?.isOrdered == true
      ? .list(mutableOrderedSetValue(forKey: key)) : .set(mutableSetValue(forKey: key))
  }

  /// Returns the number of objects that a path of relationships reaches, without reading the last
  /// ones, which are added to `values`.
  ///
  /// - Throws: An `NSError` if the step is interrupted, or exceeds the limit of the budget.
  fileprivate func count(
    through path: ArraySlice<String>, _ values: ReadValues?, _ budget: PathBudget
  ) throws -> Int {
    try budget.spend()
    guard let key = path.first else {
      values?.add(self)
      return 1
    }
    values?.pass(self)
    let rest = path.dropFirst()
    switch value(forKey: key) {
    case let object as NSManagedObject: return try object.count(through: rest, values, budget)
    case let objects as Set<NSManagedObject>:
      return try objects.reduce(0) { try $0 + $1.count(through: rest, values, budget) }
    case let objects as NSOrderedSet:
      return try objects.reduce(0) { sum, object in
        try sum + ((object as? NSManagedObject)?.count(through: rest, values, budget) ?? 0)
      }
    default: return 0
    }
  }
}

/// A mutable proxy for a to-many relationship.
private enum ToManyProxy {
  case set(NSMutableSet)
  case list(NSMutableOrderedSet)

  func add(_ object: NSManagedObject) {
    switch self {
    case .set(let set): set.add(object)
    case .list(let list): list.add(object)
    }
  }

  func remove(_ object: NSManagedObject) {
    switch self {
    case .set(let set): set.remove(object)
    case .list(let list): list.remove(object)
    }
  }
}
