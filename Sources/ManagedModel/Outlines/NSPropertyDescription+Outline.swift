extension NSPropertyDescription {
  /// The property on one line.
  package final var outline: String {
    let kind =
      switch self {
      case is NSAttributeDescription: "attribute"
      case is NSRelationshipDescription: "relationship"
      case is NSFetchedPropertyDescription: "fetched property"
      default: "property"
      }
    return (["\(kind) \(name)"] + facts).joined(separator: ", ")
  }

  /// What is to be said of the property, its kind and name aside: type or destination first.
  package final var facts: [String] {
    var facts: [String] =
      switch self {
      case let attribute as NSAttributeDescription: attribute.attributeFacts
      case let relationship as NSRelationshipDescription: relationship.relationshipFacts
      case let fetched as NSFetchedPropertyDescription:
        [fetched.template?.outline ?? "without a request"]
      case let computed as NSExpressionDescription:
        [
          "\(computed.expression.map { "\($0)" } ?? "")",
          computed.expressionResultType.documentName,
        ]
      default: []
      }
    if isOptional { facts.append("optional") }
    if isTransient { facts.append("transient") }
    if isIndexed { facts.append("indexed") }
    if isIndexedBySpotlight { facts.append("in Spotlight") }
    facts += NSEntityDescription.facts(
      renaming: explicitRenamingIdentifier, name: name, modifier: versionHashModifier,
      userInfo: userInfo)
    return facts
  }
}

extension NSAttributeDescription {
  fileprivate var attributeFacts: [String] {
    var facts = [attributeType.documentName]
    if let defaultValue { facts.append("default \(typedDefaultValue ?? defaultValue)") }
    if let explicitValueClassName { facts.append("values \(explicitValueClassName)") }
    if let valueTransformerName { facts.append("transformer \(valueTransformerName)") }
    if let derivationText { facts.append("derived \(derivationText)") }
    if let composite = self as? NSCompositeAttributeDescription {
      facts.append("of (\(composite.elements.map(\.outline).joined(separator: "; ")))")
    }
    if allowsExternalBinaryDataStorage { facts.append("external") }
    if allowsCloudEncryption { facts.append("encrypted") }
    if preservesValueInHistoryOnDeletion { facts.append("kept in history") }
    if let minimum = valueRule.minimum { facts.append("at least \(minimum)") }
    if let maximum = valueRule.maximum { facts.append("at most \(maximum)") }
    if let pattern = valueRule.pattern { facts.append("matching \(pattern)") }
    if let explicitValidation {
      let rules = zip(explicitValidation.predicates, explicitValidation.warnings)
      facts += rules.map { "valid if \($0.predicateFormat), else \($1)" }
    }
    return facts
  }
}

extension NSRelationshipDescription {
  fileprivate var relationshipFacts: [String] {
    var facts = [isToMany ? "to many" : "to one"]
    facts.append(destinationEntity?.name ?? "nowhere")
    if isOrdered { facts.append("ordered") }
    if minCount != 0 { facts.append("at least \(minCount)") }
    if maxCount > 1 { facts.append("at most \(maxCount)") }
    facts.append("delete \(deleteRule.documentName)")
    if let inverseRelationship { facts.append("inverse \(inverseRelationship)") }
    return facts
  }
}
