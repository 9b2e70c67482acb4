/// Writes a model as the `contents` of a `.xcdatamodel` folder, as Xcode writes it.
///
/// Collects what such a document cannot say.
struct ModelDocumentWriter {
  /// What of the model the document leaves out.
  private(set) var losses: [ModelError] = []

  /// The whole document.
  mutating func write(_ model: NSManagedObjectModel) -> String {
    var root = DocumentTag("model")
    root.set("type", "com.apple.IDECoreDataModeler.DataModel")
    root.set("documentVersion", "1.0")
    root.set("lastSavedToolsVersion", "22758")
    root.set("systemVersion", "23E224")
    root.set("minimumToolsVersion", "Automatic")
    root.set("sourceLanguage", "Swift")
    root.set("userDefinedModelVersionIdentifier", identifier(of: model))
    for entity in model.entities { root.add(tag(of: entity)) }
    for request in model.fetchRequestTemplates { root.add(tag(of: request)) }
    for name in model.configurations { root.add(configuration(name, of: model)) }
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    root.write(to: &text)
    text.removeLast()
    return text
  }

  /// Notes that the document leaves something out.
  mutating func lose(
    _ what: String, _ nextStep: String, of entity: NSEntityDescription? = nil,
    property: String? = nil
  ) {
    losses.append(
      ModelError(
        "A model document cannot hold \(what).", nextStep: nextStep, entity: entity?.name,
        property: property))
  }

  private mutating func identifier(of model: NSManagedObjectModel) -> String? {
    let texts = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    if texts.count != model.versionIdentifiers.count || texts.count > 1 {
      lose(
        "more than one version identifier, or one that is no text", "Keep the compiled model too.")
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

  /// The element of a fetch request, of the model or of a fetched property.
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

  /// The notes of an entity or a property, by key.
  mutating func entries(
    of info: [AnyHashable: Any]?, of entity: NSEntityDescription, property: String? = nil
  ) -> [DocumentTag] {
    let sorted = (info ?? [:]).sorted { "\($0.key)" < "\($1.key)" }
    return sorted.compactMap { key, value in
      guard let key = key.base as? String, let value = value as? String else {
        lose("a note that is no text: \(key)", "Write it as text.", of: entity, property: property)
        return nil
      }
      var tag = DocumentTag("entry")
      tag.set("key", key)
      tag.set("value", value)
      return tag
    }
  }
}
