import ManagedModel

/// Models that are built in code.
enum SchemaModels {
  /// Every kind of relationship and most attribute types.
  ///
  /// `Item` has the subentities `Book` (`pages`) and `Sheet` (`pages`, `cover`); a sheet's cover
  /// can be any item. An item has an author, an ordered shelf, and ordered tags.
  static func library() -> NSManagedObjectModel {
    let author = entity("Author", [attribute("name", .stringAttributeType)])
    author.properties += [attribute("age", .integer16AttributeType)]
    let item = entity(
      "Item",
      [
        attribute("title", .stringAttributeType), attribute("added", .dateAttributeType),
        attribute("isLent", .booleanAttributeType), attribute("weight", .doubleAttributeType),
        attribute("price", .decimalAttributeType), attribute("key", .UUIDAttributeType),
        attribute("scan", .binaryDataAttributeType), transient("mood"),
      ])
    let book = entity("Book", [attribute("pages", .integer32AttributeType)])
    let sheet = entity("Sheet", [attribute("pages", .integer16AttributeType)])
    let shelf = entity("Shelf", [attribute("code", .stringAttributeType)])
    let tag = entity("Tag", [attribute("name", .stringAttributeType)])
    item.subentities = [sheet, book]
    relate(author, "items", many: true, item, "author", many: false)
    relate(author, "pupils", many: true, author, "mentor", many: false)
    relate(shelf, "items", many: true, ordered: true, item, "shelf", many: false)
    relate(item, "tags", many: true, ordered: true, tag, "items", many: true)
    relate(sheet, "cover", many: false, item, "coverOf", many: true)
    item.indexes = [byTitle(of: item)]
    tag.uniquenessConstraints = [["name"]]
    let model = NSManagedObjectModel()
    model.entities = [tag, shelf, item, book, sheet, author]
    return model
  }

  private static func byTitle(of item: NSEntityDescription) -> NSFetchIndexDescription {
    let elements = ["title", "added"].compactMap { item.propertiesByName[$0] }.map {
      NSFetchIndexElementDescription(property: $0, collationType: .binary)
    }
    elements[0].isAscending = false
    return NSFetchIndexDescription(name: "byTitle", elements: elements)
  }

  static func entity(
    _ name: String, _ properties: [NSPropertyDescription]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  private static func transient(_ name: String) -> NSAttributeDescription {
    let attribute = attribute(name, .stringAttributeType)
    attribute.isTransient = true
    return attribute
  }

  /// Adds a relationship and its inverse.
  static func relate(
    _ source: NSEntityDescription, _ name: String, many: Bool, ordered: Bool = false,
    _ destination: NSEntityDescription, _ inverseName: String, many inverseMany: Bool,
    inverseOrdered: Bool = false
  ) {
    let there = NSRelationshipDescription()
    there.name = name
    there.maxCount = many ? 0 : 1
    there.isOrdered = ordered
    there.destinationEntity = destination
    let back = NSRelationshipDescription()
    back.name = inverseName
    back.maxCount = inverseMany ? 0 : 1
    back.isOrdered = inverseOrdered
    back.destinationEntity = source
    there.inverseRelationship = back
    back.inverseRelationship = there
    source.properties += [there]
    destination.properties += [back]
  }
}
