import ManagedModel

/// An entity mapping with its entities and expressions resolved.
///
/// Made once for a migration; used on its thread.
struct EntityMappingPlan {
  let mapping: NSEntityMapping
  /// The entity in the copy of the source model; `nil` for an added entity.
  let source: NSEntityDescription?
  /// The entity in the copy of the destination model; `nil` for a removed entity.
  let destination: NSEntityDescription?
  private let attributes: [AttributeStep]
  /// How the relationships get their values; those that are set by their inverses are omitted.
  private(set) var relationships: [RelationshipStep]

  /// How one attribute gets its value.
  private struct AttributeStep {
    let mapping: NSPropertyMapping
    let name: String
    let position: PropertyPosition
    let value: Value

    enum Value {
      /// The value of a slot of the same kind, without conversion.
      case slot(source: RowSlot, destination: RowSlot)
      /// The value of a key of the source, as it is.
      case value(String)
      case expression(NSExpression)
    }
  }

  /// The name of the mapping.
  var name: String { mapping.name ?? "" }

  /// Whether the mapping sets any relationship.
  var setsRelationships: Bool { !relationships.isEmpty }

  /// Resolves a mapping.
  ///
  /// - Parameter entities: The entity mappings of the model with their source entities.
  init(
    _ mapping: NSEntityMapping, _ source: NSEntityDescription?, _ destination: NSEntityDescription?,
    among entities: [(name: String, source: NSEntityDescription?)]
  ) {
    self.mapping = mapping
    self.source = source
    self.destination = destination
    let (before, after) = (source.map(EntityLayout.of), destination.map(EntityLayout.of))
    attributes = (mapping.attributeMappings ?? []).compactMap { property in
      guard let name = property.name, let expression = property.valueExpression,
        let attribute = destination?.attributesByName[name], !attribute.isDerived,
        let after, let position = after.position(of: name)
      else { return nil }
      let value: AttributeStep.Value =
        if let (from, to) = Self.slots(before, after, position, expression) {
          .slot(source: from, destination: to)
        } else if let key = Self.transformableKey(source, attribute, expression) {
          .value(key)
        } else {
          .expression(expression)
        }
      return AttributeStep(mapping: property, name: name, position: position, value: value)
    }
    relationships = (mapping.relationshipMappings ?? []).compactMap { property in
      guard let relationship = property.name.flatMap({ destination?.relationshipsByName[$0] }),
        let expression = property.valueExpression
      else { return nil }
      return RelationshipStep(property, relationship, expression, from: source, among: entities)
    }
  }

  /// Omits the relationships that are set by their inverses.
  ///
  /// - Parameter plans: All plans, none with a policy class and no two with the same source entity.
  func withoutRedundantSteps(among plans: [EntityMappingPlan]) -> EntityMappingPlan {
    var plan = self
    plan.relationships = relationships.filter { !$0.isSetByInverse(self, among: plans) }
    return plan
  }

  /// Sets relationships without their inverses where possible; for a mapping without a policy
  /// class.
  func settingOneSide() -> EntityMappingPlan {
    var plan = self
    for index in plan.relationships.indices {
      plan.relationships[index].setsOneSide = plan.relationships[index].isOneSided
    }
    return plan
  }

  /// Sets the attributes of a new destination instance.
  ///
  /// - Throws: 134110 for a value that isn't of the attribute's type, or that it can't represent.
  func setAttributes(
    of object: NSManagedObject, from source: NSManagedObject, by policy: NSEntityMigrationPolicy,
    _ manager: NSMigrationManager
  ) throws {
    source.willAccess()
    for step in attributes {
      let value: Any?
      switch step.value {
      case .slot(let from, let to):
        let raw = source.rawValue(from)
        object.set(to.kind == .bool ? raw.truth : raw, at: to.index)
        continue
      case .value(let key): value = source.value(forKey: key)
      case .expression(let expression):
        let found = try manager.value(
          of: expression, for: mapping, step.mapping, source, object, policy)
        value = InferredMapping.Property.carried(found.boxed, by: step.mapping.elements)
      }
      do {
        try check(value, for: step.name, at: step.position, object)
        object.write(value, to: step.position)
      } catch {
        try manager.failed(error as NSError)
        object.write(nil, to: step.position)
      }
    }
  }

  /// The key paths of the source instances to prefetch for the relationships.
  var prefetchPaths: [String] {
    Array(Set(relationships.compactMap(\.counterpart?.prefetchPath))).sorted()
  }

  /// Returns the IDs of the destination instances whose inverse relationships a batch will set.
  func related(
    to sources: [NSManagedObject], _ manager: NSMigrationManager
  ) -> [FetchedIdentity] {
    var seen: Set<InstanceKey> = []
    return relationships.filter { !$0.setsOneSide }.compactMap(\.counterpart).flatMap {
      counterpart in
      manager.identities(
        of: sources.flatMap { counterpart.instances(of: $0) }, in: counterpart.names)
    }.filter { seen.insert(InstanceKey($0)).inserted }
  }

  /// Sets the relationships of a destination instance.
  ///
  /// - Throws: 134110 for a value that the relationship doesn't take.
  func setRelationships(
    of object: NSManagedObject, from source: NSManagedObject?, by policy: NSEntityMigrationPolicy,
    _ manager: NSMigrationManager
  ) throws {
    for step in relationships {
      let relationship = step.relationship
      var others: [NSManagedObject]
      if let counterpart = step.counterpart {
        others = manager.found(of: counterpart.instances(of: source), in: counterpart.names)
      } else {
        let value = try manager.value(
          of: step.expression, for: mapping, step.mapping, source, object, policy
        ).original
        others = try instances(value, relationship)
      }
      if step.mapping.omitsOtherEntities { others.removeAll { !relationship.takes($0.entity) } }
      do {
        for other in others { try check(other, relationship, manager) }
        try manager.checkOwners(of: others, relationship, object)
      } catch {
        try manager.failed(error as NSError)
        continue
      }
      if step.setsOneSide, case .slot(let index)? = object.layout.position(of: relationship.name) {
        object.willAccess()
        object.noteChange()
        object.storeDestination(others.first, object.layout.slots[index])
      } else if relationship.isOrdered, relationship.isToMany {
        object.setValue(NSOrderedSet(array: others), forKey: relationship.name)
      } else if relationship.isToMany {
        object.setValue(Set(others), forKey: relationship.name)
      } else {
        object.setValue(others.first, forKey: relationship.name)
      }
    }
  }

  private func instances(
    _ value: Any?, _ relationship: NSRelationshipDescription
  ) throws -> [NSManagedObject] {
    let values: [Any] =
      switch value {
      case nil, is NSNull: []
      case let list as [Any]: list.filter { !($0 is NSNull) }
      case let value?: [value]
      }
    return try values.map { value in
      guard let object = value as? NSManagedObject else {
        throw failure(relationship, "a value of type \(type(of: value))")
      }
      return object
    }
  }

  private func check(
    _ object: NSManagedObject, _ relationship: NSRelationshipDescription,
    _ manager: NSMigrationManager
  ) throws {
    guard object.context === manager.destinationContext, relationship.takes(object.entity) else {
      throw failure(relationship, "one of \(object.entity.name ?? "")")
    }
  }

  private func failure(_ relationship: NSRelationshipDescription, _ other: String) -> NSError {
    failure(
      relationship.name,
      "takes destination instances of \(relationship.destinationEntity?.name ?? ""), not \(other)")
  }

  /// Returns the error for a property that doesn't take a value.
  func failure(_ property: String, _ reason: String) -> NSError {
    let entity = destination?.name ?? ""
    return NSError.coreData(
      NSMigrationError,
      "\(entity).\(property) \(reason). The entity mapping is \(mapping.name ?? "").",
      ["entity": entity, "property": property, "reason": reason])
  }
}

extension NSRelationshipDescription {
  /// Returns whether objects of an entity can be destinations.
  fileprivate func takes(_ entity: NSEntityDescription) -> Bool {
    destinationEntity.map { entity.isKind(of: $0) } ?? true
  }
}

extension NSEntityMapping {
  /// Returns whether source instances of an entity are migrated by this mapping.
  ///
  /// Those of a subentity with a mapping of its own aren't.
  func migrates(
    _ entity: NSEntityDescription, _ source: NSEntityDescription, unless mapped: Set<String>
  ) -> Bool {
    entity === source || !(entity.name.map(mapped.contains) ?? false)
  }
}

/// How a migration sets one relationship of the destination instances of an entity mapping.
struct RelationshipStep {
  let mapping: NSPropertyMapping
  /// The relationship in the copy of the destination model.
  let relationship: NSRelationshipDescription
  let expression: NSExpression
  /// What the expression refers to; `nil` if it isn't one of those that Xcode writes.
  let counterpart: Counterpart?
  /// Whether only this side is set; see `isOneSided`.
  var setsOneSide = false

  /// The destination instances of the source instances at the end of a key path.
  struct Counterpart {
    /// The names of the mappings that may have created the destination instances.
    let names: [String]
    let keyPath: String
    /// The source relationship, if it's the whole key path.
    let relationship: NSRelationshipDescription?
    /// The part of the key path to prefetch with the source instances; `nil` if none needs a
    /// SELECT.
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

  /// Returns the relationships at the beginning of a key path.
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
  /// Whether it can be set without its inverse, so that its destination instances needn't be
  /// loaded.
  ///
  /// No row of theirs depends on a to-one with an inverse that is to-many and has no order. Only a
  /// policy of the same mapping could read the inverse before the batch is saved and its instances
  /// are refreshed.
  var isOneSided: Bool {
    guard !relationship.isToMany, counterpart != nil else { return false }
    guard let inverse = relationship.inverseRelationship else { return true }
    return inverse.isToMany && !inverse.isOrdered
  }

  /// Returns whether setting the inverse relationships sets this one as well.
  ///
  /// It does for a to-many without an order whose inverse is copied, too. Its destination
  /// instances, of which there may be any number, needn't be loaded then.
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
