extension ModelArchiveReader {
  /// Adds the properties that an entity declares itself.
  ///
  /// An archive repeats inherited properties in every sub-entity; those lead to the property of
  /// the ancestor.
  func addProperties(
    to entity: NSEntityDescription, from object: KeyedArchive.Object
  ) throws(ModelError) {
    let inherited = entity.superentity?.propertiesByName ?? [:]
    var own: [String: NSPropertyDescription] = [:]
    for (key, value) in archive.entries(object.fields["NSProperties"]) {
      guard let property = archive.object(value) else { continue }
      guard
        let name = archive.string(property.fields["NSPropertyName"]) ?? archive.string(key),
        !name.isEmpty
      else {
        throw ModelError("A property of the compiled model has no name.", entity: entity.name)
      }
      if let known = inherited[name] {
        propertiesByID[property.uid] = known
      } else if own[name] == nil, propertiesByID[property.uid] == nil {
        let made = try self.property(property, name: name, entity: entity)
        propertiesByID[property.uid] = made
        own[name] = made
      }
    }
    propertyCount += inherited.count + own.count
    guard propertyCount <= ModelLimits.properties else {
      throw ModelError("The compiled model has more than \(ModelLimits.properties) properties.")
    }
    entity.properties = own.values.sorted { $0.name < $1.name }
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
    } else {
      let fetched = NSFetchedPropertyDescription()
      fetched.template = template(fields[ArchiveKey.templates])
      property = fetched
    }
    property.name = name
    let bits = archive.integer(fields["_P"]) ?? 0
    property.isOptional =
      archive.flag(fields["NSIsOptional"]) || bits & ArchiveKey.optional != 0
    property.isTransient =
      archive.flag(fields["NSIsTransient"]) || bits & ArchiveKey.transient != 0
    property.isIndexed = archive.flag(fields["NSIsIndexed"])
    property.versionHashModifier = archive.string(fields["NSVersionHashModifier"])
    property.explicitRenamingIdentifier = renaming(fields, name: name)
    property.userInfo = userInfo(fields)
    return property
  }

  private func attribute(
    _ object: KeyedArchive.Object, name: String, entity: NSEntityDescription
  ) throws(ModelError) -> NSAttributeDescription {
    let fields = object.fields
    let number = archive.integer(fields["NSAttributeType"]) ?? 0
    guard let type = UInt(exactly: number).flatMap({ NSAttributeType(rawValue: $0) }) else {
      throw ModelError(
        "The compiled model gives the unknown attribute type \(number).",
        nextStep: "The model is newer than this program knows, or damaged.",
        entity: entity.name, property: name)
    }
    let attribute = NSAttributeDescription()
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
    if let formula = archive.string(fields[ArchiveKey.derivation]) {
      attribute.derivationExpression = formula
    } else if object.className == "NSDerivedAttributeDescription" {
      attribute.derivationExpression = ArchivedExpression(in: object, archive).text
    }
    return attribute
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
  func link(
    _ relationship: NSRelationshipDescription, _ object: KeyedArchive.Object
  ) throws(ModelError) {
    let fields = object.fields
    guard
      let destination = entity(
        fields["NSDestinationEntity"], named: fields["_NSDestinationEntityName"])
    else {
      throw ModelError(
        "The destination of a relationship is not in the compiled model.",
        entity: relationship.entity?.name, property: relationship.name)
    }
    relationship.destinationEntity = destination
    if case .uid(let uid) = fields["NSInverseRelationship"],
      let inverse = propertiesByID[uid] as? NSRelationshipDescription
    {
      relationship.inverseRelationship = inverse
    } else if let name = archive.string(fields["_NSInverseRelationshipName"]) {
      relationship.inverseRelationship = destination.relationshipsByName[name]
    }
  }
}
