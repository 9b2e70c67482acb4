extension ModelArchiveReader {
  /// Adds the properties that an entity declares.
  ///
  /// An archive repeats inherited properties in every subentity; these resolve to the ancestor's
  /// property.
  func addProperties(
    to entity: NSEntityDescription, from object: KeyedArchive.Object
  ) throws(ModelError) {
    let inherited = entity.superentity?.propertiesByName ?? [:]
    var own: [String: NSPropertyDescription] = [:]
    var unread = entity.superentity.flatMap { self.unread[ObjectIdentifier($0)] } ?? []
    defer { self.unread[ObjectIdentifier(entity)] = unread }
    for (key, value) in archive.entries(object.fields["NSProperties"]) {
      guard let property = archive.object(value) else { continue }
      guard
        let name = archive.string(property.fields["NSPropertyName"]) ?? archive.string(key),
        !name.isEmpty
      else {
        errors.append(
          ModelError("A property of the compiled model has no name.", entity: entity.name))
        continue
      }
      if let known = inherited[name] {
        propertiesByID[property.uid] = known
      } else if own[name] == nil, propertiesByID[property.uid] == nil, !unread.contains(name) {
        do {
          let made = try self.property(property, name: name, entity: entity)
          propertiesByID[property.uid] = made
          own[name] = made
        } catch {
          errors.append(error)
          unread.insert(name)
        }
      }
    }
    propertyCount += inherited.count + own.count
    guard propertyCount <= ModelLimits.properties else {
      throw ModelError("The compiled model has more than \(ModelLimits.properties) properties.")
    }
    entity.properties = own.values.sortedByName()
  }

  private func property(
    _ object: KeyedArchive.Object, name: String, entity: NSEntityDescription
  ) throws(ModelError) -> NSPropertyDescription {
    let fields = object.fields
    let property: NSPropertyDescription
    if fields["NSDestinationEntity"] != nil || fields["_NSDestinationEntityName"] != nil {
      property = relationship(object)
    } else if fields["NSAttributeType"] != nil {
      property = try attribute(object, name: name, entity: entity)
    } else if let computed = expressionDescription(fields) {
      property = computed
    } else {
      let fetched = NSFetchedPropertyDescription()
      fetched.template = template(fields[ArchiveKey.templates])
      property = fetched
    }
    property.name = name
    property.isOptional = isOptional(fields)
    property.isTransient = isTransient(fields)
    addCommon(to: property, fields, name: name)
    return property
  }

  /// Reads the values that properties of entities and elements of composites have in common.
  private func addCommon(
    to property: NSPropertyDescription, _ fields: [String: BinaryPropertyList.Value], name: String
  ) {
    property.isIndexed = archive.flag(fields["NSIsIndexed"])
    property.isIndexedBySpotlight = archive.flag(fields[ArchiveKey.spotlight])
    property.versionHashModifier = archive.string(fields["NSVersionHashModifier"])
    property.explicitRenamingIdentifier = renaming(fields, name: name)
    property.userInfo = userInfo(fields)
    property.unreadTexts = unreadTexts(fields)
    addValidation(to: property, fields)
  }

  /// Reads validation predicates.
  ///
  /// A predicate that can't be read is omitted with its warning.
  private func addValidation(
    to property: NSPropertyDescription, _ fields: [String: BinaryPropertyList.Value]
  ) {
    var predicates: [NSPredicate] = []
    var warnings: [Any] = []
    for pair in archive.list(fields[ArchiveKey.validation]) {
      let members = archive.list(pair)
      guard members.count == 2, let format = archive.string(members[0]),
        mayParse(format), let predicate = try? NSPredicate.parse(format, arguments: []),
        let warning = archive.anyValue(members[1])
      else { continue }
      predicates.append(predicate)
      warnings.append(warning)
    }
    if fields[ArchiveKey.validation] != nil {
      property.setValidationPredicates(predicates, withValidationWarnings: warnings)
    }
  }

  private func attribute(
    _ object: KeyedArchive.Object, name: String, entity: NSEntityDescription, depth: Int = 0
  ) throws(ModelError) -> NSAttributeDescription {
    let fields = object.fields
    let number = archive.integer(fields["NSAttributeType"]) ?? 0
    let known = UInt(exactly: number).flatMap { NSAttributeType(rawValue: $0) }
    if known == nil {
      warn(
        "The compiled model contains the unknown attribute type \(number).",
        "The model is newer than this version supports, or corrupt.", of: entity, property: name)
    }
    let type = known ?? .undefinedAttributeType
    let attribute: NSAttributeDescription =
      if type == .compositeAttributeType {
        try composite(object, name: name, entity: entity, depth: depth)
      } else if let derived = derived(object) { derived } else { NSAttributeDescription() }
    attribute.attributeType = type
    let className = archive.string(fields["NSAttributeValueClassName"])
    attribute.explicitValueClassName = className == type.valueClassName ? nil : className
    attribute.valueTransformerName = archive.string(fields["NSValueTransformerName"])
    attribute.defaultValue = archive.anyValue(fields["NSDefaultValue"]).map {
      DefaultValue(converting: $0, to: type)?.value ?? $0
    }
    let flags = archive.integer(fields["NSFlagsKey"]) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & ArchiveKey.external != 0
    attribute.preservesValueInHistoryOnDeletion = flags & ArchiveKey.preserved != 0
    attribute.allowsCloudEncryption = archive.flag(fields[ArchiveKey.encrypted])
    attribute.valueRule = ValueRule(
      minimum: archive.string(fields[ArchiveKey.minimum]),
      maximum: archive.string(fields[ArchiveKey.maximum]),
      pattern: archive.string(fields[ArchiveKey.pattern]))
    return attribute
  }

  /// Returns a derived attribute, or `nil` if the object is another kind of attribute.
  private func derived(_ object: KeyedArchive.Object) -> NSDerivedAttributeDescription? {
    let text = archive.string(object.fields[ArchiveKey.derivation])
    guard text != nil || object.className == "NSDerivedAttributeDescription" else { return nil }
    let attribute = NSDerivedAttributeDescription()
    if mayParse("") {
      attribute.derivationExpression = expression(
        text ?? ArchivedExpression(in: object, archive).text)
    }
    return attribute
  }

  /// Returns a composite attribute with its elements.
  ///
  /// Core Data's key for them isn't documented: any array of attributes among the object's values
  /// is used.
  private func composite(
    _ object: KeyedArchive.Object, name: String, entity: NSEntityDescription, depth: Int
  ) throws(ModelError) -> NSCompositeAttributeDescription {
    let attribute = NSCompositeAttributeDescription()
    let lists = object.fields.keys.sorted().map { key in
      archive.list(object.fields[key]).compactMap { archive.object($0) }
        .filter { $0.fields["NSAttributeType"] != nil }
    }
    guard let members = lists.first(where: { !$0.isEmpty }) else { return attribute }
    compositeElements += members.count
    guard depth < ModelLimits.compositeDepth, compositeElements <= ModelLimits.compositeElements
    else {
      throw ModelError(
        "A composite attribute of the compiled model contains itself, or too many elements.",
        entity: entity.name, property: name)
    }
    for member in members {
      guard let inner = archive.string(member.fields["NSPropertyName"]), !inner.isEmpty else {
        continue
      }
      let element = try self.attribute(member, name: name, entity: entity, depth: depth + 1)
      element.name = inner
      element.isOptional = isOptional(member.fields)
      element.isTransient = isTransient(member.fields)
      addCommon(to: element, member.fields, name: inner)
      attribute.elements.append(element)
    }
    return attribute
  }

  private func isOptional(_ fields: [String: BinaryPropertyList.Value]) -> Bool {
    let bits = archive.integer(fields["_P"]) ?? 0
    return archive.flag(fields["NSIsOptional"]) || bits & ArchiveKey.optional != 0
  }

  private func isTransient(_ fields: [String: BinaryPropertyList.Value]) -> Bool {
    let bits = archive.integer(fields["_P"]) ?? 0
    return archive.flag(fields["NSIsTransient"]) || bits & ArchiveKey.transient != 0
  }

  private func relationship(_ object: KeyedArchive.Object) -> NSRelationshipDescription {
    let fields = object.fields
    let relationship = NSRelationshipDescription()
    relationship.minCount = max(0, archive.integer(fields["NSMinCount"]) ?? 0)
    relationship.maxCount = max(0, archive.integer(fields["NSMaxCount"]) ?? 0)
    relationship.deleteRule =
      archive.integer(fields["NSDeleteRule"]).flatMap { UInt(exactly: $0) }
      .flatMap { NSDeleteRule(rawValue: $0) } ?? .nullifyDeleteRule
    relationship.isOrdered = archive.flag(fields["NSIsOrdered"])
    relationships.append((relationship, object))
    return relationship
  }

  /// Sets the destination and the inverse of a relationship.
  func link(_ relationship: NSRelationshipDescription, _ object: KeyedArchive.Object) {
    let fields = object.fields
    guard
      let destination = entity(
        fields["NSDestinationEntity"], named: fields["_NSDestinationEntityName"])
    else {
      let name = archive.string(fields["_NSDestinationEntityName"])
      relationship.unreadTexts["destinationEntity"] = name
      relationship.unreadTexts["inverseName"] = archive.string(
        fields["_NSInverseRelationshipName"])
      return warn(
        name.map { "There's no entity \($0)." } ?? "The relationship has no destination.",
        "Add the entity, or specify another one.", of: relationship.entity,
        property: relationship.name)
    }
    relationship.destinationEntity = destination
    if case .uid(let uid) = fields["NSInverseRelationship"],
      let inverse = propertiesByID[uid] as? NSRelationshipDescription
    {
      relationship.inverseRelationship = inverse
    } else if let name = archive.string(fields["_NSInverseRelationshipName"]) {
      relationship.inverseRelationship = destination.relationshipsByName[name]
      guard relationship.inverseRelationship == nil else { return }
      relationship.unreadTexts["inverseName"] = name
      warn(
        "The destination \(destination) has no relationship \(name).",
        "Add it, or specify another inverse.", of: relationship.entity, property: relationship.name)
    }
  }
}
