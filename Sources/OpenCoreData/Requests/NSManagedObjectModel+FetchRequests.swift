import ManagedModel

extension NSManagedObjectModel {
  /// Copies of the model's fetch requests, by name.
  ///
  /// Requests whose predicate can't be parsed aren't included. Created by each call. Apple
  /// counterpart: the same.
  public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    var requests: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    for template in fetchRequestTemplates {
      requests[template.name] = try? template.request(in: self)
    }
    return requests
  }

  /// Returns a copy of the fetch request with a name; `nil` if the model has none, or if the
  /// predicate in its document can't be parsed.
  ///
  /// For templates without variables: a variable without a value stops the program when the request
  /// is executed. A predicate that can't be parsed is printed to stderr; `cdprof model` lists it,
  /// too. Core Data returns the model's own request, which must not be changed.
  public func fetchRequestTemplate(
    forName name: String
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    request(named: name)
  }

  /// Returns the fetch request with a name for one type of results: `NSFetchRequest<Person>`.
  ///
  /// With Core Data, callers cast; a generic Swift class can't be cast to another type of results.
  public func fetchRequestTemplate<ResultType: NSFetchRequestResult>(
    forName name: String
  ) -> NSFetchRequest<ResultType>? {
    request(named: name)
  }

  /// Returns a copy of the fetch request with a name, with values for its variables.
  ///
  /// A variable without a value stops the program when the request is executed. Values change
  /// neither the structure nor the operators of the predicate.
  ///
  /// - Parameters:
  ///   - name: The name of the template.
  ///   - variables: Values by the variables' names, without the `$`; `NSNull` for `nil`.
  /// - Returns: The request; `nil` as for `fetchRequestTemplate(forName:)`.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    substituted(request(named: name), variables)
  }

  /// Calls `fetchRequestFromTemplate(withName:substitutionVariables:)` for one type of results.
  public func fetchRequestFromTemplate<ResultType: NSFetchRequestResult>(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<ResultType>? {
    substituted(request(named: name), variables)
  }

  /// Adds a fetch request to the model under a name, replacing any existing one; `nil` removes it.
  ///
  /// It's a programmer error if the model is in use, or the request has no entity.
  ///
  /// - Parameters:
  ///   - request: The request, which is copied. Its affected stores aren't retained; those that no
  ///     longer exist are left out.
  ///   - name: The name.
  public func setFetchRequestTemplate<ResultType>(
    _ request: NSFetchRequest<ResultType>?, forName name: String
  ) {
    var templates = fetchRequestTemplates.filter { $0.name != name }
    if let request {
      guard let template = FetchRequestTemplate(request, name: name) else {
        fatalError("The fetch request of the template \(name) has no entity.")
      }
      templates.append(template)
    }
    fetchRequestTemplates = templates
  }

  /// Removes the fetch request with a name.
  ///
  /// It's a programmer error if the model is in use.
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
      // A model's document is data, which must not stop the program.
      SQLDebugLog.writeToStandardError(
        "CoreData: error: The predicate of the fetch request '\(name)' can't be read: "
          + "\(error.message) (character \(error.column)).")
      return nil
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
  /// The request that fetches the objects of the property.
  ///
  /// In its predicate, `$FETCH_SOURCE` is the object that owns the property and `$FETCHED_PROPERTY`
  /// is this description. Each read returns a copy, whose entity is that of the property's model if
  /// it's in one. It's a programmer error to set it if the model is in use, or to a request without
  /// an entity.
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    get {
      let model = entity?.managedObjectModel ?? NSManagedObjectModel()
      return try? template?.request(in: model)
    }
    set {
      template = newValue.map { request in
        guard let made = FetchRequestTemplate(request, name: "fetchedPropertyFetchRequest") else {
          fatalError("The fetch request of the fetched property \(name) has no entity.")
        }
        return made
      }
    }
  }
}

extension FetchRequestTemplate {
  /// Creates a request for an entity of a model.
  ///
  /// - Throws: The syntax error of the predicate.
  func request<ResultType>(
    in model: NSManagedObjectModel
  ) throws(PredicateSyntaxError) -> NSFetchRequest<ResultType> {
    if let original = original?.request as? TemplateRequest {
      let request: NSFetchRequest<ResultType> = original.copy()
      if let entity = model.entitiesByName[entityName] { request.entity = entity }
      return request
    }
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
    if let original { try request.setArchivedProperties(original.archived) }
    return request
  }

  /// Creates the model's form of a request; `nil` for one without an entity.
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
    original = OriginalRequest(
      TemplateRequest(request), unwrittenProperties: request.unwrittenProperties,
      archived: request.archivedProperties)
  }
}

extension NSFetchRequest {
  /// The names of the properties that a model document can't express and that don't have their
  /// default values.
  fileprivate var unwrittenProperties: [String] {
    let properties = [
      (name: "affectedStores", isSet: affectedStores != nil),
      (name: "fetchOffset", isSet: fetchOffset != 0),
      (name: "havingPredicate", isSet: havingPredicate != nil),
      (name: "propertiesToFetch", isSet: propertiesToFetch?.isEmpty == false),
      (name: "propertiesToGroupBy", isSet: propertiesToGroupBy?.isEmpty == false),
      (
        name: "relationshipKeyPathsForPrefetching",
        isSet: relationshipKeyPathsForPrefetching?.isEmpty == false
      ),
      (name: "shouldRefreshRefetchedObjects", isSet: shouldRefreshRefetchedObjects),
      (name: "sortDescriptors", isSet: swiftSort != nil),
    ]
    return properties.filter { $0.isSet }.map { $0.name }
  }
}

extension NSFetchRequest {
  /// The values of `unwrittenProperties` that an archive can contain: a property is its name, and,
  /// if it's computed, the text and the type of its expression.
  fileprivate var archivedProperties: [String: Any] {
    var values: [String: Any] = [:]
    if fetchOffset != 0 { values["fetchOffset"] = fetchOffset }
    if let havingPredicate { values["havingPredicate"] = havingPredicate.predicateFormat }
    if let paths = relationshipKeyPathsForPrefetching, !paths.isEmpty {
      values["relationshipKeyPathsForPrefetching"] = paths
    }
    if shouldRefreshRefetchedObjects { values["shouldRefreshRefetchedObjects"] = true }
    for (name, properties) in [
      ("propertiesToFetch", propertiesToFetch), ("propertiesToGroupBy", propertiesToGroupBy),
    ] {
      let archived = (properties ?? []).compactMap { property -> [Any]? in
        switch property {
        case let name as String: return [name]
        case let computed as NSExpressionDescription:
          guard let expression = computed.expression else { return nil }
          return [
            computed.name, expression.description, Int(computed.expressionResultType.rawValue),
          ]
        case let description as NSPropertyDescription: return [description.name]
        default: return nil
        }
      }
      if !archived.isEmpty { values[name] = archived }
    }
    return values
  }

  /// Sets the properties whose values an archive contains.
  ///
  /// - Throws: The syntax error of a predicate or an expression.
  fileprivate func setArchivedProperties(
    _ values: [String: Any]
  ) throws(PredicateSyntaxError) {
    fetchOffset = max(0, (values["fetchOffset"] as? Int64).flatMap { Int(exactly: $0) } ?? 0)
    if let format = values["havingPredicate"] as? String {
      havingPredicate = try NSPredicate.parse(format, arguments: [])
    }
    relationshipKeyPathsForPrefetching = values["relationshipKeyPathsForPrefetching"] as? [String]
    shouldRefreshRefetchedObjects = values["shouldRefreshRefetchedObjects"] as? Bool ?? false
    propertiesToFetch = try Self.properties(values["propertiesToFetch"])
    propertiesToGroupBy = try Self.properties(values["propertiesToGroupBy"])
  }

  private static func properties(_ archived: Any?) throws(PredicateSyntaxError) -> [Any]? {
    guard let archived = archived as? [[Any]] else { return nil }
    var properties: [Any] = []
    for parts in archived {
      guard let name = parts.first as? String else { continue }
      guard parts.count == 3, let text = parts[1] as? String, let type = parts[2] as? Int64 else {
        properties.append(name)
        continue
      }
      let description = NSExpressionDescription()
      description.name = name
      description.expression = try NSExpression.parse(text, arguments: [])
      description.expressionResultType =
        UInt(exactly: type).flatMap { NSAttributeType(rawValue: $0) } ?? .undefinedAttributeType
      properties.append(description)
    }
    return properties
  }
}

/// The request of a template, which doesn't retain its stores: a model can outlive them.
private final class TemplateRequest {
  private struct Store {
    weak var store: NSPersistentStore?
  }

  private let request: NSFetchRequest<any NSFetchRequestResult>
  private let stores: [Store]?

  init<ResultType>(_ original: NSFetchRequest<ResultType>) {
    request = NSFetchRequest<any NSFetchRequestResult>(copying: original)
    request.affectedStores = nil
    stores = original.affectedStores?.map { Store(store: $0) }
  }

  /// Returns a copy of the request for the stores that still exist.
  func copy<ResultType>() -> NSFetchRequest<ResultType> {
    let copy = NSFetchRequest<ResultType>(copying: request)
    copy.affectedStores = stores?.compactMap(\.store)
    return copy
  }
}
