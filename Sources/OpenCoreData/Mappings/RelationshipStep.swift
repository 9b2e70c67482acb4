import ManagedModel

/// How a migration sets one relationship of the destination instances of an entity mapping.
struct RelationshipStep {
  let mapping: NSPropertyMapping
  /// The relationship in the copy of the destination model.
  let relationship: NSRelationshipDescription
  let expression: NSExpression
  /// What the expression refers to; nil if it isn't one of those that Xcode writes.
  let counterpart: Counterpart?
  /// Whether only this side is set; see `isOneSided`.
  var setsOneSide = false

  /// The destination instances of the source instances at the end of a key path.
  struct Counterpart {
    /// The names of the mappings that may have created the destination instances.
    let names: [String]
    let keyPath: String
    /// The source relationship, if the key path is no more than that.
    let relationship: NSRelationshipDescription?
    /// The part of the key path to prefetch with the source instances; nil if none needs a SELECT.
    let prefetchPath: String?
  }

  /// Resolves the mapping of a relationship.
  ///
  /// - Parameter entities: The entity mappings of the model with their source entities.
  init(
    _ mapping: NSPropertyMapping, _ relationship: NSRelationshipDescription,
    _ expression: NSExpression, from source: NSEntityDescription?,
    among entities: [(name: String, source: NSEntityDescription?)]
  ) {
    self.mapping = mapping
    self.relationship = relationship
    self.expression = expression
    counterpart = source.flatMap { Counterpart(expression, from: $0, among: entities) }
  }
}

extension RelationshipStep.Counterpart {
  fileprivate init?(
    _ expression: NSExpression, from source: NSEntityDescription,
    among entities: [(name: String, source: NSEntityDescription?)]
  ) {
    guard case .method(let manager, let selector, let arguments) = expression.node,
      case .variable(NSMigrationManagerKey) = manager.node, arguments.count == 2,
      case .constant(.string(let name)) = arguments[0].node,
      case .path(let operand, let path) = arguments[1].node,
      case .variable(NSMigrationSourceObjectKey) = operand.node, case .keyPath(let path) = path.node
    else { return nil }
    keyPath = path.text
    let steps = Self.relationships(path.keys, from: source)
    relationship =
      steps.count == 1 && path.components.count == 1 ? steps.first : nil
    // The object at the end of a to-one is only identified.
    let read = steps.last?.isToMany == false ? steps.dropLast() : steps[...]
    prefetchPath = read.isEmpty ? nil : read.map(\.name).joined(separator: ".")
    switch selector {
    case MappingExpression.instancesOfMapping: names = [name]
    case MappingExpression.instancesOfRelationship:
      let end = steps.last?.destinationEntity
      names = entities.filter { entity in
        guard let end, let source = entity.source else { return true }
        return source.isKind(of: end) || end.isKind(of: source)
      }.map(\.name)
    default: return nil
    }
  }

  /// Returns the source instances at the end of the key path.
  func instances(of source: NSManagedObject?) -> [NSManagedObject] {
    if let relationship { return source?.relatedObjects(relationship) ?? [] }
    return MigrationInstances.list(source?.value(forKeyPath: keyPath))
  }

  /// The relationships at the beginning of a key path.
  private static func relationships(
    _ keys: [String], from entity: NSEntityDescription
  ) -> [NSRelationshipDescription] {
    var (entity, found): (NSEntityDescription?, [NSRelationshipDescription]) = (entity, [])
    for key in keys {
      guard let next = entity?.relationshipsByName[key] else { break }
      found.append(next)
      entity = next.destinationEntity
    }
    return found
  }
}

extension RelationshipStep {
  /// Whether it can be set without its inverse, so that its destination instances needn't be loaded.
  ///
  /// No row of theirs depends on a to-one with an inverse that is to-many and has no order. Only a policy
  /// of the same mapping could read the inverse before the batch is saved and its instances are refreshed.
  var isOneSided: Bool {
    guard !relationship.isToMany, counterpart != nil else { return false }
    guard let inverse = relationship.inverseRelationship else { return true }
    return inverse.isToMany && !inverse.isOrdered
  }

  /// Returns whether setting the inverse relationships sets this one as well.
  ///
  /// It does for a to-many without an order whose inverse is copied, too. Its destination instances, of which
  /// there may be any number, needn't be loaded then.
  /// - Parameters:
  ///   - plan: The plan of the step.
  ///   - plans: All plans, none with a policy class and no two with the same source entity.
  func isSetByInverse(_ plan: EntityMappingPlan, among plans: [EntityMappingPlan]) -> Bool {
    guard relationship.isToMany, !relationship.isOrdered,
      let inverse = relationship.inverseRelationship, inverse !== relationship,
      let former = counterpart?.relationship, former.isToMany,
      let formerInverse = former.inverseRelationship,
      let end = relationship.destinationEntity
    else { return false }
    // Of two such sides, one is set: the same for all subentities.
    if inverse.isToMany, !inverse.isOrdered,
      (end.name ?? "", inverse.name) > (inverse.destinationEntity?.name ?? "", relationship.name)
    {
      return false
    }
    let owners = plans.filter { $0.destination?.isKind(of: end) == true }
    return !owners.isEmpty
      && owners.allSatisfy { owner in
        counterpart?.names.contains(owner.name) == true
          && owner.relationships.contains { step in
            step.relationship.name == inverse.name
              && step.counterpart?.relationship?.name == formerInverse.name
              && step.counterpart?.names.contains(plan.name) == true
          }
      }
  }
}

/// Instances in the values of expressions.
enum MigrationInstances {
  /// Returns the instances in a value: an instance, or a collection of them.
  static func list(_ value: Any?) -> [NSManagedObject] {
    switch value {
    case let object as NSManagedObject: [object]
    case let set as Set<NSManagedObject>: Array(set)
    case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }
    case let list as [Any]: list.compactMap { $0 as? NSManagedObject }
    case let set as Set<AnyHashable>: set.compactMap { $0.base as? NSManagedObject }
    default: []
    }
  }
}
