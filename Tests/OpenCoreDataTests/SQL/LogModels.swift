import ManagedModel

/// Models like those of the public logs of Core Data.
enum LogModels {
  /// Items with attachments; as many attributes as the log's line shows.
  static func attachments(_ attributes: [String]) -> NSManagedObjectModel {
    let item = SchemaModels.entity(
      "Item",
      attributes.map {
        SchemaModels.attribute(
          $0, $0 == "timestamp" ? .dateAttributeType : .integer32AttributeType)
      })
    let attachment = SchemaModels.entity(
      "Attachment", [SchemaModels.attribute("title", .stringAttributeType)])
    SchemaModels.relate(item, "attachments", many: true, attachment, "item", many: false)
    return model(item, attachment)
  }

  static func tags() -> NSManagedObjectModel {
    let item = SchemaModels.entity(
      "Item", [SchemaModels.attribute("timestamp", .dateAttributeType)])
    let tag = SchemaModels.entity("Tag", [SchemaModels.attribute("name", .stringAttributeType)])
    SchemaModels.relate(item, "tags", many: true, tag, "items", many: true)
    return model(item, tag)
  }

  static func words() -> NSManagedObjectModel {
    let word = SchemaModels.entity("Word", [SchemaModels.attribute("text", .stringAttributeType)])
    let category = SchemaModels.entity(
      "WordCategory", [SchemaModels.attribute("firstLetter", .stringAttributeType)])
    SchemaModels.relate(category, "words", many: true, word, "wordCategory", many: false)
    return model(word, category)
  }

  static func stops() -> NSManagedObjectModel {
    model(
      SchemaModels.entity(
        "Stop",
        [
          SchemaModels.attribute("identifier", .stringAttributeType),
          SchemaModels.attribute("latitude", .doubleAttributeType),
          SchemaModels.attribute("longitude", .doubleAttributeType),
          SchemaModels.attribute("name", .stringAttributeType),
        ]))
  }

  static func books() -> NSManagedObjectModel {
    model(
      SchemaModels.entity(
        "Book",
        [
          SchemaModels.attribute("author", .stringAttributeType),
          SchemaModels.attribute("cover", .binaryDataAttributeType),
          SchemaModels.attribute("publishedYear", .integer16AttributeType),
          SchemaModels.attribute("title", .stringAttributeType),
        ]))
  }

  /// The book's regions and moods.
  static func moody() -> NSManagedObjectModel {
    let region = SchemaModels.entity(
      "GeographicRegion",
      [
        SchemaModels.attribute("markedForDeletionDate", .dateAttributeType),
        SchemaModels.attribute("numberOfMoods", .integer64AttributeType),
        SchemaModels.attribute("numericISO3166Code", .integer16AttributeType),
        SchemaModels.attribute("uniquenessDummy", .integer16AttributeType),
        SchemaModels.attribute("updatedAt", .dateAttributeType),
      ])
    region.isAbstract = true
    let continent = SchemaModels.entity(
      "Continent", [SchemaModels.attribute("numberOfCountries", .integer64AttributeType)])
    let country = SchemaModels.entity("Country", [])
    region.subentities = [country, continent]
    let mood = SchemaModels.entity(
      "Mood",
      [
        SchemaModels.attribute("colors", .transformableAttributeType),
        SchemaModels.attribute("date", .dateAttributeType),
        SchemaModels.attribute("latitude", .doubleAttributeType),
        SchemaModels.attribute("longitude", .doubleAttributeType),
        SchemaModels.attribute("markedForDeletionDate", .dateAttributeType),
        SchemaModels.attribute("markedForRemoteDeletion", .booleanAttributeType),
        SchemaModels.attribute("remoteIdentifier", .stringAttributeType),
      ])
    SchemaModels.relate(continent, "countries", many: true, country, "continent", many: false)
    SchemaModels.relate(country, "moods", many: true, mood, "country", many: false)
    return model(region, continent, country, mood)
  }

  private static func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }
}
