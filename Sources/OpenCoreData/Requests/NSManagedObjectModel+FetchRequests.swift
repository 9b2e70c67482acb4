import ManagedModel

extension NSManagedObjectModel {
  /// The fetch requests of the model by name; each is a copy.
  ///
  /// Those whose predicate cannot be read are left out. Made at each call. Apple counterpart: the
  /// same.
  public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    var requests: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    for template in fetchRequestTemplates {
      requests[template.name] = try? template.request(in: self)
    }
    return requests
  }

  /// The fetch request of that name, as a copy; nil when the model has none.
  ///
  /// It is for templates without variables: a variable without a value traps when the request is
  /// executed. Traps when the predicate in the model cannot be read. Apple's gives the model's own
  /// request, which must not be changed.
  public func fetchRequestTemplate(
    forName name: String
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    request(named: name)
  }

  /// The fetch request of that name for one type of results: `NSFetchRequest<Person>`.
  ///
  /// Apple's callers cast; a generic class of Swift's cannot be cast to another type of results.
  public func fetchRequestTemplate<ResultType: NSFetchRequestResult>(
    forName name: String
  ) -> NSFetchRequest<ResultType>? {
    request(named: name)
  }

  /// A copy of the fetch request of that name, with values for its variables.
  ///
  /// A variable without a value traps when the request is executed. Values change neither structure
  /// nor operators of the predicate. Traps when the predicate in the model cannot be read.
  ///
  /// - Parameters:
  ///   - name: The name of the template.
  ///   - variables: Values by the variables' names, without the `$`; `NSNull` for nil.
  /// - Returns: Nil when the model has no request of that name.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    substituted(request(named: name), variables)
  }

  /// As `fetchRequestFromTemplate(withName:substitutionVariables:)`, for one type of results.
  public func fetchRequestFromTemplate<ResultType: NSFetchRequestResult>(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<ResultType>? {
    substituted(request(named: name), variables)
  }

  /// Puts a fetch request into the model under a name, in place of the one it had; nil takes it away.
  ///
  /// The model keeps what the request says at this time: entity, predicate, order, limits. Traps when
  /// the model is in use, and for a request without an entity.
  ///
  /// - Parameters:
  ///   - request: The request, which stays the caller's.
  ///   - name: The name.
  public func setFetchRequestTemplate<ResultType>(
    _ request: NSFetchRequest<ResultType>?, forName name: String
  ) {
    var templates = fetchRequestTemplates.filter { $0.name != name }
    if let request {
      guard let template = FetchRequestTemplate(request, name: name) else {
        preconditionFailure("The fetch request for the template \(name) names no entity.")
      }
      templates.append(template)
    }
    fetchRequestTemplates = templates
  }

  /// Takes away the fetch request of that name.
  ///
  /// Traps when the model is in use.
  public func removeFetchRequestTemplate(forName name: String) {
    fetchRequestTemplates.removeAll { $0.name == name }
  }

  private func request<ResultType>(named name: String) -> NSFetchRequest<ResultType>? {
    guard let template = fetchRequestTemplates.first(where: { $0.name == name }) else {
      return nil
    }
    do {
      return try template.request(in: self)
    } catch {
      preconditionFailure("The predicate of the fetch request \(name) cannot be read: \(error)")
    }
  }

  private func substituted<ResultType>(
    _ request: NSFetchRequest<ResultType>?, _ variables: [String: Any]
  ) -> NSFetchRequest<ResultType>? {
    if let request {
      request.predicate = request.predicate?.withSubstitutionVariables(variables)
    }
    return request
  }
}

extension NSFetchedPropertyDescription {
  /// The request that finds the objects of the property.
  ///
  /// In its predicate `$FETCH_SOURCE` is the object that owns the property and `$FETCHED_PROPERTY` is
  /// this description. Each reading gives a copy. Setting traps when the model is in use, and for a
  /// request without an entity.
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    get {
      guard let template, let model = entity?.managedObjectModel else { return nil }
      return try? template.request(in: model)
    }
    set {
      template = newValue.map { request in
        guard let made = FetchRequestTemplate(request, name: "fetchedPropertyFetchRequest") else {
          preconditionFailure("The fetch request of the fetched property \(name) names no entity.")
        }
        return made
      }
    }
  }
}

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

/// The result of a fetch as a value: `FETCH(request, context, countOnly)`.
///
/// Evaluating it fetches, each time again; in a predicate of another fetch it is fetched first, as a
/// list of constants. Apple counterpart: the same.
open class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
  /// Makes the expression.
  ///
  /// - Parameters:
  ///   - fetch: its value is an `NSFetchRequest`.
  ///   - context: its value is the `NSManagedObjectContext` to fetch in.
  ///   - countFlag: whether the value is the number of matches rather than their list.
  public class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(.fetch(fetch, context: context, countOnly: countFlag))
  }

  /// What gives the request.
  open var requestExpression: NSExpression { node.children[0] }

  /// What gives the context.
  open var contextExpression: NSExpression { node.children[1] }

  /// Whether the value is a number of matches.
  open var isCountOnlyRequest: Bool {
    if case .fetch(_, _, let countOnly) = node { countOnly } else { false }
  }
}

extension NSFetchRequest: FetchedByExpressions {
  /// What a fetch gives for this request, for a predicate with `FETCH`.
  ///
  /// - Throws: as `fetch`, and when the context is none.
  package func result(in context: Any?, countOnly: Bool) throws -> Any {
    guard let context = context as? NSManagedObjectContext else {
      throw NSError.fetch("FETCH has no managed object context: give it one as second argument.")
    }
    if countOnly || resultType == .countResultType { return try context.count(for: self) }
    return try context.fetch(self)
  }
}
