import ManagedModel

extension FetchRequestTemplate {
  /// A request of its own, of an entity of a model.
  ///
  /// - Throws: What is wrong with the predicate's text.
  func request<ResultType>(
    in model: NSManagedObjectModel
  ) throws(PredicateSyntaxError) -> NSFetchRequest<ResultType> {
    let request = NSFetchRequest<ResultType>(entityName: entityName)
    if let entity = model.entitiesByName[entityName] { request.entity = entity }
    request.predicate = try parsedPredicate()
    request.sortDescriptors = sortDescriptors.isEmpty ? nil : sortDescriptors
    request.fetchLimit = fetchLimit
    request.fetchBatchSize = fetchBatchSize
    request.resultType = NSFetchRequestResultType(rawValue: resultType)
    request.includesSubentities = includesSubentities
    request.includesPropertyValues = includesPropertyValues
    request.includesPendingChanges = includesPendingChanges
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.returnsDistinctResults = returnsDistinctResults
    return request
  }

  /// What a model keeps of a request; nil for one without an entity.
  init?<ResultType>(_ request: NSFetchRequest<ResultType>, name: String) {
    guard let entity = request.entityName else { return nil }
    self.init(name: name, entityName: entity, predicate: request.predicate)
    sortDescriptors = request.sortDescriptors ?? []
    fetchLimit = request.fetchLimit
    fetchBatchSize = request.fetchBatchSize
    resultType = request.resultType.rawValue
    includesSubentities = request.includesSubentities
    includesPropertyValues = request.includesPropertyValues
    includesPendingChanges = request.includesPendingChanges
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    returnsDistinctResults = request.returnsDistinctResults
  }
}
