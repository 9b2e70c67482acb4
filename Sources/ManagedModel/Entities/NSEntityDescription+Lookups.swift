extension NSEntityDescription {
  /// The lookups, made at the first use after a change.
  var lookups: EntityLookups {
    if let cachedLookups { return cachedLookups }
    let made = EntityLookups(of: self)
    cachedLookups = made
    return made
  }

  /// Drops the lookups of the entity and of all below it.
  func invalidateLookups() {
    cachedLookups = nil
    for entity in subentities { entity.invalidateLookups() }
  }

  /// All properties by name, inherited ones included.
  ///
  /// Kept until the entity changes.
  public var propertiesByName: [String: NSPropertyDescription] { lookups.propertiesByName }

  /// All attributes by name, inherited ones included.
  ///
  /// Kept until the entity changes.
  public var attributesByName: [String: NSAttributeDescription] { lookups.attributesByName }

  /// All relationships by name, inherited ones included.
  ///
  /// Kept until the entity changes.
  public var relationshipsByName: [String: NSRelationshipDescription] {
    lookups.relationshipsByName
  }

  /// The children by name.
  ///
  /// Kept until the entity changes.
  public var subentitiesByName: [String: NSEntityDescription] { lookups.subentitiesByName }

  /// Whether a name such as `engine.power` is the path of an element of a composite attribute.
  func hasCompositeElement(at path: String) -> Bool {
    guard let point = path.firstIndex(of: "."),
      let composite = attributesByName[String(path[..<point])] as? NSCompositeAttributeDescription
    else { return false }
    return composite.leaves.contains { $0.name == path }
  }

  /// Whether this entity is the given one or below it in the hierarchy.
  ///
  /// Takes the same time at any depth.
  ///
  /// - Parameter entity: The entity to compare with, of the same model.
  public func isKind(of entity: NSEntityDescription) -> Bool {
    if self === entity { return true }
    let depth = entity.lookups.lineage.count - 1
    let lineage = lookups.lineage
    return depth < lineage.count && lineage[depth] == ObjectIdentifier(entity)
  }

  /// The relationships that lead to an entity or to one of its ancestors, in no given order.
  ///
  /// - Parameter entity: The destination.
  public func relationships(forDestination entity: NSEntityDescription)
    -> [NSRelationshipDescription]
  {
    relationshipsByName.values.filter { relationship in
      relationship.destinationEntity.map { entity.isKind(of: $0) } ?? false
    }
  }

  /// The entity at the top of the hierarchy, which may be this one.
  package var rootEntity: NSEntityDescription {
    var root = self
    while let parent = root.superentity { root = parent }
    return root
  }

  /// The uniqueness constraints as names.
  package var uniquenessConstraintNames: [[String]] { Self.names(uniquenessConstraints) }

  /// The compound indexes as names.
  package var compoundIndexNames: [[String]] { Self.names(compoundIndexes) }

  private static func names(_ groups: [[Any]]) -> [[String]] {
    groups.map { group in
      group.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
    }
  }
}
