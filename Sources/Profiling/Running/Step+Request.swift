import OpenCoreData
import ScenarioLanguage

extension Step {
  /// Returns the fetch request of a step.
  ///
  /// - Throws: A `PredicateSyntaxError` if the predicate can't be parsed.
  func request<Result>(for type: Result.Type) throws -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: subject)
    if let format = format(of: .predicate) {
      request.predicate = try NSPredicate.parse(format, arguments: [])
    }
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
    request.returnsDistinctResults = flag(of: .distinct) ?? false
    return request
  }

  /// Returns the range of a result with a number of objects that `limit` and `offset` select.
  func part(of count: Int) -> Range<Int> {
    let start = min(number(of: .offset) ?? 0, count)
    // As in a request, 0 means no limit.
    let limit = number(of: .limit) ?? 0
    return start..<(limit == 0 ? count : min(count, start + min(limit, count)))
  }
}

extension SortKey {
  /// The sort descriptor for a request or for sorting an array.
  var descriptor: NSSortDescriptor { NSSortDescriptor(key: keyPath, ascending: isAscending) }
}
