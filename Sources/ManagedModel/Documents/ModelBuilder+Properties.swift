extension ModelBuilder {
  /// Adds the attributes, relationships, and fetched properties of an entity, in their order.
  func addProperties(to entity: NSEntityDescription, from element: DocumentElement) {
    var properties: [NSPropertyDescription] = []
    for child in element.children {
      guard Self.propertyTags.contains(child.name),
        let name = reader(child, entity).required("name")
      else { continue }
      let reader = reader(child, entity, property: name)
      if let hidden = entity.superentity?.propertiesByName[name] {
        reader.warn(
          "The parent \(hidden.entity?.name ?? "") already has a property \(name), which is used instead.",
          "Rename one of them, or remove this one.", at: "name")
        continue
      }
      let property: NSPropertyDescription =
        switch child.name {
        case "attribute", "composite", "compositeAttribute": attribute(reader)
        case "relationship": relationship(reader)
        default: fetchedProperty(reader)
        }
      read(property, named: name, reader)
      propertyElements[ObjectIdentifier(property)] = child
      properties.append(property)
    }
    entity.properties = properties
  }

  private static let propertyTags: Set = [
    "attribute", "composite", "compositeAttribute", "relationship", "fetchedProperty",
  ]

  /// Reads the values that all kinds of properties have in common.
  func read(_ property: NSPropertyDescription, named name: String, _ reader: ElementReader) {
    property.name = name
    property.isOptional = reader.flag("optional")
    property.isTransient = reader.flag("transient")
    property.isIndexed = reader.flag("indexed")
    property.isIndexedBySpotlight = reader.flag("spotlightIndexingEnabled")
    property.isSyncable = reader.flag("syncable", otherwise: true)
    property.explicitRenamingIdentifier = reader.text("elementID")
    property.versionHashModifier = reader.text("versionHashModifier")
    property.userInfo = userInfo(of: reader.element)
  }

  func attribute(_ reader: ElementReader) -> NSAttributeDescription {
    let type = attributeType(reader)
    let attribute: NSAttributeDescription =
      if type == .compositeAttributeType {
        composite(reader)
      } else if reader.flag("derived") { derived(reader) } else { NSAttributeDescription() }
    attribute.attributeType = type
    attribute.explicitValueClassName = reader.text("customClassName")
    attribute.valueTransformerName = reader.text("valueTransformerName")
    attribute.allowsExternalBinaryDataStorage = reader.flag("allowsExternalBinaryDataStorage")
    attribute.allowsCloudEncryption = reader.flag("allowsCloudEncryption")
    attribute.preservesValueInHistoryOnDeletion = reader.flag("preserveAfterDeletion")
    attribute.usesScalarValueType = reader.flag("usesScalarValueType", otherwise: true)
    attribute.valueRule = ValueRule(
      minimum: limit(reader, "min", attribute.attributeType),
      maximum: limit(reader, "max", attribute.attributeType),
      pattern: reader.text("regularExpressionString"))
    attribute.defaultValue = defaultValue(reader, type: attribute.attributeType)
    return attribute
  }

  private func attributeType(_ reader: ElementReader) -> NSAttributeType {
    guard reader.element.name == "attribute" else { return .compositeAttributeType }
    // Documents contain both spellings.
    if reader.text("attributeType") == "ObjectID" { return .objectIDAttributeType }
    return reader.choice("attributeType", NSAttributeType.allCases, name: \.documentName)
      ?? .undefinedAttributeType
  }

  /// Returns a limit of an element, or `nil` for a limit that remains from an earlier type of the
  /// attribute.
  private func limit(
    _ reader: ElementReader, _ side: String, _ type: NSAttributeType
  ) -> String? {
    guard type.hasLimits else { return nil }
    let keys = ["\(side)DateTimeInterval", "\(side)ValueString"]
    for key in keys.dropFirst(type == .dateAttributeType ? 0 : 1) {
      guard let text = reader.text(key) else { continue }
      if ValueRule.isLimit(text, for: type) { return text }
      reader.warn(
        "\(key) is \"\(text)\", which isn't a limit for the type \(type.documentName).",
        type == .stringAttributeType ? "Write a length." : Self.hint(type, at: key), at: key)
    }
    return nil
  }

  /// Returns the advice on what to write as a default value or limit, as a sentence.
  private static func hint(_ type: NSAttributeType, at key: String) -> String {
    guard type == .dateAttributeType else { return DefaultValueText.hint(type) }
    let name = key.replacing("ValueString", with: "DateTimeInterval")
    return "Write \(name == key ? "" : "\(name), ")the seconds since 2001-01-01 UTC."
  }

  private func defaultValue(_ reader: ElementReader, type: NSAttributeType) -> Any? {
    let key =
      type == .dateAttributeType && reader.text("defaultDateTimeInterval") != nil
      ? "defaultDateTimeInterval" : "defaultValueString"
    guard let text = reader.element.attributes[key] else { return nil }
    if text.isEmpty, type != .stringAttributeType { return nil }
    // The value remains from an earlier type of the attribute; the editor keeps it without showing
    // it.
    guard type.hasDefaultText else { return nil }
    if let value = DefaultValueText.value(text, type: type) { return value }
    reader.warn(
      "The default value \"\(text)\" doesn't fit the type \(type.documentName).",
      Self.hint(type, at: key), at: key)
    return nil
  }

  private func relationship(_ reader: ElementReader) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    let isToMany = reader.flag("toMany")
    relationship.maxCount = reader.count("maxCount") ?? (isToMany ? 0 : 1)
    relationship.minCount = reader.count("minCount") ?? 0
    relationship.isOrdered = reader.flag("ordered")
    relationship.deleteRule =
      reader.choice("deletionRule", NSDeleteRule.allCases, name: \.documentName)
      ?? .nullifyDeleteRule
    if let name = reader.wanted("destinationEntity") {
      relationship.destinationEntity = entity(named: name, for: reader, at: "destinationEntity")
    }
    relationships.append((relationship, reader.element))
    return relationship
  }

  private func fetchedProperty(_ reader: ElementReader) -> NSFetchedPropertyDescription {
    let property = NSFetchedPropertyDescription()
    property.template = reader.element.children(named: "fetchRequest").first.flatMap {
      fetchRequest($0)
    }
    return property
  }

  /// Sets the inverses that the elements name, except those that don't match.
  func linkInverses() {
    for (relationship, element) in relationships { linkInverse(of: relationship, element) }
    let elements = Dictionary(
      relationships.map { (ObjectIdentifier($0.relationship), $0.element) },
      uniquingKeysWith: { first, _ in first })
    for oneSided in OneSidedInverse.remove(from: relationships.map(\.relationship)) {
      let relationship = oneSided.relationship
      guard let element = elements[ObjectIdentifier(relationship)] else { continue }
      reader(element, relationship.entity, property: relationship.name)
        .warn(oneSided.message, oneSided.nextStep, at: "inverseName")
      element.unread.merge(relationship.unreadTexts) { first, _ in first }
    }
  }

  private func linkInverse(of relationship: NSRelationshipDescription, _ element: DocumentElement) {
    let reader = reader(element, relationship.entity, property: relationship.name)
    guard let name = reader.text("inverseName") else { return }
    guard let destination = relationship.destinationEntity else {
      for key in ["inverseName", "inverseEntity"] { element.unread[key] = element.attributes[key] }
      return
    }
    if let inverse = destination.relationshipsByName[name] {
      relationship.inverseRelationship = inverse
      return
    }
    element.unread["inverseEntity"] = element.attributes["inverseEntity"]
    reader.warn(
      "The destination \(destination) has no relationship \(name).",
      reader.suggestion(
        for: name, among: destination.relationshipsByName.keys,
        otherwise: "Add it, or specify another inverse."),
      at: "inverseName")
  }
}

extension ModelBuilder {
  /// Returns a derived attribute with its expression.
  func derived(_ reader: ElementReader) -> NSDerivedAttributeDescription {
    let attribute = NSDerivedAttributeDescription()
    guard let text = reader.wanted("derivationExpression") else { return attribute }
    attribute.derivationExpression = expression(text, reader, at: "derivationExpression")
    return attribute
  }

  /// Returns the expression in an attribute of a tag.
  ///
  /// An expression that can't be parsed adds a warning.
  func expression(_ text: String, _ reader: ElementReader, at key: String) -> NSExpression? {
    guard mayParse(text, reader) else { return nil }
    do {
      return try NSExpression.parse(text, arguments: [])
    } catch {
      reader.warn(
        "The expression \"\(text)\" can't be read: \(error.message) (character \(error.column)).",
        error.suggestion.map { "Did you mean \($0)?" } ?? "Write a complete expression.", at: key)
      return nil
    }
  }

  /// Counts a predicate or an expression that is to be parsed, and returns whether it may be.
  ///
  /// Adds an error if all of them are too long.
  func mayParse(_ format: String, _ reader: ElementReader) -> Bool {
    formatBytes += format.utf8.count
    if formatBytes <= ModelLimits.formats { return true }
    reader.report(ModelError.longFormats, nil)
    return false
  }

  /// Returns a composite attribute with its elements.
  ///
  /// The elements are inside the tag, or inside a `composite` element that an attribute of the tag
  /// names.
  func composite(_ reader: ElementReader) -> NSCompositeAttributeDescription {
    let attribute = NSCompositeAttributeDescription()
    let home =
      Self.elements(in: reader.element).isEmpty ? declaration(for: reader) : reader.element
    guard let home else { return attribute }
    guard openComposites.count < ModelLimits.compositeDepth,
      openComposites.insert(ObjectIdentifier(home)).inserted
    else {
      reader.report(
        "The composite attribute contains itself, or composites nested more than "
          + "\(ModelLimits.compositeDepth) levels deep.", "Remove one of the elements.", at: "name")
      return attribute
    }
    defer { openComposites.remove(ObjectIdentifier(home)) }
    var names: Set<String> = []
    for child in Self.elements(in: home) {
      guard compositeElements < ModelLimits.compositeElements else {
        reader.report(
          "The model has more than \(ModelLimits.compositeElements) elements of composites.", nil)
        break
      }
      compositeElements += 1
      let inner = ElementReader(
        element: child, entity: reader.entity, property: reader.property, errors: errors)
      guard let name = inner.wanted("name") else { continue }
      guard names.insert(name).inserted else {
        inner.warn(
          "There are two elements named \(name).", "Rename one of them.", at: "name")
        continue
      }
      let element = self.attribute(inner)
      read(element, named: name, inner)
      attribute.elements.append(element)
    }
    return attribute
  }

  /// Returns the elements of a composite inside a tag.
  private static func elements(in home: DocumentElement) -> [DocumentElement] {
    home.children.filter {
      ["attribute", "composite", "compositeAttribute", "compositeElement"].contains($0.name)
    }
  }

  private func declaration(for reader: ElementReader) -> DocumentElement? {
    let names = Set(reader.element.attributes.filter { $0.key != "name" }.values)
    return composites.first { names.contains($0.attributes["name"] ?? "") }
  }
}
