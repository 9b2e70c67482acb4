/// Makes a whole copy of a model whose parts refer to each other and not to the original.
final class ModelCopier {
  private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
  private var properties: [ObjectIdentifier: NSPropertyDescription] = [:]

  /// Copies a model; the copy may be changed.
  func copy(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
    let copy = NSManagedObjectModel()
    for entity in model.entities { entities[ObjectIdentifier(entity)] = bare(entity) }
    let pairs = model.entities.compactMap { entity in
      entities[ObjectIdentifier(entity)].map { (entity, $0) }
    }
    for (entity, made) in pairs {
      made.subentities = entity.subentities.compactMap { entities[ObjectIdentifier($0)] }
    }
    for (entity, made) in pairs { made.properties = entity.ownProperties.map { bare($0) } }
    for (entity, made) in pairs { link(entity, made) }
    copy.entities = pairs.map(\.1)
    copy.versionIdentifiers = model.versionIdentifiers
    copy.fetchRequestTemplates = model.fetchRequestTemplates
    for name in model.configurations {
      let members = model.entities(forConfigurationName: name) ?? []
      copy.setEntities(
        members.compactMap { entities[ObjectIdentifier($0)] }, forConfigurationName: name)
    }
    return copy
  }

  private func bare(_ entity: NSEntityDescription) -> NSEntityDescription {
    let copy = NSEntityDescription()
    copy.name = entity.name
    copy.managedObjectClassName = entity.managedObjectClassName
    copy.isAbstract = entity.isAbstract
    copy.userInfo = entity.userInfo
    copy.versionHashModifier = entity.versionHashModifier
    copy.explicitRenamingIdentifier = entity.explicitRenamingIdentifier
    copy.codeGenerationType = entity.codeGenerationType
    copy.isSyncable = entity.isSyncable
    return copy
  }

  private func bare(_ property: NSPropertyDescription) -> NSPropertyDescription {
    let copy: NSPropertyDescription
    switch property {
    case let attribute as NSAttributeDescription: copy = bare(attribute)
    case let relationship as NSRelationshipDescription:
      let made = NSRelationshipDescription()
      made.deleteRule = relationship.deleteRule
      made.minCount = relationship.minCount
      made.maxCount = relationship.maxCount
      made.isOrdered = relationship.isOrdered
      copy = made
    case let fetched as NSFetchedPropertyDescription:
      let made = NSFetchedPropertyDescription()
      made.template = fetched.template
      copy = made
    default: copy = NSPropertyDescription()
    }
    copy.name = property.name
    copy.isOptional = property.isOptional
    copy.isTransient = property.isTransient
    copy.isIndexed = property.isIndexed
    copy.isSyncable = property.isSyncable
    copy.userInfo = property.userInfo
    copy.versionHashModifier = property.versionHashModifier
    copy.explicitRenamingIdentifier = property.explicitRenamingIdentifier
    copy.explicitValidation = property.explicitValidation
    copy.valueRule = property.valueRule
    properties[ObjectIdentifier(property)] = copy
    return copy
  }

  private func bare(_ attribute: NSAttributeDescription) -> NSAttributeDescription {
    let copy = NSAttributeDescription()
    copy.attributeType = attribute.attributeType
    copy.defaultValue = attribute.defaultValue
    copy.explicitValueClassName = attribute.explicitValueClassName
    copy.valueTransformerName = attribute.valueTransformerName
    copy.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    copy.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    copy.allowsCloudEncryption = attribute.allowsCloudEncryption
    copy.derivationExpression = attribute.derivationExpression
    copy.usesScalarValueType = attribute.usesScalarValueType
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
    copy.indexes = entity.indexes.map { bare($0) }
  }

  private func bare(_ index: NSFetchIndexDescription) -> NSFetchIndexDescription {
    let elements = index.elements.compactMap { element in
      element.property.flatMap { properties[ObjectIdentifier($0)] }.map { property in
        let copy = NSFetchIndexElementDescription(
          property: property, collationType: element.collationType)
        copy.isAscending = element.isAscending
        return copy
      }
    }
    let copy = NSFetchIndexDescription(name: index.name, elements: elements)
    copy.partialIndexPredicate = index.partialIndexPredicate
    return copy
  }
}
