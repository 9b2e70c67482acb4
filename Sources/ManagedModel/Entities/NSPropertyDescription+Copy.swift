extension NSPropertyDescription {
  /// A copy that may be changed and belongs to no entity.
  ///
  /// A relationship's copy has neither destination nor inverse.
  final func bareCopy() -> NSPropertyDescription {
    let copy: NSPropertyDescription
    switch self {
    case let attribute as NSAttributeDescription: copy = attribute.bareAttribute()
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
    case let computed as NSExpressionDescription:
      let made = NSExpressionDescription()
      made.expression = computed.expression
      made.expressionResultType = computed.expressionResultType
      copy = made
    default: copy = NSPropertyDescription()
    }
    copy.name = name
    copy.isOptional = isOptional
    copy.isTransient = isTransient
    copy.isIndexed = isIndexed
    copy.isIndexedBySpotlight = isIndexedBySpotlight
    copy.isSyncable = isSyncable
    copy.userInfo = userInfo
    copy.versionHashModifier = versionHashModifier
    copy.explicitRenamingIdentifier = explicitRenamingIdentifier
    copy.explicitValidation = explicitValidation
    copy.valueRule = valueRule
    copy.unreadTexts = unreadTexts
    return copy
  }
}

extension NSAttributeDescription {
  fileprivate final func bareAttribute() -> NSAttributeDescription {
    let copy: NSAttributeDescription
    switch self {
    case let derived as NSDerivedAttributeDescription:
      let made = NSDerivedAttributeDescription()
      made.derivationExpression = derived.derivationExpression
      copy = made
    case let composite as NSCompositeAttributeDescription:
      let made = NSCompositeAttributeDescription()
      made.elements = composite.elements.compactMap { $0.bareCopy() as? NSAttributeDescription }
      copy = made
    default: copy = NSAttributeDescription()
    }
    copy.attributeType = attributeType
    copy.defaultValue = defaultValue
    copy.explicitValueClassName = explicitValueClassName
    copy.valueTransformerName = valueTransformerName
    copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    copy.allowsCloudEncryption = allowsCloudEncryption
    copy.usesScalarValueType = usesScalarValueType
    return copy
  }
}
