/// Copies models into one whose elements refer to each other and not to the originals.
///
/// If several models have an entity of the same name, the first one is copied.
final class ModelCopier {
  private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
  private var properties: [ObjectIdentifier: NSPropertyDescription] = [:]
  /// The copied entities with the originals that they replace.
  private var groups: [(originals: [NSEntityDescription], copy: NSEntityDescription)] = []

  /// Copies models into one; the copy can be changed.
  func copy(_ models: [NSManagedObjectModel]) -> NSManagedObjectModel {
    let copy = NSManagedObjectModel()
    copyEntities(of: models)
    linkParents()
    for (originals, made) in groups {
      made.properties = originals[0].ownProperties.map { bare($0) }
      for other in originals.dropFirst() {
        for property in other.ownProperties {
          properties[ObjectIdentifier(property)] = made.propertiesByName[property.name]
        }
      }
    }
    for (originals, made) in groups { link(originals[0], made) }
    copy.entities = groups.map(\.copy)
    copy.versionIdentifiers = models.reduce(into: []) { $0.formUnion($1.versionIdentifiers) }
    copy.recordedChecksum = models.count == 1 ? models[0].recordedChecksum : nil
    let localizations = models.compactMap(\.localizationDictionary)
    if !localizations.isEmpty {
      copy.localizationDictionary = localizations.reduce(into: [:]) { all, one in
        all.merge(one) { first, _ in first }
      }
    }
    var templates: Set<FetchRequestTemplate> = []
    copy.fetchRequestTemplates = models.flatMap(\.fetchRequestTemplates).filter {
      templates.insert($0).inserted
    }
    for model in models { copyConfigurations(of: model, to: copy) }
    return copy
  }

  private func copyEntities(of models: [NSManagedObjectModel]) {
    var positionsByName: [String: Int] = [:]
    for model in models {
      let first = groups.count
      for entity in model.entities {
        if let name = entity.name, let position = positionsByName[name] {
          groups[position].originals.append(entity)
          entities[ObjectIdentifier(entity)] = groups[position].copy
        } else {
          let made = bare(entity)
          groups.append(([entity], made))
          entities[ObjectIdentifier(entity)] = made
        }
      }
      // Two entities of the same model are never merged, even if they have the same name.
      for position in first..<groups.count {
        if let name = groups[position].copy.name { positionsByName[name] = position }
      }
    }
  }

  private func linkParents() {
    for (originals, made) in groups {
      var seen: Set<ObjectIdentifier> = []
      made.subentities = originals.flatMap(\.subentities).compactMap { child in
        entities[ObjectIdentifier(child)].flatMap {
          seen.insert(ObjectIdentifier($0)).inserted ? $0 : nil
        }
      }
    }
  }

  private func copyConfigurations(
    of model: NSManagedObjectModel, to copy: NSManagedObjectModel
  ) {
    for name in model.configurations {
      var members = copy.entities(forConfigurationName: name) ?? []
      var known = Set(members.map { ObjectIdentifier($0) })
      for entity in model.entities(forConfigurationName: name) ?? [] {
        guard let made = entities[ObjectIdentifier(entity)],
          known.insert(ObjectIdentifier(made)).inserted
        else { continue }
        members.append(made)
      }
      copy.setEntities(members, forConfigurationName: name)
    }
  }

  private func bare(_ entity: NSEntityDescription) -> NSEntityDescription {
    let copy = NSEntityDescription()
    copy.takeValues(from: entity)
    return copy
  }

  private func bare(_ property: NSPropertyDescription) -> NSPropertyDescription {
    let copy = property.bareCopy()
    properties[ObjectIdentifier(property)] = copy
    return copy
  }

  private func link(_ entity: NSEntityDescription, _ copy: NSEntityDescription) {
    for case let relationship as NSRelationshipDescription in entity.ownProperties {
      guard
        let made = properties[ObjectIdentifier(relationship)] as? NSRelationshipDescription
      else { continue }
      made.destinationEntity = relationship.destinationEntity.flatMap {
        entities[ObjectIdentifier($0)]
      }
      made.inverseRelationship = relationship.inverseRelationship.flatMap {
        properties[ObjectIdentifier($0)] as? NSRelationshipDescription
      }
    }
    copy.uniquenessConstraints = entity.uniquenessConstraintNames
    copy.compoundIndexes = entity.compoundIndexNames
    copy.indexes = entity.indexes.map { index in
      index.copy {
        ($0 as? NSExpressionDescription)?.bareCopy() ?? properties[ObjectIdentifier($0)]
      }
    }
  }
}

extension NSFetchIndexDescription {
  /// Returns a copy of the index for other properties, without the elements whose property has no
  /// counterpart.
  func copy(mapping: (NSPropertyDescription) -> NSPropertyDescription?) -> NSFetchIndexDescription {
    let elements = elements.compactMap { element in
      element.property.flatMap(mapping).map { property in
        let copy = NSFetchIndexElementDescription(
          property: property, collationType: element.collationType)
        copy.isAscending = element.isAscending
        return copy
      }
    }
    let copy = NSFetchIndexDescription(name: name, elements: elements)
    copy.partialIndexPredicate = partialIndexPredicate
    copy.unreadTexts = unreadTexts
    return copy
  }
}

extension NSEntityDescription {
  /// Copies the values of another entity, except its properties, indexes, constraints, and position
  /// in a hierarchy or model.
  func takeValues(from other: NSEntityDescription) {
    name = other.name
    managedObjectClassName = other.managedObjectClassName
    isAbstract = other.isAbstract
    userInfo = other.userInfo
    versionHashModifier = other.versionHashModifier
    recordedVersionHash = other.recordedVersionHash
    explicitRenamingIdentifier = other.explicitRenamingIdentifier
    codeGenerationType = other.codeGenerationType
    isSyncable = other.isSyncable
    unreadTexts = other.unreadTexts
    coreSpotlightDisplayNameExpression = other.coreSpotlightDisplayNameExpression
  }
}

extension NSPropertyDescription {
  /// Returns a copy that can be changed and doesn't belong to an entity.
  ///
  /// A relationship's copy has neither a destination nor an inverse.
  final func bareCopy() -> NSPropertyDescription {
    let copy: NSPropertyDescription =
      switch self {
      case is NSDerivedAttributeDescription: NSDerivedAttributeDescription()
      case is NSCompositeAttributeDescription: NSCompositeAttributeDescription()
      case is NSAttributeDescription: NSAttributeDescription()
      case is NSRelationshipDescription: NSRelationshipDescription()
      case is NSFetchedPropertyDescription: NSFetchedPropertyDescription()
      case is NSExpressionDescription: NSExpressionDescription()
      default: NSPropertyDescription()
      }
    copy.takeValues(from: self)
    return copy
  }

  /// Copies the values of another property of the same class.
  ///
  /// Entity, destination, and inverse don't change. The elements of a composite attribute are
  /// copied.
  final func takeValues(from other: NSPropertyDescription) {
    switch (self, other) {
    case (let own as NSAttributeDescription, let other as NSAttributeDescription):
      own.takeAttributeValues(from: other)
    case (let own as NSRelationshipDescription, let other as NSRelationshipDescription):
      own.deleteRule = other.deleteRule
      own.minCount = other.minCount
      own.maxCount = other.maxCount
      own.isOrdered = other.isOrdered
    case (let own as NSFetchedPropertyDescription, let other as NSFetchedPropertyDescription):
      own.template = other.template
    case (let own as NSExpressionDescription, let other as NSExpressionDescription):
      own.expression = other.expression
      own.expressionResultType = other.expressionResultType
    default: break
    }
    name = other.name
    isOptional = other.isOptional
    isTransient = other.isTransient
    isIndexed = other.isIndexed
    isIndexedBySpotlight = other.isIndexedBySpotlight
    isSyncable = other.isSyncable
    userInfo = other.userInfo
    versionHashModifier = other.versionHashModifier
    explicitRenamingIdentifier = other.explicitRenamingIdentifier
    explicitValidation = other.explicitValidation
    valueRule = other.valueRule
    unreadTexts = other.unreadTexts
  }
}

extension NSAttributeDescription {
  fileprivate final func takeAttributeValues(from other: NSAttributeDescription) {
    if let own = self as? NSDerivedAttributeDescription,
      let other = other as? NSDerivedAttributeDescription
    {
      own.derivationExpression = other.derivationExpression
    }
    if let own = self as? NSCompositeAttributeDescription,
      let other = other as? NSCompositeAttributeDescription
    {
      own.elements = other.elements.compactMap { $0.bareCopy() as? NSAttributeDescription }
    }
    attributeType = other.attributeType
    defaultValue = other.defaultValue
    explicitValueClassName = other.explicitValueClassName
    valueTransformerName = other.valueTransformerName
    allowsExternalBinaryDataStorage = other.allowsExternalBinaryDataStorage
    preservesValueInHistoryOnDeletion = other.preservesValueInHistoryOnDeletion
    allowsCloudEncryption = other.allowsCloudEncryption
    usesScalarValueType = other.usesScalarValueType
  }
}

extension NSManagedObjectModel: NSCopying {
  /// Returns a copy of the model with copies of its entities, properties, and indexes.
  ///
  /// The copy is mutable even if the model is in use. **Cost:** linear in the size of the model.
  ///
  /// - Parameter zone: Ignored.
  /// - Returns: An `NSManagedObjectModel`.
  public func copy(with zone: NSZone? = nil) -> Any {
    ModelCopier().copy([self])
  }
}

extension NSPropertyDescription: NSCopying {
  /// Returns a copy of the property that doesn't belong to an entity.
  ///
  /// The copy is mutable even if the model is in use. That of a relationship has the same
  /// destination and inverse, which aren't changed.
  ///
  /// - Parameter zone: Ignored.
  /// - Returns: A property of the same class.
  public final func copy(with zone: NSZone?) -> Any {
    let copy = bareCopy()
    if let own = self as? NSRelationshipDescription, let made = copy as? NSRelationshipDescription {
      made.destinationEntity = own.destinationEntity
      made.inverseRelationship = own.inverseRelationship
      made.archivedEntities = own.archivedEntities
    }
    return copy
  }
}

extension NSEntityDescription: NSCopying {
  /// Returns a copy of the entity, with copies of the properties and indexes that it declares.
  ///
  /// The copy is mutable even if the model is in use. It isn't in a model and has no subentities;
  /// its superentity is that of the original. Relationships of the entity to itself refer to the
  /// copy, and others to their destinations. **Cost:** linear in the size of the entity.
  ///
  /// - Parameter zone: Ignored.
  /// - Returns: An `NSEntityDescription`.
  public func copy(with zone: NSZone?) -> Any {
    let copy = NSEntityDescription()
    copy.takeValues(from: self)
    copy.superentity = superentity
    copy.archivedEntities = archivedEntities
    var copies: [ObjectIdentifier: NSPropertyDescription] = [:]
    copy.properties = ownProperties.compactMap { property in
      let made = property.copy(with: zone) as? NSPropertyDescription
      copies[ObjectIdentifier(property)] = made
      return made
    }
    for case let relationship as NSRelationshipDescription in copy.ownProperties {
      if relationship.destinationEntity === self { relationship.destinationEntity = copy }
      guard let inverse = relationship.inverseRelationship,
        let made = copies[ObjectIdentifier(inverse)] as? NSRelationshipDescription
      else { continue }
      relationship.inverseRelationship = made
    }
    copy.uniquenessConstraints = uniquenessConstraintNames
    copy.compoundIndexes = compoundIndexNames
    copy.indexes = indexes.map { index in
      index.copy {
        ($0 as? NSExpressionDescription)?.bareCopy() ?? copies[ObjectIdentifier($0)] ?? $0
      }
    }
    return copy
  }
}

extension NSFetchIndexDescription: NSCopying {
  /// Returns a copy of the index for the same properties that doesn't belong to an entity.
  ///
  /// The copy is mutable even if the model is in use.
  ///
  /// - Parameter zone: Ignored.
  /// - Returns: An `NSFetchIndexDescription`.
  public func copy(with zone: NSZone?) -> Any {
    copy(mapping: { $0 })
  }
}
