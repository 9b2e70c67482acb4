extension ModelDocumentWriter {
  /// The element of a property.
  mutating func tag(
    of property: NSPropertyDescription, in entity: NSEntityDescription
  ) -> DocumentTag {
    switch property {
    case let attribute as NSAttributeDescription: tag(of: attribute, in: entity)
    case let relationship as NSRelationshipDescription: tag(of: relationship, in: entity)
    default: fetchedPropertyTag(property, in: entity)
    }
  }

  private mutating func tag(
    of attribute: NSAttributeDescription, in entity: NSEntityDescription
  ) -> DocumentTag {
    var tag = DocumentTag("attribute")
    begin(&tag, attribute)
    if attribute.attributeType != .undefinedAttributeType {
      tag.set("attributeType", attribute.attributeType.documentName)
    }
    addRule(of: attribute, to: &tag, in: entity)
    addDefault(of: attribute, to: &tag, in: entity)
    let isNumber = attribute.attributeType.hasScalarForm
    tag.set(
      "usesScalarValueType",
      isNumber || !attribute.usesScalarValueType
        ? attribute.usesScalarValueType ? "YES" : "NO" : nil)
    tag.set("valueTransformerName", attribute.valueTransformerName)
    tag.set("customClassName", attribute.explicitValueClassName)
    tag.set("allowsExternalBinaryDataStorage", if: attribute.allowsExternalBinaryDataStorage)
    tag.set("allowsCloudEncryption", if: attribute.allowsCloudEncryption)
    tag.set("preserveAfterDeletion", if: attribute.preservesValueInHistoryOnDeletion)
    if let derived = attribute as? NSDerivedAttributeDescription {
      tag.set("derived", if: true)
      tag.set("derivationExpression", derived.derivationExpression?.description)
    }
    end(&tag, attribute)
    for element in (attribute as? NSCompositeAttributeDescription)?.elements ?? [] {
      tag.add(self.tag(of: element, in: entity))
    }
    addEntries(of: attribute, to: &tag, in: entity)
    return tag
  }

  private mutating func tag(
    of relationship: NSRelationshipDescription, in entity: NSEntityDescription
  ) -> DocumentTag {
    var tag = DocumentTag("relationship")
    begin(&tag, relationship)
    tag.set("toMany", if: relationship.isToMany)
    tag.set("minCount", count: relationship.minCount)
    tag.set("maxCount", count: relationship.maxCount)
    tag.set("ordered", if: relationship.isOrdered)
    tag.set("deletionRule", relationship.deleteRule.documentName)
    tag.set("destinationEntity", relationship.destinationEntity?.name)
    tag.set("inverseName", relationship.inverseRelationship?.name)
    tag.set("inverseEntity", relationship.inverseRelationship?.entity?.name)
    end(&tag, relationship)
    addEntries(of: relationship, to: &tag, in: entity)
    loseRules(of: relationship, in: entity)
    return tag
  }

  private mutating func fetchedPropertyTag(
    _ property: NSPropertyDescription, in entity: NSEntityDescription
  ) -> DocumentTag {
    var tag = DocumentTag("fetchedProperty")
    begin(&tag, property)
    end(&tag, property)
    if let request = (property as? NSFetchedPropertyDescription)?.template {
      tag.add(self.tag(of: request))
    }
    addEntries(of: property, to: &tag, in: entity)
    loseRules(of: property, in: entity)
    return tag
  }

  private func begin(_ tag: inout DocumentTag, _ property: NSPropertyDescription) {
    tag.set("name", property.name)
    tag.set("optional", if: property.isOptional)
    tag.set("transient", if: property.isTransient)
  }

  private func end(_ tag: inout DocumentTag, _ property: NSPropertyDescription) {
    tag.set("indexed", if: property.isIndexed)
    tag.set("spotlightIndexingEnabled", if: property.isIndexedBySpotlight)
    tag.set("elementID", property.explicitRenamingIdentifier)
    tag.set("versionHashModifier", property.versionHashModifier)
    tag.set("syncable", property.isSyncable, unless: true)
    tag.set(unread: property.unreadTexts)
  }

  private mutating func addEntries(
    of property: NSPropertyDescription, to tag: inout DocumentTag, in entity: NSEntityDescription
  ) {
    tag.add(entries(of: property.userInfo, of: entity, property: property.name), in: "userInfo")
  }

  private mutating func addDefault(
    of attribute: NSAttributeDescription, to tag: inout DocumentTag,
    in entity: NSEntityDescription
  ) {
    guard let value = attribute.typedDefaultValue ?? attribute.defaultValue else { return }
    if let date = value as? Date, attribute.attributeType == .dateAttributeType {
      return tag.set(
        "defaultDateTimeInterval", DefaultValueText.text(date.timeIntervalSinceReferenceDate))
    }
    guard let text = DefaultValueText.text(of: value), DocumentCharacters.canHold(text) else {
      return lose(
        "the default value \(value)", "Set it in awakeFromInsert.", of: entity,
        property: attribute.name)
    }
    tag.set("defaultValueString", text)
  }

  /// Writes the limits, also those that were set as predicates of the usual forms.
  private mutating func addRule(
    of attribute: NSAttributeDescription, to tag: inout DocumentTag,
    in entity: NSEntityDescription
  ) {
    let type = attribute.attributeType
    var rule = attribute.valueRule
    if let set = attribute.explicitValidation {
      rule = ValueRule(predicates: set.predicates, type: type) ?? ValueRule()
      if rule.isEmpty, !set.predicates.isEmpty { loseRules(of: attribute, in: entity) }
    }
    let suffix = type == .dateAttributeType ? "DateTimeInterval" : "ValueString"
    tag.set("min\(suffix)", rule.minimum)
    tag.set("max\(suffix)", rule.maximum)
    tag.set("regularExpressionString", rule.pattern)
  }

  private mutating func loseRules(
    of property: NSPropertyDescription, in entity: NSEntityDescription
  ) {
    guard property.explicitValidation?.predicates.isEmpty == false else { return }
    lose(
      "these validation predicates", "Set them in code.", of: entity, property: property.name)
  }
}

extension NSAttributeType {
  /// Whether generated code may declare the value as a plain number.
  fileprivate var hasScalarForm: Bool {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType,
      .UUIDAttributeType:
      true
    default: false
    }
  }
}
