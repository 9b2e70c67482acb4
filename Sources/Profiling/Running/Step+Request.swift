import OpenCoreData
import ScenarioLanguage

extension Step {
  /// The request of a fetch or count step.
  ///
  /// - Throws: `PredicateSyntaxError` when its predicate cannot be read.
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
      // A count is executed by `count(for:)`.
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

  /// The part of a result of so many objects that `limit` and `offset` leave.
  func part(of count: Int) -> Range<Int> {
    let start = min(number(of: .offset) ?? 0, count)
    // As with a request, a limit of 0 is none.
    let limit = number(of: .limit) ?? 0
    return start..<(limit == 0 ? count : min(count, start + min(limit, count)))
  }
}

extension SortKey {
  /// What a request, or the sorting of an array, takes.
  var descriptor: NSSortDescriptor { NSSortDescriptor(key: keyPath, ascending: isAscending) }
}
