import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Runs a fetch and keeps its result under the step's name, or releases it if there's no name.
  func fetch(_ step: Step, _ input: StepInput) throws -> String {
    let context = input.context
    let (file, line) = (step.location.file, step.location.line)
    var content: NamedResult.Content
    switch step.resultKind {
    case .count:
      return try count(step, input)
    case .ids:
      content = .ids(
        try context.fetch(step.request(for: NSManagedObjectID.self, input), file: file, line: line))
    case .dictionaries:
      content = .dictionaries(
        try context.fetch(step.request(for: [String: Any].self, input), file: file, line: line))
    case .objects:
      let request = try step.request(for: NSManagedObject.self, input)
      if request.fetchBatchSize > 0 {
        content = .batched(try context.fetchBatched(request, file: file, line: line))
      } else {
        content = .objects(try context.fetch(request, file: file, line: line))
      }
    }
    let result = NamedResult(
      content: content, entity: step.subject, context: input.contextName, fetch: step.fetch)
    if let name = step.name { keep(result, as: name) }
    return "\(step.name.map { "\($0): " } ?? "")\(result.summary)"
      + (step.name == nil ? ", released" : "")
  }

  /// Counts rows without returning any.
  func count(_ step: Step, _ input: StepInput) throws -> String {
    let count = try input.context.count(
      for: step.request(for: NSManagedObject.self, input), file: step.location.file,
      line: step.location.line)
    return "\(NumberText.grouped(count)) \(step.subject)"
  }

  /// Reads each key path of each object of a result, in order, and retains no values.
  func touch(_ step: Step, _ input: StepInput) throws -> String {
    let range = step.part(of: input.objects.count)
    // Split each key path only once, not for each object.
    let paths = step.reads.map { $0.split(separator: ".").map(String.init) }
    let trail = trail(of: step)
    let budget = PathBudget(interruption)
    try input.objects.forEach(at: range, in: input.context) { object in
      try interruption.check()
      for (index, path) in paths.enumerated() {
        try object.read(path[...], index, trail, readValues, budget)
      }
    }
    // The interrupted statement might be that of the last object.
    try interruption.check()
    routes = trail?.routes ?? []
    return "read \(NumberText.counted(paths.count, "key path")) of "
      + NumberText.counted(range.count, "object")
  }
}

extension NSManagedObject {
  /// Reads the values at a key path, including all objects of to-many relationships, and retains
  /// none.
  ///
  /// - Parameters:
  ///   - path: The rest of a key path, whose start index is the number of keys already read.
  ///   - index: The index of the key path among those of the step.
  ///   - trail: The recorder of access paths, or `nil` if none is needed.
  ///   - values: The collector of the values at the end of the path, or `nil` if they aren't
  ///     collected.
  ///   - budget: The limit of the step.
  /// - Throws: An `NSError` if the step is interrupted, or exceeds the limit.
  fileprivate func read(
    _ path: ArraySlice<String>, _ index: Int, _ trail: AccessPathRecorder?, _ values: ReadValues?,
    _ budget: PathBudget
  ) throws {
    guard let key = path.first else { return }
    try budget.spend()
    values?.pass(self)
    let value =
      trail.map { trail in
        trail.reading(index, at: path.startIndex) { self.value(forKey: key) }
      } ?? self.value(forKey: key)
    let rest = path.dropFirst()
    // For `@count`, reading the relationship is sufficient.
    guard let next = rest.first, next != "@count" else {
      values?.add(value, for: key, of: self)
      if rest.isEmpty { values?.pass(destinationsIn: value) }
      return
    }
    if let object = value as? NSManagedObject {
      try object.read(rest, index, trail, values, budget)
    } else if let objects = value as? Set<NSManagedObject> {
      for object in objects { try object.read(rest, index, trail, values, budget) }
    } else if let objects = value as? NSOrderedSet {
      for case let object as NSManagedObject in objects {
        try object.read(rest, index, trail, values, budget)
      }
    }
  }
}

extension NamedResult {
  /// A summary of the result: `5,000 Mood, all faults`, `5,000 Mood, no faults`,
  /// `2 Mood, in batches of 20`, `2 Mood, as IDs`, `3 dictionaries of Mood`.
  ///
  /// Reading it doesn't fire faults or load batches.
  var summary: String {
    let head = "\(NumberText.grouped(count)) \(entity)"
    switch content {
    case .ids, .rows: return "\(head), as IDs"
    case .save: return ""
    case .dictionaries(let dictionaries):
      guard dictionaries.count == 1, let only = dictionaries.first else {
        return NumberText.counted(count, "dictionary", "dictionaries") + " of \(entity)"
      }
      let values = only.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      return "1 dictionary of \(entity): \(values.joined(separator: ", "))"
    case .batched(let objects): return "\(head), in batches of \(objects.batchSize)"
    case .controller(let list): return list.summary(head)
    case .objects(let objects):
      guard !objects.isEmpty else { return head }
      let faults = objects.count { $0.isFault }
      switch faults {
      case 0: return "\(head), no faults"
      case objects.count: return "\(head), all faults"
      default: return "\(head), \(NumberText.counted(faults, "fault"))"
      }
    }
  }
}

extension Step {
  /// Returns the fetch request of a step.
  ///
  /// - Throws: The errors of `StepInput.predicate(of:)`.
  func request<Result>(
    for type: Result.Type, _ input: StepInput
  ) throws -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: subject)
    request.predicate = try input.predicate(of: self)
    if let keys = sortKeys(of: .sort) { request.sortDescriptors = keys.map(\.descriptor) }
    request.fetchLimit = number(of: .limit) ?? 0
    request.fetchOffset = number(of: .offset) ?? 0
    request.fetchBatchSize = number(of: .batch) ?? 0
    request.relationshipKeyPathsForPrefetching = keyPaths(of: .prefetch)
    request.includesPropertyValues = flag(of: .values) ?? true
    request.returnsObjectsAsFaults = flag(of: .faults) ?? true
    request.includesPendingChanges = flag(of: .pending) ?? true
    request.includesSubentities = flag(of: .subentities) ?? true
    request.resultType =
      switch resultKind {
      case .ids: .managedObjectIDResultType
      case .dictionaries: .dictionaryResultType
      // A count step calls `count(for:)`.
      case .objects, .count: .managedObjectResultType
      }
    request.propertiesToFetch = columns(of: .columns)?.map(\.property)
    request.propertiesToGroupBy = keyPaths(of: .group)
    if let format = format(of: .having) {
      request.havingPredicate = try NSPredicate.parse(format, arguments: [])
    }
    request.shouldRefreshRefetchedObjects = flag(of: .refreshes) ?? false
    request.returnsDistinctResults = flag(of: .distinct) ?? false
    return request
  }
}

extension SortKey {
  /// The sort descriptor for a request or for sorting an array.
  var descriptor: NSSortDescriptor {
    NSSortDescriptor(
      key: keyPath, ascending: isAscending,
      selector: isLocalized ? .localizedStandardCompare : nil)
  }
}
