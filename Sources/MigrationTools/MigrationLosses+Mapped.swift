import OpenCoreData

// What a step with mapping models doesn't carry over.

extension MigrationLosses {
  /// Counts what no entity mapping reads.
  ///
  /// A property that's read only for one that isn't stored is lost, too. One that only a policy or
  /// a function reads isn't counted correctly; those aren't run here.
  func mapped() throws -> Counts {
    let mappings = step.mappingModels.flatMap { $0.entityMappings ?? [] }
      .filter { mapping in
        // Those to entities of other configurations create no objects.
        mapping.mappingType != .removeEntityMappingType
          && mapping.destinationEntityName.map(laterNames.contains) ?? true
      }
    let readers = Dictionary(grouping: mappings.filter { $0.destinationEntityName != nil }) {
      $0.sourceEntityName ?? ""
    }
    let names = Set(mappings.compactMap(\.sourceEntityName))
    var counts: Counts = [:]
    for entity in step.source.entities where !entity.isAbstract {
      let mapped = entity.lineage.first { names.contains($0.name ?? "") }
      guard let mapped, let reading = readers[mapped.name ?? ""] else {
        counts[Key(entity)] = try count(entity, nil)
        continue
      }
      let unfetched = try filter(of: reading).map { try count(entity, $0) } ?? 0
      counts[Key(entity)] = unfetched
      if mapped !== entity {
        // They become objects of the entity that their ancestor's objects become.
        counts[Key(entity, .entity)] = try count(entity, nil) - unfetched
      }
      let read = Set(reading.flatMap { stored($0).flatMap { $0.value.sourceKeys } })
      for property in entity.propertiesByName.values.sortedByName()
      where !property.isTransient && contains(property) {
        if read.contains(property.name) || isReadFromOtherSide(property, mappings) {
          try addNarrowed(property, of: entity, reading, mappings, to: &counts)
        } else if let isPresent = property.isPresent {
          counts[Key(property, of: entity), default: 0] += try count(entity, isPresent)
        }
      }
    }
    return counts
  }

  /// Adds the values of a property that's read as it is, but whose destinations can't keep all.
  private func addNarrowed(
    _ property: NSPropertyDescription, of entity: NSEntityDescription,
    _ reading: [NSEntityMapping], _ all: [NSEntityMapping], to counts: inout Counts
  ) throws {
    func add(_ aspect: MigrationLoss.Aspect, _ condition: NSPredicate) throws {
      counts[Key(property, of: entity, aspect), default: 0] += try count(entity, condition)
    }
    if let attribute = property as? NSAttributeDescription {
      let later = destinations(of: attribute, reading).map { $0 as? NSAttributeDescription }
      let rounded = later.compactMap { later in
        later.flatMap { attribute.isRounded(as: $0.attributeType, attribute.name) }
      }
      guard !rounded.isEmpty, rounded.count == later.count else { return }
      return try add(
        .precision, NSCompoundPredicate(andPredicateWithSubpredicates: rounded))
    }
    guard let relationship = property as? NSRelationshipDescription, relationship.isToMany else {
      return
    }
    let own = destinations(of: relationship, reading).map { $0 as? NSRelationshipDescription }
    let others = relationship.inverseRelationship.map { destinations(of: $0, all) } ?? []
    let takesSeveral =
      own.map { $0?.isToMany }
      + others.map { ($0 as? NSRelationshipDescription)?.canShareDestinations }
    guard !takesSeveral.isEmpty, !takesSeveral.contains(nil) else { return }
    if takesSeveral.allSatisfy({ $0 == false }) {
      try add(.value, relationship.hasSeveral)
    } else if relationship.isOrdered, own.allSatisfy({ $0?.isOrdered == false }) {
      // An inverse appends objects in the order in which they are migrated.
      try add(.order, relationship.hasSeveral)
    }
  }

  /// A property of the destination that's stored, with the expression that it's set to.
  private typealias StoredProperty = (property: NSPropertyDescription, value: NSExpression)

  /// Returns the properties that a mapping sets, without those that aren't stored, or are computed.
  private func stored(_ mapping: NSEntityMapping) -> [StoredProperty] {
    let later = mapping.destinationEntityName.flatMap { step.destination.entitiesByName[$0] }
    let mappings = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
    return mappings.compactMap { mapping in
      guard let value = mapping.valueExpression,
        let property = later?.propertiesByName[mapping.name ?? ""], !property.isTransient,
        (property as? NSAttributeDescription)?.isDerived != true
      else { return nil }
      return (property: property, value: value)
    }
  }

  /// Returns the properties that are set to the values of a source property as they are, with `nil`
  /// for one that's set to something else that's read from it.
  private func destinations(
    of property: NSPropertyDescription, _ mappings: [NSEntityMapping]
  ) -> [NSPropertyDescription?] {
    mappings.flatMap { mapping -> [NSPropertyDescription?] in
      let source = mapping.sourceEntityName.flatMap { step.source.entitiesByName[$0] }
      guard let source, source.propertiesByName[property.name] === property else { return [] }
      return stored(mapping).filter { $0.value.sourceKeys.contains(property.name) }.map { later in
        let key =
          property is NSAttributeDescription ? later.value.sourceKey : later.value.relationshipKey
        return key == nil ? nil : later.property
      }
    }
  }

  /// Returns the condition of objects that no mapping fetches; `nil` if one fetches all.
  private func filter(of mappings: [NSEntityMapping]) throws -> NSPredicate? {
    let conditions = mappings.map(\.condition)
    guard !conditions.contains(nil) else { return nil }
    let parsed = try conditions.compactMap {
      try $0.map { try NSPredicate.parse($0, arguments: []) }
    }
    return NSCompoundPredicate(
      notPredicateWithSubpredicate: NSCompoundPredicate(orPredicateWithSubpredicates: parsed))
  }

  /// Returns whether a relationship is carried over by its inverse.
  private func isReadFromOtherSide(
    _ property: NSPropertyDescription, _ mappings: [NSEntityMapping]
  ) -> Bool {
    guard let inverse = (property as? NSRelationshipDescription)?.inverseRelationship,
      let other = inverse.entity
    else { return false }
    return mappings.contains { mapping in
      guard let source = mapping.sourceEntityName.flatMap({ step.source.entitiesByName[$0] }) else {
        return false
      }
      return (source.isKind(of: other) || other.isKind(of: source))
        && stored(mapping).contains {
          $0.property is NSRelationshipDescription && $0.value.sourceKeys.contains(inverse.name)
        }
    }
  }
}

extension NSEntityDescription {
  /// The entity and its ancestors, the root last.
  fileprivate var lineage: [NSEntityDescription] {
    [self] + (superentity?.lineage ?? [])
  }
}

extension NSRelationshipDescription {
  /// Whether several objects can refer to the same destination.
  fileprivate var canShareDestinations: Bool {
    // A to-many relationship without an inverse is stored with its destinations.
    inverseRelationship?.isToMany ?? !isToMany
  }
}

extension NSEntityMapping {
  /// The predicate by which source instances are fetched, as text; `nil` if all are fetched, or the
  /// expression is another one.
  fileprivate var condition: String? {
    guard case .fetch(let request, _, _)? = sourceExpression?.node,
      case .method(_, MappingExpression.fetchRequest, let arguments) = request.node,
      arguments.count == 2, case .constant(.string(let text)) = arguments[1].node,
      !text.isEmpty, text != "TRUEPREDICATE"
    else { return nil }
    return text
  }
}

extension NSExpression {
  /// The first keys of all key paths that begin with `$source`.
  fileprivate var sourceKeys: Set<String> {
    var keys: Set<String> = []
    if case .path(let operand, let path) = node,
      case .variable(NSMigrationSourceObjectKey) = operand.node,
      case .keyPath(let path) = path.node,
      let first = path.keys.first
    {
      keys.insert(first)
    }
    if case .conditional(let predicate, _, _) = node {
      // A predicate's key paths have the same form as text.
      keys.formUnion(Self.sourceKeys(in: predicate.predicateFormat))
    }
    return node.children.reduce(into: keys) { $0.formUnion($1.sourceKeys) }
  }

  /// The key of a key path that is `$source` and one key; `nil` for any other expression.
  fileprivate var sourceKey: String? {
    guard case .path(let operand, let path) = node,
      case .variable(NSMigrationSourceObjectKey) = operand.node,
      case .keyPath(let path) = path.node, path.keys.count == 1
    else { return nil }
    return path.keys.first
  }

  /// The key of the relationship whose objects' destination instances a method returns; `nil` for
  /// any other expression.
  fileprivate var relationshipKey: String? {
    guard case .method = node else { return sourceKey }
    let keys = node.children.compactMap(\.sourceKey)
    return keys.count == 1 ? keys.first : nil
  }

  private static func sourceKeys(in text: String) -> [String] {
    text.components(separatedBy: "$\(NSMigrationSourceObjectKey).").dropFirst().map {
      String($0.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
  }
}
