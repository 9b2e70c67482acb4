extension ModelArchiveReader {
  /// Adds the indexes and uniqueness constraints of an entity.
  ///
  /// Newer archives repeat every fetch index as a compound index; those are left out.
  func addIndexes(
    to entity: NSEntityDescription, from object: KeyedArchive.Object
  ) throws(ModelError) {
    var indexes: [NSFetchIndexDescription] = []
    for value in archive.list(object.fields["NSFetchIndexDescriptions"]) {
      guard let object = archive.object(value), let index = try index(object, of: entity) else {
        continue
      }
      indexes.append(index)
    }
    entity.indexes = indexes
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
  ) throws(ModelError) -> NSFetchIndexDescription? {
    guard let name = archive.string(object.fields["NSIndexName"]) else { return nil }
    let elements = archive.list(object.fields["NSIndexElements"]).compactMap {
      archive.object($0).flatMap { element($0, of: entity) }
    }
    let index = NSFetchIndexDescription(name: name, elements: elements)
    if let format = archive.string(object.fields[ArchiveKey.partialIndex]) {
      do {
        index.partialIndexPredicate = try NSPredicate.parse(format, arguments: [])
      } catch {
        throw ModelError(
          "The predicate of the index \(name) cannot be read: \(error.message).",
          entity: entity.name)
      }
    }
    return index
  }

  private func element(
    _ object: KeyedArchive.Object, of entity: NSEntityDescription
  ) -> NSFetchIndexElementDescription? {
    guard let name = archive.string(object.fields["NSPropertyName"]),
      let property = entity.propertiesByName[name]
    else { return nil }
    let type = archive.integer(object.fields["NSFetchIndexElementType"])
    let element = NSFetchIndexElementDescription(
      property: property, collationType: type == 1 ? .rTree : .binary)
    element.isAscending = object.fields["NSAscending"].map { archive.flag($0) } ?? true
    return element
  }
}
