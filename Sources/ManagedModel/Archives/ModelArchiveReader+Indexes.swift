extension ModelArchiveReader {
  /// Adds the indexes and uniqueness constraints of an entity.
  ///
  /// Newer archives repeat every fetch index as a compound index; those are left out.
  func addIndexes(to entity: NSEntityDescription, from object: KeyedArchive.Object) {
    entity.indexes = archive.list(object.fields["NSFetchIndexDescriptions"]).compactMap { value in
      archive.object(value).flatMap { index($0, of: entity) }
    }
    let indexed = Set(entity.indexes.map { $0.elements.compactMap(\.propertyName) })
    entity.compoundIndexes = groups(object.fields["NSCompoundIndexes"]).filter {
      !indexed.contains($0)
    }
    entity.uniquenessConstraints = groups(object.fields["NSUniqueTuples"])
  }

  /// Groups of property names; members may be texts or properties.
  private func groups(_ value: BinaryPropertyList.Value?) -> [[String]] {
    archive.list(value).map { group in
      archive.list(group).compactMap { member in
        archive.string(member)
          ?? archive.object(member).flatMap { archive.string($0.fields["NSPropertyName"]) }
      }
    }
  }

  private func index(
    _ object: KeyedArchive.Object, of entity: NSEntityDescription
  ) -> NSFetchIndexDescription? {
    guard let name = archive.string(object.fields["NSIndexName"]) else { return nil }
    let elements = archive.list(object.fields["NSIndexElements"]).compactMap {
      archive.object($0).flatMap { element($0, of: entity) }
    }
    let index = NSFetchIndexDescription(name: name, elements: elements)
    if let format = archive.string(object.fields[ArchiveKey.partialIndex]) {
      do {
        index.partialIndexPredicate = try NSPredicate.parse(format, arguments: [])
      } catch {
        index.unreadTexts["partialIndexPredicate"] = format
        warn(
          "The predicate of the index \(name) cannot be read: \(error.message).",
          "Write a whole predicate, or none.", of: entity)
      }
    }
    return index
  }

  /// What an index over an expression covers; nil for an element that covers a property.
  private func computed(
    _ object: KeyedArchive.Object, name: String
  ) -> NSPropertyDescription? {
    guard archive.string(object.fields[ArchiveKey.indexExpression]) != nil else { return nil }
    let description = expressionDescription(object.fields)
    description?.name = name
    return description
  }

  /// The description of a value that an expression computes; nil for other properties.
  func expressionDescription(
    _ fields: [String: BinaryPropertyList.Value]
  ) -> NSExpressionDescription? {
    guard let type = fields[ArchiveKey.expressionType] else { return nil }
    let description = NSExpressionDescription()
    description.expression = archive.string(fields[ArchiveKey.indexExpression]).flatMap {
      try? NSExpression.parse($0, arguments: [])
    }
    description.expressionResultType =
      archive.integer(type).flatMap { UInt(exactly: $0) }
      .flatMap { NSAttributeType(rawValue: $0) } ?? .undefinedAttributeType
    return description
  }

  private func element(
    _ object: KeyedArchive.Object, of entity: NSEntityDescription
  ) -> NSFetchIndexElementDescription? {
    guard let name = archive.string(object.fields["NSPropertyName"]) else { return nil }
    let property =
      computed(object, name: name) ?? entity.propertiesByName[name]
      ?? NSExpressionDescription(unknownProperty: name)
    let type = archive.integer(object.fields["NSFetchIndexElementType"])
    let element = NSFetchIndexElementDescription(
      property: property, collationType: type == 1 ? .rTree : .binary)
    element.isAscending = object.fields["NSAscending"].map { archive.flag($0) } ?? true
    return element
  }
}
