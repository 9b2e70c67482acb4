/// Writes a model as the `contents` of a `.xcdatamodel` folder, in Xcode's form.
///
/// It collects the parts of the model that the format can't represent.
struct ModelDocumentWriter {
  /// The parts of the model that the document omits.
  private(set) var losses: [ModelError] = []

  /// Returns the document.
  mutating func write(_ model: NSManagedObjectModel) -> String {
    var root = DocumentTag("model")
    root.set("type", "com.apple.IDECoreDataModeler.DataModel")
    root.set("documentVersion", "1.0")
    root.set("lastSavedToolsVersion", "22758")
    root.set("systemVersion", "23E224")
    root.set("minimumToolsVersion", "Automatic")
    root.set("sourceLanguage", "Swift")
    root.set("userDefinedModelVersionIdentifier", identifier(of: model))
    if model.localizationDictionary?.isEmpty == false {
      lose("the localization dictionary", "Set it in code.")
    }
    for entity in model.entities { root.add(tag(of: entity)) }
    for request in model.fetchRequestTemplates { root.add(tag(of: request)) }
    for name in model.configurations { root.add(configuration(name, of: model)) }
    for (element, key) in root.unrepresentable {
      lose("control characters, as in the \(key) of the \(element)", "Remove them.")
    }
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    root.write(to: &text)
    text.removeLast()
    return text
  }

  /// Records that the document omits something.
  mutating func lose(
    _ what: String, _ nextStep: String, of entity: NSEntityDescription? = nil,
    property: String? = nil
  ) {
    losses.append(
      ModelError(
        "A model document can't contain \(what).", nextStep: nextStep, entity: entity?.name,
        property: property))
  }

  private mutating func identifier(of model: NSManagedObjectModel) -> String? {
    let texts = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    if texts.count != model.versionIdentifiers.count || texts.count > 1 {
      lose(
        "more than one version identifier, or one that isn't a string",
        "Keep the compiled model too.")
    }
    return texts.first
  }

  private mutating func tag(of entity: NSEntityDescription) -> DocumentTag {
    var tag = DocumentTag("entity")
    tag.set("name", entity.name ?? "")
    let className = entity.managedObjectClassName
    tag.set("representedClassName", className == "NSManagedObject" ? nil : className)
    tag.set("parentEntity", entity.superentity?.name)
    tag.set("isAbstract", if: entity.isAbstract)
    tag.set("elementID", entity.explicitRenamingIdentifier)
    tag.set("versionHashModifier", entity.versionHashModifier)
    tag.set("syncable", entity.isSyncable ? "YES" : "NO")
    tag.set("codeGenerationType", entity.codeGenerationType)
    tag.set(
      "coreSpotlightDisplayNameExpression", entity.coreSpotlightDisplayNameExpression?.description)
    tag.set(unread: entity.unreadTexts)
    for property in entity.ownProperties { tag.add(self.tag(of: property, in: entity)) }
    for index in entity.indexes { tag.add(self.tag(of: index)) }
    tag.add(
      groups(entity.compoundIndexNames, "compoundIndex", part: "index"), in: "compoundIndexes")
    tag.add(
      groups(entity.uniquenessConstraintNames, "uniquenessConstraint", part: "constraint"),
      in: "uniquenessConstraints")
    tag.add(entries(of: entity.userInfo, of: entity), in: "userInfo")
    return tag
  }

  private func groups(_ groups: [[String]], _ name: String, part: String) -> [DocumentTag] {
    groups.map { members in
      var group = DocumentTag(name)
      for member in members {
        var tag = DocumentTag(part)
        tag.set("value", member)
        group.add(tag)
      }
      return group
    }
  }

  private func tag(of index: NSFetchIndexDescription) -> DocumentTag {
    var tag = DocumentTag("fetchIndex")
    tag.set("name", index.name)
    tag.set("partialIndexPredicate", index.partialIndexPredicate?.predicateFormat)
    tag.set(unread: index.unreadTexts)
    for element in index.elements {
      var part = DocumentTag("fetchIndexElement")
      if let computed = element.property as? NSExpressionDescription, !computed.isPlainName {
        part.set("expression", computed.expression?.description)
        part.set(
          "expressionType",
          computed.expressionResultType == .undefinedAttributeType
            ? nil : computed.expressionResultType.documentName)
      } else {
        part.set("property", element.propertyName)
      }
      part.set("type", element.collationType == .rTree ? "RTree" : "Binary")
      part.set("order", element.isAscending ? "ascending" : "descending")
      tag.add(part)
    }
    return tag
  }

  /// Returns the element of a fetch request, either the model's or a fetched property's.
  mutating func tag(of request: FetchRequestTemplate) -> DocumentTag {
    var tag = DocumentTag("fetchRequest")
    tag.set("name", request.name)
    tag.set("entity", request.entityName)
    tag.set("predicateString", request.predicateFormat)
    tag.set("fetchLimit", count: request.fetchLimit)
    tag.set("fetchBatchSize", count: request.fetchBatchSize)
    tag.set("resultType", count: Int(clamping: request.resultType))
    tag.set("includeSubentities", request.includesSubentities, unless: true)
    tag.set("includePropertyValues", request.includesPropertyValues, unless: true)
    tag.set("includesPendingChanges", request.includesPendingChanges, unless: true)
    tag.set("returnObjectsAsFaults", request.returnsObjectsAsFaults, unless: true)
    tag.set("returnDistinctResults", request.returnsDistinctResults, unless: false)
    if !request.sortDescriptors.isEmpty {
      lose("the order of the fetch request \(request.name)", "Set it in code.")
    }
    if request.predicate != nil, (try? request.readPredicate()) == nil {
      lose(
        "the predicate of the fetch request \(request.name), which has no format string",
        "Set it in code.")
    }
    for property in request.original?.unwrittenProperties ?? [] {
      lose("the \(property) of the fetch request \(request.name)", "Set it in code.")
    }
    return tag
  }

  private func configuration(_ name: String, of model: NSManagedObjectModel) -> DocumentTag {
    var tag = DocumentTag("configuration")
    tag.set("name", name)
    for entity in model.entities(forConfigurationName: name) ?? [] {
      var member = DocumentTag("memberEntity")
      member.set("name", entity.name ?? "")
      tag.add(member)
    }
    return tag
  }

  /// Returns the `userInfo` entries of an entity or a property, sorted by key.
  mutating func entries(
    of info: [AnyHashable: Any]?, of entity: NSEntityDescription, property: String? = nil
  ) -> [DocumentTag] {
    let sorted = (info ?? [:]).sorted { "\($0.key)" < "\($1.key)" }
    return sorted.compactMap { key, value in
      guard let key = key.base as? String, let value = value as? String else {
        lose(
          "a user info entry that isn't a string: \(key)", "Write it as text.", of: entity,
          property: property)
        return nil
      }
      guard DocumentCharacters.canHold(key), DocumentCharacters.canHold(value) else {
        lose(
          "a user info entry with control characters: \(key)", "Remove them.", of: entity,
          property: property)
        return nil
      }
      var tag = DocumentTag("entry")
      tag.set("key", key)
      tag.set("value", value)
      return tag
    }
  }
}

extension ModelDocumentWriter {
  /// Returns the element of a property.
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
    guard attribute.attributeType.hasDefaultText, let text = DefaultValueText.text(of: value),
      DocumentCharacters.canHold(text)
    else {
      return lose(
        "the default value \(value)", "Set it in awakeFromInsert.", of: entity,
        property: attribute.name)
    }
    tag.set("defaultValueString", text)
  }

  /// Writes the limits, including those that were set as predicates of the usual forms.
  private mutating func addRule(
    of attribute: NSAttributeDescription, to tag: inout DocumentTag,
    in entity: NSEntityDescription
  ) {
    let type = attribute.attributeType
    var rule = attribute.valueRule
    if let set = attribute.explicitValidation {
      rule = ValueRule(predicates: set.predicates, type: type) ?? ValueRule()
      if rule.isEmpty {
        loseRules(of: attribute, in: entity)
      } else if set.warnings.contains(where: { $0 is String }) {
        lose(
          "the messages of these validation predicates", "Set them in code.", of: entity,
          property: attribute.name)
      }
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
  /// Whether generated code can declare the value as a scalar type.
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
