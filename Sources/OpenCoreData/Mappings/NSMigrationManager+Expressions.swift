import ManagedModel

// Values and methods of the manager for the expressions of a mapping model.

extension NSMigrationManager: KeyValueReadable {
  /// Returns what a key path such as `$manager.sourceContext` refers to; `nil` for an unknown key.
  public final func value(forKey key: String) -> Any? {
    switch key {
    case "sourceContext": sourceContext
    case "destinationContext": destinationContext
    case "sourceModel": sourceModel
    case "destinationModel": destinationModel
    case "mappingModel": mappingModel
    case "userInfo": userInfo
    case "currentEntityMapping": currentEntityMapping
    case "migrationProgress": migrationProgress
    default: nil
    }
  }
}

extension NSMigrationManager: ExpressionOperand {
  /// Calls one of the methods that Xcode's mapping-model compiler writes into expressions.
  package final func callMethod(
    _ selector: String, with arguments: [Any?]
  ) throws(PredicateEvaluationError) -> Any? {
    guard arguments.count == 2, let name = arguments[0] as? String else {
      throw .unknownMethod(selector, type: "NSMigrationManager")
    }
    switch selector {
    case MappingExpression.fetchRequest:
      return try fetchRequest(forSourceEntityNamed: name, arguments[1] as? String ?? "")
    case MappingExpression.instancesOfMapping:
      guard isKnown(name) else {
        throw .failed(selector, reason: "the mapping model has no entity mapping \(name)")
      }
      return found(of: MigrationInstances.list(arguments[1]), in: [name])
    case MappingExpression.instancesOfRelationship:
      return found(of: MigrationInstances.list(arguments[1]), in: knownNames)
    default:
      throw .unknownMethod(selector, type: "NSMigrationManager")
    }
  }

  /// Returns the request for the instances of a source entity.
  ///
  /// It includes those of subentities that have no mapping of their own.
  private func fetchRequest(
    forSourceEntityNamed name: String, _ predicate: String
  ) throws(PredicateEvaluationError) -> NSFetchRequest<NSManagedObject> {
    guard let entity = sourceContext.entityNamed(name) else {
      throw .failed("FETCH", reason: "the source model has no entity \(name)")
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: name)
    let mapped = mappedEntities.union(
      (mappingModel.entityMappings ?? []).compactMap(\.sourceEntityName))
    request.includesSubentities = entity.withSubentities.contains {
      !$0.isAbstract && $0 !== entity && !mapped.contains($0.name ?? "")
    }
    guard predicate != "TRUEPREDICATE", !predicate.isEmpty else { return request }
    do {
      request.predicate = try NSPredicate.parse(predicate, arguments: [])
    } catch {
      throw .failed("FETCH", reason: "\(error)")
    }
    return request
  }

  /// Returns the value of an expression of a mapping.
  ///
  /// - Throws: 134110, with the property, if it can't be evaluated.
  final func value(
    of expression: NSExpression, for mapping: NSEntityMapping, _ property: NSPropertyMapping?,
    _ source: NSManagedObject?, _ destination: NSManagedObject?, _ policy: NSEntityMigrationPolicy
  ) throws -> PredicateValue {
    var variables: [String: Any] = [
      NSMigrationManagerKey: self, NSMigrationEntityMappingKey: mapping,
      NSMigrationEntityPolicyKey: policy, NSMigrationSourceObjectKey: NSNull(),
      NSMigrationDestinationObjectKey: NSNull(),
    ]
    variables[NSMigrationSourceObjectKey] = source ?? NSNull()
    variables[NSMigrationDestinationObjectKey] = destination ?? NSNull()
    variables[NSMigrationPropertyMappingKey] = property
    do {
      return try expression.value(for: source, variables: variables)
    } catch {
      let subject = property?.name.map {
        "The value of \(mapping.destinationEntityName ?? "").\($0)"
      }
      throw NSError.coreData(
        NSMigrationError,
        "\(subject ?? "The source expression") in the mapping \(mapping.name ?? "") can't be determined: "
          + "\(error). The expression is \(expression).",
        [
          "entity": mapping.destinationEntityName ?? "", "property": property?.name ?? "",
          "reason": error.description,
        ])
    }
  }
}
