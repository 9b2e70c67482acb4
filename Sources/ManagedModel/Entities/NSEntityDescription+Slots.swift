extension NSEntityDescription {
  /// The properties that a row of this entity stores, in the order of its slots.
  ///
  /// From the root entity down to this one: the stored attributes of the level by name, then its
  /// to-one relationships by name. A sub-entity's slots begin with its parent's.
  package var slotProperties: [NSPropertyDescription] {
    (superentity?.slotProperties ?? []) + ownStoredProperties
  }

  /// The attributes of this level alone which have a column, by name.
  ///
  /// A composite one has none itself: the leaves of its elements stand for it.
  package var ownStoredAttributes: [NSAttributeDescription] {
    ownProperties
      .compactMap { $0 as? NSAttributeDescription }
      .filter { !$0.isTransient }
      .flatMap { ($0 as? NSCompositeAttributeDescription)?.leaves ?? [$0] }
      .sorted { $0.name < $1.name }
  }

  /// The relationships of this level alone which the store keeps, to-one and to-many, by name.
  package var ownStoredRelationships: [NSRelationshipDescription] {
    ownProperties
      .compactMap { $0 as? NSRelationshipDescription }
      .filter { !$0.isTransient && $0.destinationEntity != nil }
      .sorted { $0.name < $1.name }
  }

  /// The properties of this level which have columns of their own in the entity's table.
  package var ownStoredProperties: [NSPropertyDescription] {
    ownStoredAttributes + ownStoredRelationships.filter { !$0.isToMany }
  }

  /// The sub-entities in the order in which entities are numbered: by name, case ignored.
  package var numberedSubentities: [NSEntityDescription] {
    Self.inNumberingOrder(subentities)
  }

  /// Entities by name, case ignored.
  package static func inNumberingOrder(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
    entities.sorted { left, right in
      let (leftName, rightName) = (left.name ?? "", right.name ?? "")
      let (leftKey, rightKey) = (leftName.lowercased(), rightName.lowercased())
      return leftKey == rightKey ? leftName < rightName : leftKey < rightKey
    }
  }
}
