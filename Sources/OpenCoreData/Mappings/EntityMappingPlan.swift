import ManagedModel

/// An entity mapping with its entities and expressions resolved.
///
/// Made once for a migration; used on its thread.
struct EntityMappingPlan {
  let mapping: NSEntityMapping
  /// The entity in the copy of the source model; nil for an added entity.
  let source: NSEntityDescription?
  /// The entity in the copy of the destination model; nil for a removed entity.
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

  /// Sets relationships without their inverses where possible; for a mapping without a policy class.
  func settingOneSide() -> EntityMappingPlan {
    var plan = self
    for index in plan.relationships.indices {
      plan.relationships[index].setsOneSide = plan.relationships[index].isOneSided
    }
    return plan
  }

  /// Returns the slots of an attribute that is copied without conversion; nil for any other.
  private static func slots(
    _ before: EntityLayout?, _ after: EntityLayout, _ position: PropertyPosition,
    _ expression: NSExpression
  ) -> (RowSlot, RowSlot)? {
    guard case .path(let operand, let path) = expression.node,
      case .variable(NSMigrationSourceObjectKey) = operand.node,
      case .keyPath(let keyPath) = path.node, let before, case .slot(let index) = position,
      case .slot(let former)? = before.position(of: keyPath.text)
    else { return nil }
    let (from, to) = (before.slots[former], after.slots[index])
    guard from.kind == to.kind, before.transformer(from) == nil, after.transformer(to) == nil,
      ![.external, .transformable, .toOne, .toOnePolymorphic].contains(from.kind)
    else { return nil }
    return (from, to)
  }

  /// Sets the attributes of a new destination instance.
  ///
  /// - Throws: 134110 for a value that isn't of the attribute's type.
  func setAttributes(
    of object: NSManagedObject, from source: NSManagedObject, by policy: NSEntityMigrationPolicy,
    _ manager: NSMigrationManager
  ) throws {
    source.willAccess()
    for step in attributes {
      switch step.value {
      case .slot(let from, let to): object.set(source.rawValue(from), at: to.index)
      case .expression(let expression):
        let value = try manager.value(
          of: expression, for: mapping, step.mapping, source, object, policy
        ).boxed
        try check(value, for: step, object)
        object.write(value, to: step.position)
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
      let others: [NSManagedObject]
      if let counterpart = step.counterpart {
        others = manager.found(of: counterpart.instances(of: source), in: counterpart.names)
      } else {
        let value = try manager.value(
          of: step.expression, for: mapping, step.mapping, source, object, policy
        ).original
        others = try instances(value, relationship)
      }
      for other in others { try check(other, relationship, manager) }
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
        throw failure(relationship, "a \(type(of: value))")
      }
      return object
    }
  }

  private func check(
    _ object: NSManagedObject, _ relationship: NSRelationshipDescription,
    _ manager: NSMigrationManager
  ) throws {
    guard object.context === manager.destinationContext,
      relationship.destinationEntity.map({ object.entity.isKind(of: $0) }) ?? true
    else { throw failure(relationship, "one of \(object.entity.name ?? "")") }
  }

  private func failure(_ relationship: NSRelationshipDescription, _ other: String) -> NSError {
    failure(
      relationship.name,
      "takes destination instances of \(relationship.destinationEntity?.name ?? ""), not \(other)")
  }

  private func check(_ value: Any?, for step: AttributeStep, _ object: NSManagedObject) throws {
    switch step.position {
    case .slot(let index):
      let slot = object.layout.slots[index]
      guard object.layout.transformer(slot) == nil, RowValue(value, kind: slot.kind) == nil else {
        return
      }
    case .composite(let index):
      guard (try? object.layout.spread(value, over: index)) == nil else { return }
    case .toMany, .transient: return
    }
    throw failure(
      step.name,
      "can't be set to a \(value.map { "\(type(of: $0))" } ?? "nil"): convert the value in the mapping's "
        + "expression or in a policy")
  }

  private func failure(_ property: String, _ reason: String) -> NSError {
    let entity = destination?.name ?? ""
    return NSError.coreData(
      NSMigrationError,
      "\(entity).\(property) \(reason). The mapping is \(mapping.name ?? "").",
      ["entity": entity, "property": property, "reason": reason])
  }
}

extension NSEntityMapping {
  /// Whether source instances of an entity are migrated by this mapping.
  ///
  /// Those of a subentity with a mapping of its own aren't.
  func migrates(
    _ entity: NSEntityDescription, _ source: NSEntityDescription, unless mapped: Set<String>
  ) -> Bool {
    entity === source || !(entity.name.map(mapped.contains) ?? false)
  }
}
