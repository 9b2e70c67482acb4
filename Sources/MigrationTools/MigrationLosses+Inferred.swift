import OpenCoreData

// What a step with an inferred mapping doesn't carry over.

extension MigrationLosses {
  /// Counts what the inferred mapping has no place for.
  func inferred() throws -> Counts {
    let mapping = InferredMapping(from: step.source, to: step.destination)
    var entities = LaterEntities(mapping, stored: laterNames)
    var counts: Counts = [:]
    for entity in mapping.entities {
      guard let source = entity.source, !source.isAbstract else { continue }
      guard let later = entity.destination, laterNames.contains(later.name ?? "") else {
        counts[Key(source)] = try count(source, nil)
        continue
      }
      for property in entity.properties {
        guard let former = property.source, !former.isTransient, contains(former) else {
          continue
        }
        if let relationship = former as? NSRelationshipDescription {
          let relationship = KeptRelationship(
            relationship, property.destination, later, stored: laterNames)
          try add(relationship, of: source, in: &entities, to: &counts)
        } else if former.isPresent != nil {
          try add(property, Key(former, of: source), of: source, to: &counts)
        }
      }
    }
    return counts
  }

  /// Adds the values of an attribute, or of an element of a composite attribute, that aren't kept.
  private func add(
    _ attribute: InferredMapping.Property, _ key: Key, of entity: NSEntityDescription,
    to counts: inout Counts
  ) throws {
    guard let former = attribute.source as? NSAttributeDescription, let path = key.property else {
      return
    }
    guard let later = attribute.destination as? NSAttributeDescription, !later.isTransient,
      !later.isDerived
    else {
      counts[key, default: 0] += try count(entity, NSPredicate(format: "%K != nil", path))
      return
    }
    for element in attribute.elements {
      guard let name = element.source?.name else { continue }
      var part = key
      part.property = "\(path).\(name)"
      try add(element, part, of: entity, to: &counts)
    }
    guard let condition = former.isRounded(as: later.attributeType, path) else { return }
    var rounded = key
    rounded.aspect = .precision
    counts[rounded, default: 0] += try count(entity, condition)
  }

  // MARK: Relationships

  /// A relationship of an entity of the source model, and what it becomes.
  private struct KeptRelationship {
    let former: NSRelationshipDescription
    /// The relationship of the destination model; `nil` if it's removed, or not stored anymore, as
    /// one to an entity of another configuration.
    let later: NSRelationshipDescription?
    /// The entity of the destination model.
    let entity: NSEntityDescription

    init(
      _ former: NSRelationshipDescription, _ later: NSPropertyDescription?,
      _ entity: NSEntityDescription, stored names: Set<String>
    ) {
      (self.former, self.entity) = (former, entity)
      self.later = (later as? NSRelationshipDescription).flatMap { later in
        let isStored = !later.isTransient && names.contains(later.destinationEntity?.name ?? "")
        return isStored ? later : nil
      }
    }
  }

  /// Adds the pairs that neither the relationship nor its inverse keeps, and the order that's lost.
  private func add(
    _ relationship: KeptRelationship, of entity: NSEntityDescription,
    in entities: inout LaterEntities, to counts: inout Counts
  ) throws {
    let former = relationship.former
    guard let destination = former.destinationEntity else { return }
    let outside = entities.outside(relationship.later?.destinationEntity, of: destination)
    let lost = outside.filter { !entities.isKept(byInverseOf: relationship, to: $0) }
    if former.isOrdered, relationship.later?.isOrdered != true {
      let remaining = entities.remaining(of: destination).filter { entity in
        !lost.contains { $0 === entity }
      }
      if !remaining.isEmpty {
        counts[Key(former, of: entity, .order), default: 0] += try count(
          entity, former.refers(to: remaining, moreThan: 1))
      }
    }
    guard former.isPresent != nil, !lost.isEmpty else { return }
    counts[Key(former, of: entity), default: 0] += try count(
      entity, former.refers(to: lost, moreThan: 0))
  }

  /// What the entities of the source model become, each looked up once.
  private struct LaterEntities {
    /// An entity of the source model, and the destination of a relationship in the other model.
    private struct Pair: Hashable {
      let former: ObjectIdentifier
      let later: ObjectIdentifier?
    }

    /// The mappings by the source entity, without those of objects that the store loses.
    private let mappings: [ObjectIdentifier: InferredMapping.Entity]
    private var known: [Pair: [NSEntityDescription]] = [:]

    /// - Parameter names: The names of the entities that the migrated store contains.
    init(_ mapping: InferredMapping, stored names: Set<String>) {
      let stored = mapping.entities.filter { names.contains($0.destination?.name ?? "") }
      mappings = Dictionary(
        stored.compactMap { entity in
          entity.source.map { (ObjectIdentifier($0), entity) }
        }, uniquingKeysWith: { first, _ in first })
    }

    private func later(_ entity: NSEntityDescription) -> NSEntityDescription? {
      mappings[ObjectIdentifier(entity)]?.destination
    }

    /// Returns the concrete entities of a family whose objects exist in the other model.
    func remaining(of destination: NSEntityDescription) -> [NSEntityDescription] {
      destination.concreteFamily.filter { later($0) != nil }
    }

    /// Returns the concrete entities of a family to which a relationship can't refer anymore.
    ///
    /// Entities that are removed are omitted unless the relationship isn't stored anymore, either.
    ///
    /// **Cost:** linear in the family the first time.
    /// - Parameter later: The relationship's destination in the other model; `nil` for a
    ///   relationship that isn't stored anymore.
    mutating func outside(
      _ later: NSEntityDescription?, of former: NSEntityDescription
    ) -> [NSEntityDescription] {
      let pair = Pair(
        former: ObjectIdentifier(former), later: later.map { ObjectIdentifier($0) })
      if let found = known[pair] { return found }
      let found = former.concreteFamily.filter { entity in
        guard let later else { return true }
        return self.later(entity).map { !$0.isKind(of: later) } ?? false
      }
      known[pair] = found
      return found
    }

    /// Returns whether the inverse of a relationship keeps the pairs with the objects of an entity.
    func isKept(
      byInverseOf relationship: KeptRelationship, to destination: NSEntityDescription
    ) -> Bool {
      guard let inverse = relationship.former.inverseRelationship,
        let mapping = mappings[ObjectIdentifier(destination)],
        let back = mapping.properties.first(where: { $0.source === inverse })?.destination
          as? NSRelationshipDescription, !back.isTransient,
        let owner = back.destinationEntity
      else { return false }
      return relationship.entity.isKind(of: owner)
    }
  }
}

extension NSRelationshipDescription {
  /// Returns the condition for an object to have more than a number of destinations of some
  /// entities.
  fileprivate func refers(
    to entities: [NSEntityDescription], moreThan number: Int
  ) -> NSPredicate {
    let names = entities.compactMap(\.name)
    let isAny = entities.count == destinationEntity?.concreteFamily.count
    guard isToMany else {
      return isAny
        ? NSPredicate(format: "%K != nil", name)
        : NSPredicate(format: "%K.entity.name IN %@", name, names)
    }
    return isAny
      ? NSPredicate(format: "%K.@count > %ld", name, number)
      : NSPredicate(
        format: "SUBQUERY(%K, $other, $other.entity.name IN %@).@count > %ld", name, names, number)
  }
}

extension NSEntityDescription {
  /// The entity and all its descendants that aren't abstract.
  fileprivate var concreteFamily: [NSEntityDescription] {
    withSubentities.filter { !$0.isAbstract }
  }
}
