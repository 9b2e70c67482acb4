extension ModelArchiveWriter {
  /// Returns the values of the model.
  mutating func fields(of model: NSManagedObjectModel) -> Fields {
    let entities = model.entities.sortedByName()
    var fields: Fields = [
      "NSEntities": knownKeysDictionary(
        entities.map { (key: string($0.name), value: reference(to: $0)) }),
      "NSFetchRequestTemplates": null,
      "NSVersionIdentifiers": set(
        model.versionIdentifiers.sorted { "\($0)" < "\($1)" }.map { any($0.base) }),
      "$class": classReference("NSManagedObjectModel"),
    ]
    if let localization = model.localizationDictionary {
      fields[ArchiveKey.localization] = dictionary(of: localization)
    }
    if let checksum = model.currentRecordedChecksum {
      fields[ArchiveKey.versionChecksum] = string(checksum)
    }
    if !model.fetchRequestTemplates.isEmpty {
      fields[ArchiveKey.templates] = array(model.fetchRequestTemplates.map { template($0) })
    }
    if !model.configurations.isEmpty {
      fields[ArchiveKey.configurations] = dictionary(
        model.configurations.map { name in
          let members = model.entities(forConfigurationName: name)?.compactMap(\.name) ?? []
          return (key: string(name), value: array(members.map { string($0) }))
        })
    }
    return fields
  }

  private mutating func template(_ template: FetchRequestTemplate) -> Value {
    dictionary(of: template.archived)
  }

  /// Returns the values of a model that contains only entities.
  mutating func fields(of entities: [NSEntityDescription]) -> Fields {
    let entities = entities.sortedByName()
    return [
      "NSEntities": knownKeysDictionary(
        entities.map { (key: string($0.name), value: reference(to: $0)) }),
      "NSVersionIdentifiers": set([]),
      "$class": classReference("NSManagedObjectModel"),
    ]
  }

  /// Adds a description's expression and result type, if it has an expression.
  mutating func add(_ computed: NSExpressionDescription, to fields: inout Fields) {
    fields[ArchiveKey.indexExpression] = string(computed.expression?.description)
    fields[ArchiveKey.expressionType] = .integer(Int64(computed.expressionResultType.rawValue))
  }

  /// Returns the values of an entity.
  mutating func fields(of entity: NSEntityDescription) -> Fields {
    let className = entity.managedObjectClassName.flatMap { $0 == "NSManagedObject" ? nil : $0 }
    var fields: Fields = [
      "NSEntityName": string(entity.name),
      "NSClassNameForEntity": string(className),
      "NSManagedObjectModel": modelReference,
      "NSSuperentity": reference(to: entity.superentity),
      "NSSubentities": mutableDictionary(
        entity.subentities.map { (key: string($0.name), value: reference(to: $0)) }),
      "NSProperties": mutableDictionary(
        entity.properties.map { (key: string($0.name), value: reference(to: $0, in: entity)) }),
      "NSFetchIndexDescriptions": mutableArray(entity.indexes.map { reference(to: $0) }),
      "NSCompoundIndexes": groups(entity.compoundIndexNames),
      "NSUserInfo": dictionary(of: entity.userInfo ?? [:]),
      "NSRenamingIdentifier": string(entity.renamingIdentifier),
      "NSVersionHashModifier": string(entity.versionHashModifier),
      "$class": classReference("NSEntityDescription"),
    ]
    if let shown = entity.coreSpotlightDisplayNameExpression {
      fields[ArchiveKey.spotlightName] = string(shown.description)
    }
    if !entity.unreadTexts.isEmpty {
      fields[ArchiveKey.unread] = dictionary(of: entity.unreadTexts)
    }
    if let hash = entity.currentRecordedHash {
      fields[ArchiveKey.versionHash] = data(hash)
    }
    if entity.isAbstract { fields["NSIsAbstract"] = .bool(true) }
    if !entity.uniquenessConstraints.isEmpty {
      fields["NSUniqueTuples"] = groups(entity.uniquenessConstraintNames)
    }
    return fields
  }

  /// Returns the values of a property, as archived for an entity.
  mutating func fields(
    of property: NSPropertyDescription, in entity: NSEntityDescription
  ) -> Fields {
    var fields = commonFields(of: property)
    fields["NSEntity"] = reference(to: entity)
    switch property {
    case let attribute as NSAttributeDescription: add(attribute, to: &fields)
    case let relationship as NSRelationshipDescription: add(relationship, to: &fields)
    case let fetched as NSFetchedPropertyDescription:
      if let request = fetched.template { fields[ArchiveKey.templates] = template(request) }
      fields["$class"] = classReference("NSFetchedPropertyDescription", "NSPropertyDescription")
    case let computed as NSExpressionDescription:
      add(computed, to: &fields)
      fields["$class"] = classReference("NSExpressionDescription", "NSPropertyDescription")
    default: fields["$class"] = classReference("NSPropertyDescription")
    }
    return fields
  }

  /// Returns the values that properties of entities and elements of composites have in common.
  private mutating func commonFields(of property: NSPropertyDescription) -> Fields {
    var bits = ArchiveKey.alwaysSet
    if property.isOptional { bits |= ArchiveKey.optional }
    if property.isTransient { bits |= ArchiveKey.transient }
    var fields: Fields = [
      "NSPropertyName": string(property.name),
      "NSRenamingIdentifier": string(property.renamingIdentifier),
      "_P": .integer(Int64(bits)),
    ]
    if property.isOptional { fields["NSIsOptional"] = .bool(true) }
    if property.isTransient { fields["NSIsTransient"] = .bool(true) }
    if property.isIndexed { fields["NSIsIndexed"] = .bool(true) }
    if property.isIndexedBySpotlight { fields[ArchiveKey.spotlight] = .bool(true) }
    if let modifier = property.versionHashModifier {
      fields["NSVersionHashModifier"] = string(modifier)
    }
    if !property.unreadTexts.isEmpty {
      fields[ArchiveKey.unread] = dictionary(of: property.unreadTexts)
    }
    if let info = property.userInfo { fields["NSUserInfo"] = dictionary(of: info) }
    if let rules = property.explicitValidation {
      let pairs = zip(rules.predicates, rules.warnings).map { predicate, warning in
        array([string(predicate.predicateFormat), any(warning)])
      }
      fields[ArchiveKey.validation] = array(pairs)
    }
    return fields
  }

  private mutating func add(_ attribute: NSAttributeDescription, to fields: inout Fields) {
    fields["NSAttributeType"] = .integer(Int64(attribute.attributeType.rawValue))
    fields["NSAttributeValueClassName"] = string(attribute.attributeValueClassName)
    fields["NSValueTransformerName"] = string(attribute.valueTransformerName)
    fields["NSDefaultValue"] = any(attribute.typedDefaultValue ?? attribute.defaultValue)
    var flags = 0
    if attribute.allowsExternalBinaryDataStorage { flags |= ArchiveKey.external }
    if attribute.preservesValueInHistoryOnDeletion { flags |= ArchiveKey.preserved }
    fields["NSFlagsKey"] = .integer(Int64(flags))
    if attribute.allowsCloudEncryption { fields[ArchiveKey.encrypted] = .bool(true) }
    let rule = attribute.valueRule
    if let minimum = rule.minimum { fields[ArchiveKey.minimum] = string(minimum) }
    if let maximum = rule.maximum { fields[ArchiveKey.maximum] = string(maximum) }
    if let pattern = rule.pattern { fields[ArchiveKey.pattern] = string(pattern) }
    if let text = attribute.derivationText {
      fields[ArchiveKey.derivation] = string(text)
      fields["$class"] = classReference(
        "NSDerivedAttributeDescription", "NSAttributeDescription", "NSPropertyDescription")
    } else if let composite = attribute as? NSCompositeAttributeDescription {
      let elements = composite.elements.map { element in
        var fields = commonFields(of: element)
        add(element, to: &fields)
        return add(fields)
      }
      fields[ArchiveKey.elements] = array(elements)
      fields["$class"] = classReference(
        "NSCompositeAttributeDescription", "NSAttributeDescription", "NSPropertyDescription")
    } else {
      fields["$class"] = classReference("NSAttributeDescription", "NSPropertyDescription")
    }
  }

  private mutating func add(
    _ relationship: NSRelationshipDescription, to fields: inout Fields
  ) {
    let inverse = relationship.inverseRelationship
    fields["NSDestinationEntity"] = reference(to: relationship.destinationEntity)
    fields["_NSDestinationEntityName"] = string(
      relationship.destinationEntity?.name ?? relationship.unreadTexts["destinationEntity"])
    fields["NSInverseRelationship"] = reference(to: inverse, in: inverse?.entity)
    fields["_NSInverseRelationshipName"] = string(
      inverse?.name ?? relationship.unreadTexts["inverseName"])
    fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
    fields["NSMinCount"] = .integer(Int64(relationship.minCount))
    fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    if relationship.isOrdered { fields["NSIsOrdered"] = .bool(true) }
    fields["$class"] = classReference("NSRelationshipDescription", "NSPropertyDescription")
  }
}
