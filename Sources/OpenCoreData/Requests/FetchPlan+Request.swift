import ManagedModel

extension FetchPlan {
  init<T>(_ request: NSFetchRequest<T>, model: NSManagedObjectModel) throws {
    // An entity of another model instance is replaced by the one with its name in this model.
    let given = request.entity.flatMap { $0.managedObjectModel === model ? $0 : nil }
    let entity = try given ?? FetchPlan.entity(named: request.entityName, in: model)
    self.entity = entity
    if request.entity == nil { request.entity = entity }
    layout = EntityLayout.of(entity)
    (requestedPredicate, predicate) = try FetchPlan.predicates(request.predicate, entity)
    sort =
      try request.swiftSort?(entity)
      ?? request.sortDescriptors?.map { try $0.named(in: entity) } ?? []
    limit = max(0, request.fetchLimit)
    offset = max(0, request.fetchOffset)
    batchSize = max(0, request.fetchBatchSize)
    includesSubentities = request.includesSubentities
    includesPendingChanges = request.includesPendingChanges
    includesPropertyValues = request.includesPropertyValues
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    refreshes = request.shouldRefreshRefetchedObjects
    affectedStores = request.affectedStores
    returnsObjects = request.resultType == .managedObjectResultType
    prefetchPaths = request.relationshipKeyPathsForPrefetching ?? []
    dictionary = try FetchPlan.dictionary(request, entity, sort)
  }

  /// Returns whether an object satisfies the predicate, in memory.
  ///
  /// **Cost:** the faults of the properties that the predicate reads.
  /// - Throws: 134060 if it can't be evaluated for the object.
  func matches(_ object: NSManagedObject) throws -> Bool {
    guard let predicate else { return true }
    if case .subclass = predicate.kind { return predicate.evaluate(with: object as Any?) }
    do {
      return try predicate.evaluation(ofRecord: object)
    } catch {
      throw NSError.unanswerable(predicate, error)
    }
  }

  /// The classes of the objects that the request may return.
  var classes: [NSManagedObject.Type] {
    let entities = includesSubentities ? entity.withSubentities : [entity]
    return entities.map { EntityLayout.of($0).objectClass }
  }

  private static func predicates(
    _ given: NSPredicate?, _ entity: NSEntityDescription
  ) throws -> (requested: NSPredicate?, run: NSPredicate?) {
    do {
      try given?.checkDepth()
    } catch {
      throw NSError.fetch("The predicate can't be evaluated: \(error).")
    }
    guard let translated = try given?.withoutSwiftPredicates(for: entity) else {
      return (nil, nil)
    }
    do {
      return (translated, try translated.withFetchesRun())
    } catch {
      throw NSError.unanswerable(translated, error)
    }
  }

  private static func dictionary<T>(
    _ request: NSFetchRequest<T>, _ entity: NSEntityDescription, _ sort: [NSSortDescriptor]
  ) throws -> DictionaryPlan? {
    if request.resultType == .dictionaryResultType {
      let plan = try DictionaryPlan(request, entity: entity)
      try plan.checkOrder(sort)
      return plan
    }
    guard request.propertiesToGroupBy?.isEmpty ?? true, request.havingPredicate == nil else {
      throw NSError.fetch(
        "propertiesToGroupBy and havingPredicate require resultType = .dictionaryResultType.")
    }
    return nil
  }

  private static func entity(
    named name: String?, in model: NSManagedObjectModel
  ) throws -> NSEntityDescription {
    guard let name else {
      throw NSError.fetch("A fetch request must have an entity; this one has none.")
    }
    guard let entity = model.entitiesByName[name] else {
      throw NSError.fetch(
        "The model has no entity '\(name)'. It has: "
          + model.entitiesByName.keys.sorted().joined(separator: ", ") + ".")
    }
    return entity
  }
}

extension DictionaryPlan {
  init<T>(_ request: NSFetchRequest<T>, entity: NSEntityDescription) throws {
    let asked = request.propertiesToFetch ?? []
    let wanted =
      asked.isEmpty ? Self.attributes(of: entity) : try asked.map { try Self.column($0) }
    columns = wanted.flatMap { Self.leaves(of: $0, entity) }
    composites = wanted.compactMap { Self.composite($0, entity) }
    groups = try (request.propertiesToGroupBy ?? []).map { try Self.column($0) }
      .flatMap { Self.leaves(of: $0, entity) }
    having = request.havingPredicate
    isDistinct = request.returnsDistinctResults
    if having != nil, groups.isEmpty {
      throw NSError.fetch(
        "havingPredicate requires groups: set propertiesToGroupBy, or use predicate.")
    }
    for depth in (columns + groups).map(\.expression.depth) + [having?.depth ?? 0]
    where depth > ModelLimits.predicateTreeDepth {
      let error = PredicateEvaluationError.tooDeep(depth, limit: ModelLimits.predicateTreeDepth)
      throw NSError.fetch("The dictionaries can't be created: \(error).")
    }
    isAggregated = !groups.isEmpty || columns.contains { $0.expression.aggregatesRows }
    if isAggregated { try checkColumns() }
  }

  /// Checks that groups are only ordered by values that are the same in all their rows.
  fileprivate func checkOrder(_ sort: [NSSortDescriptor]) throws {
    guard isAggregated else { return }
    let grouped = Set(groups.map(\.expression))
    for descriptor in sort {
      guard let key = descriptor.key, computedColumn(named: key) == nil,
        !grouped.contains(NSExpression(forKeyPath: key))
      else { continue }
      throw NSError.fetch(
        "'\(key)': Groups can be sorted only by a property in propertiesToGroupBy, or by the name of a "
          + "computed value.")
    }
  }

  /// Checks that each column, and each value of the having predicate, is the same for all rows of a
  /// group.
  private func checkColumns() throws {
    let grouped = groups.map(\.expression)
    for column in columns where !grouped.contains(column.expression) {
      guard column.expression.aggregatesRows else {
        throw NSError.fetch(
          "'\(column.name)' is neither grouped nor aggregated: "
            + "add it to propertiesToGroupBy.")
      }
      guard let part = column.expression.part(notDeterminedBy: grouped) else { continue }
      throw NSError.fetch(
        "'\(part)' in '\(column.name)' is neither grouped nor aggregated: "
          + "add it to propertiesToGroupBy.")
    }
    let names = Set(columns.filter(\.isComputed).map(\.name))
    guard let part = having?.part(notDeterminedBy: grouped, names: names) else { return }
    throw NSError.fetch(
      "'\(part)' in havingPredicate is neither grouped nor aggregated: "
        + "add it to propertiesToGroupBy, or use a function such as max:(\(part)).")
  }

  private static func attributes(of entity: NSEntityDescription) -> [Column] {
    entity.propertiesByName.values
      .filter { $0 is NSAttributeDescription && !$0.isTransient }
      .map(\.name).sorted().map { column(named: $0) }
  }

  private static func column(_ property: Any) throws -> Column {
    switch property {
    case let name as String: return column(named: name)
    case let description as NSExpressionDescription:
      guard let expression = description.expression else {
        throw NSError.fetch(
          "The expression description '\(description.name)' has no expression: set one.")
      }
      let type = description.expressionResultType
      return Column(
        name: description.name, expression: expression,
        resultType: type == .undefinedAttributeType ? nil : type, isComputed: true)
    case let description as NSPropertyDescription: return column(named: description.name)
    default:
      throw NSError.fetch(
        "A property to fetch or to group by must be a name, a key path, or a property "
          + "description, not \(property).")
    }
  }

  /// Returns the columns of a composite attribute; any other column is returned unchanged.
  private static func leaves(of column: Column, _ entity: NSEntityDescription) -> [Column] {
    composite(column, entity)?.leaves.map { Self.column(named: $0.name) } ?? [column]
  }

  /// Returns the composite attribute that a column refers to; `nil` for any other column.
  private static func composite(
    _ column: Column, _ entity: NSEntityDescription
  ) -> NSCompositeAttributeDescription? {
    column.isComputed
      ? nil : entity.attributesByName[column.name] as? NSCompositeAttributeDescription
  }

  private static func column(named name: String) -> Column {
    Column(
      name: name, expression: NSExpression(forKeyPath: name), resultType: nil, isComputed: false)
  }
}

extension DictionaryPlan {
  /// Returns dictionaries in an order by their entries.
  ///
  /// An entry's name may be a key path, such as `owner.name`, which a dictionary doesn't have.
  func sorted(
    _ dictionaries: [[String: Any]], by sort: [NSSortDescriptor]
  ) -> [[String: Any]] {
    let nested = Set(composites.flatMap(\.leaves).map(\.name))
    let paths = Set(sort.compactMap(\.key)).subtracting(nested).filter { $0.contains(".") }
    guard !paths.isEmpty else { return dictionaries.sorted(using: sort) }
    func key(_ path: String) -> String { path.replacingOccurrences(of: ".", with: "\u{0}") }
    let keyed = sort.map { descriptor in
      guard let path = descriptor.key, paths.contains(path) else { return descriptor }
      return descriptor.keyed(by: key(path))
    }
    let extended = dictionaries.map { entries in
      entries.merging(paths.compactMap { path in entries[path].map { (key(path), $0) } }) { $1 }
    }
    let added = Set(paths.map(key))
    return extended.sorted(using: keyed).map { entries in
      entries.filter { !added.contains($0.key) }
    }
  }
}
