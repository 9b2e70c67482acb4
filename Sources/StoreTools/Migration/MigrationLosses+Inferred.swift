import OpenCoreData

// What a step with an inferred mapping doesn't carry over.

extension MigrationLosses {
  /// Counts what the inferred mapping has no place for.
  func inferred() throws -> Counts {
    let mapping = InferredMapping(from: step.source, to: step.destination)
    var counts: Counts = [:]
    for entity in mapping.entities {
      guard let source = entity.source, !source.isAbstract else { continue }
      guard let later = entity.destination else {
        counts[Key(source)] = try count(source, nil)
        continue
      }
      for property in entity.properties {
        guard let former = property.source, !former.isTransient else { continue }
        if let relationship = former as? NSRelationshipDescription {
          let relationship = KeptRelationship(relationship, property.destination, later)
          try add(relationship, of: source, in: mapping, to: &counts)
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
    /// The relationship of the destination model; `nil` if it's removed, or not stored anymore.
    let later: NSRelationshipDescription?
    /// The entity of the destination model.
    let entity: NSEntityDescription

    init(
      _ former: NSRelationshipDescription, _ later: NSPropertyDescription?,
      _ entity: NSEntityDescription
    ) {
      (self.former, self.entity) = (former, entity)
      self.later = (later as? NSRelationshipDescription).flatMap { $0.isTransient ? nil : $0 }
    }
  }

  /// Adds the pairs that neither the relationship nor its inverse keeps, and the order that's lost.
  private func add(
    _ relationship: KeptRelationship, of entity: NSEntityDescription, in mapping: InferredMapping,
    to counts: inout Counts
  ) throws {
    let former = relationship.former
    let destinations = (former.destinationEntity?.family ?? []).filter { !$0.isAbstract }
    let lost = destinations.filter { !isKept(relationship, to: $0, in: mapping) }
    if former.isOrdered, relationship.later?.isOrdered != true {
      let remaining = destinations.filter { destination in
        !lost.contains(destination)
          && mapping.entities.contains { $0.source === destination && $0.destination != nil }
      }
      if !remaining.isEmpty {
        counts[Key(former, of: entity, .order), default: 0] += try count(
          entity, former.refers(to: remaining, of: destinations, moreThan: 1))
      }
    }
    guard former.isPresent != nil, !lost.isEmpty else { return }
    counts[Key(former, of: entity), default: 0] += try count(
      entity, former.refers(to: lost, of: destinations, moreThan: 0))
  }

  /// Returns whether the pairs of a relationship with the objects of one entity are kept, or lost
  /// with those objects.
  private func isKept(
    _ relationship: KeptRelationship, to destination: NSEntityDescription,
    in mapping: InferredMapping
  ) -> Bool {
    let other = mapping.entities.first { $0.source === destination }
    if let later = relationship.later?.destinationEntity {
      guard let target = other?.destination else { return true }
      if target.isKind(of: later) { return true }
    }
    guard let inverse = relationship.former.inverseRelationship,
      let back = other?.properties.first(where: { $0.source === inverse })?.destination
        as? NSRelationshipDescription, !back.isTransient,
      let owner = back.destinationEntity
    else { return false }
    return relationship.entity.isKind(of: owner)
  }
}

extension NSRelationshipDescription {
  /// Returns the condition for an object to have more than a number of destinations of some
  /// entities.
  ///
  /// - Parameter all: All entities that destinations can have.
  fileprivate func refers(
    to entities: [NSEntityDescription], of all: [NSEntityDescription], moreThan number: Int
  ) -> NSPredicate {
    let names = entities.compactMap(\.name)
    let isAny = entities.count == all.count
    guard isToMany else {
      return isAny
        ? NSPredicate(format: "%K != nil", name)
        : NSPredicate(format: "%K.entity.name IN %@", name, names)
    }
    return isAny
      ? NSPredicate(format: "%K.@count > %@", name, number)
      : NSPredicate(
        format: "SUBQUERY(%K, $other, $other.entity.name IN %@).@count > %@", name, names, number)
  }
}

extension NSEntityDescription {
  /// The entity and all its descendants.
  fileprivate var family: [NSEntityDescription] { [self] + subentities.flatMap(\.family) }
}
