extension NSManagedObjectModel {
  /// The model as text, with one fact per line.
  ///
  /// Two models with the same outline describe the same data in the same way. Names are sorted, so
  /// that the order of entities and properties doesn't matter. Content that only code generation
  /// and the model editor use is omitted, as in compiled models.
  package var outline: [String] {
    var lines = ["model \(versionIdentifiers.map { "\($0)" }.sorted())"]
    for entity in entities.sortedByName() {
      lines += entity.outline
    }
    for name in configurations {
      let members = entities(forConfigurationName: name)?.compactMap(\.name).sorted() ?? []
      lines.append("configuration \(name): \(members.joined(separator: ", "))")
    }
    for template in fetchRequestTemplates.sorted(by: { $0.name < $1.name }) {
      lines.append("fetch request \(template.outline)")
    }
    return lines
  }
}

extension FetchRequestTemplate {
  /// The template as one line.
  var outline: String {
    var facts = ["\(name): \(entityName)" + (predicateFormat.map { " where \($0)" } ?? "")]
    if !sortDescriptors.isEmpty {
      let keys = sortDescriptors.map { descriptor in
        let comparison = descriptor.comparison?.rawValue ?? "block"
        return (descriptor.key ?? "?") + (descriptor.comparison == .binary ? "" : " \(comparison)")
          + (descriptor.ascending ? "" : " descending")
      }
      facts.append("by \(keys.joined(separator: " and "))")
    }
    if fetchLimit != 0 { facts.append("at most \(fetchLimit)") }
    if fetchBatchSize != 0 { facts.append("\(fetchBatchSize) at a time") }
    if resultType != 0 { facts.append("result type \(resultType)") }
    if !includesSubentities { facts.append("without subentities") }
    if !includesPropertyValues { facts.append("without values") }
    if !includesPendingChanges { facts.append("without pending changes") }
    if !returnsObjectsAsFaults { facts.append("no faults") }
    if returnsDistinctResults { facts.append("distinct") }
    return facts.joined(separator: ", ")
  }
}

extension NSEntityDescription {
  /// The entity as text, with one fact per line; only its own properties, sorted.
  package var outline: [String] {
    var facts = ["entity \(name ?? "")", "class \(managedObjectClassName ?? "")"]
    if let superentity { facts.append("below \(superentity)") }
    if isAbstract { facts.append("abstract") }
    facts += Self.facts(
      renaming: explicitRenamingIdentifier, name: name, modifier: versionHashModifier,
      userInfo: userInfo)
    if let shown = coreSpotlightDisplayNameExpression { facts.append("shown as \(shown)") }
    var lines = [facts.joined(separator: ", ")]
    lines += ownProperties.sortedByName().map { "  " + $0.outline }
    lines += indexes.sorted { $0.name < $1.name }.map { "  " + $0.outline }
    lines += compoundIndexNames.map { "  compound index \($0.joined(separator: ", "))" }
    lines += uniquenessConstraintNames.map { "  unique \($0.joined(separator: ", "))" }
    return lines
  }

  static func facts(
    renaming: String?, name: String?, modifier: String?, userInfo: [AnyHashable: Any]?
  ) -> [String] {
    var facts: [String] = []
    if let renaming, renaming != name { facts.append("formerly \(renaming)") }
    if let modifier { facts.append("hash modifier \(modifier)") }
    if let userInfo, !userInfo.isEmpty {
      let entries = userInfo.map { "\($0.key)=\(OutlineText.of($0.value))" }
      facts.append("info \(entries.sorted())")
    }
    return facts
  }
}

extension NSFetchIndexDescription {
  /// The index as one line.
  var outline: String { "index \(name): \(parts)" }

  /// The elements of the index, in their order, and its predicate.
  package var parts: String {
    let parts = elements.map { element in
      (element.propertyName ?? "?") + (element.isAscending ? "" : " descending")
        + (element.collationType == .rTree ? " range" : "")
    }
    let condition = partialIndexPredicate.map { " where \($0.predicateFormat)" } ?? ""
    return parts.joined(separator: ", ") + condition
  }
}

extension NSPropertyDescription {
  /// The property as one line.
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

  /// The description of the property without its kind and name, beginning with the type or
  /// destination.
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
    if let defaultValue {
      facts.append("default \(OutlineText.of(typedDefaultValue ?? defaultValue))")
    }
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
