import OpenCoreData
import ScenarioLanguage

extension Step {
  /// The fetch in words, for findings and their cures; nil for other steps.
  package var fetchText: FetchText? {
    guard verb == .fetch else { return nil }
    return FetchText(
      entity: subject,
      options: options.map { FetchText.Option($0.word.rawValue, $0.valueTexts) }, name: name)
  }

  /// The request of a fetch or count step.
  ///
  /// - Throws: `PredicateSyntaxError` when its predicate cannot be read.
  func request<Result>(for type: Result.Type) throws -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: subject)
    for option in options {
      switch option {
      case .predicate(let format): request.predicate = try NSPredicate.parse(format, arguments: [])
      case .sort(let keys):
        request.sortDescriptors = keys.map(\.descriptor)
      case .limit(let number): request.fetchLimit = number.value ?? 0
      case .offset(let number): request.fetchOffset = number.value ?? 0
      case .batch(let number): request.fetchBatchSize = number.value ?? 0
      case .prefetch(let keyPaths): request.relationshipKeyPathsForPrefetching = keyPaths
      case .values(let flag): request.includesPropertyValues = flag
      case .faults(let flag): request.returnsObjectsAsFaults = flag
      case .pending(let flag): request.includesPendingChanges = flag
      case .subentities(let flag): request.includesSubentities = flag
      case .result(.ids): request.resultType = .managedObjectIDResultType
      case .result(.dictionaries): request.resultType = .dictionaryResultType
      case .columns(let columns): request.propertiesToFetch = columns.map(\.property)
      case .group(let keyPaths): request.propertiesToGroupBy = keyPaths
      case .having(let format):
        request.havingPredicate = try NSPredicate.parse(format, arguments: [])
      case .distinct(let flag): request.returnsDistinctResults = flag
      // Objects are the default, a count has no request's result type here, and no request has the rest.
      case .result(.objects), .result(.count), .times, .assignments, .keep, .removals, .every,
        .array, .redo, .parent, .queue, .coordinator, .policy, .merges, .staleness, .undoable,
        .retains, .remote, .keys, .remove, .to, .context:
        break
      }
    }
    return request
  }

  /// The part of a result of so many objects that `limit` and `offset` leave.
  func part(of count: Int) -> Range<Int> {
    let start = min(number(of: .offset) ?? 0, count)
    // As with a request, a limit of 0 is none.
    let limit = number(of: .limit) ?? 0
    return start..<(limit == 0 ? count : min(count, start + min(limit, count)))
  }
}

extension StepOption {
  /// The value's parts: several for lists, one otherwise.
  fileprivate var valueTexts: [String] {
    switch self {
    case .sort(let keys): keys.map { LineWords.plain($0.description) }
    case .prefetch(let keyPaths), .group(let keyPaths): keyPaths.map(LineWords.plain)
    case .columns(let columns): columns.map { LineWords.plain($0.description) }
    default: [valueText]
    }
  }
}

extension SortKey {
  /// What a request, or the sorting of an array, takes.
  var descriptor: NSSortDescriptor { NSSortDescriptor(key: keyPath, ascending: isAscending) }
}
