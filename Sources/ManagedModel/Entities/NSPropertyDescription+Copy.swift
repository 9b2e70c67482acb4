extension NSPropertyDescription {
  /// A copy that may be changed and belongs to no entity.
  ///
  /// A relationship's copy has neither destination nor inverse.
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

  /// Takes the values of another property of the same class.
  ///
  /// Entity, destination, and inverse stay as they are. The elements of a composite attribute are
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
