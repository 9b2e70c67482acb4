import ManagedModel

extension FetchPlan {
  /// Returns the fetch request that an incremental store executes.
  func request(
    _ resultType: NSFetchRequestResultType, from store: NSPersistentStore
  ) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    request.affectedStores = [store]
    request.resultType = resultType
    request.predicate = predicate
    request.sortDescriptors = sort.isEmpty ? nil : sort
    request.fetchLimit = limit
    request.fetchOffset = offset
    request.fetchBatchSize = batchSize
    request.includesSubentities = includesSubentities
    request.includesPendingChanges = includesPendingChanges
    request.includesPropertyValues = delegated?.includesPropertyValues ?? includesPropertyValues
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.shouldRefreshRefetchedObjects = refreshes
    let paths = delegated?.prefetchPaths ?? prefetchPaths
    request.relationshipKeyPathsForPrefetching = paths.isEmpty ? nil : paths
    if let dictionary {
      request.propertiesToFetch = dictionary.columns.map(\.property)
      request.propertiesToGroupBy =
        dictionary.groups.isEmpty ? nil : dictionary.groups.map(\.property)
      request.havingPredicate = dictionary.having
      request.returnsDistinctResults = dictionary.isDistinct
    }
    return request
  }
}

extension DictionaryPlan.Column {
  /// The name of the property, or the description of a computed value.
  fileprivate var property: Any {
    guard isComputed else { return name }
    let description = NSExpressionDescription()
    description.name = name
    description.expression = expression
    description.expressionResultType = resultType ?? .undefinedAttributeType
    return description
  }
}
