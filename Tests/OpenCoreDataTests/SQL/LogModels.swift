import ManagedModel

/// Models like those behind the public logs of Apple's SQL.
enum LogModels {
  /// Items with attachments; as many attributes as the log's line shows.
  static func attachments(_ attributes: [String]) -> NSManagedObjectModel {
    let item = TestModels.entity(
      "Item",
      attributes.map {
        TestModels.attribute(
          $0, $0 == "timestamp" ? .dateAttributeType : .integer32AttributeType)
      })
    let attachment = TestModels.entity(
      "Attachment", [TestModels.attribute("title", .stringAttributeType)])
    TestModels.relate(item, "attachments", many: true, attachment, "item", many: false)
    return model(item, attachment)
  }

  static func tags() -> NSManagedObjectModel {
    let item = TestModels.entity("Item", [TestModels.attribute("timestamp", .dateAttributeType)])
    let tag = TestModels.entity("Tag", [TestModels.attribute("name", .stringAttributeType)])
    TestModels.relate(item, "tags", many: true, tag, "items", many: true)
    return model(item, tag)
  }

  static func words() -> NSManagedObjectModel {
    let word = TestModels.entity("Word", [TestModels.attribute("text", .stringAttributeType)])
    let category = TestModels.entity(
      "WordCategory", [TestModels.attribute("firstLetter", .stringAttributeType)])
    TestModels.relate(category, "words", many: true, word, "wordCategory", many: false)
    return model(word, category)
  }

  static func stops() -> NSManagedObjectModel {
    model(
      TestModels.entity(
        "Stop",
        [
          TestModels.attribute("identifier", .stringAttributeType),
          TestModels.attribute("latitude", .doubleAttributeType),
          TestModels.attribute("longitude", .doubleAttributeType),
          TestModels.attribute("name", .stringAttributeType),
        ]))
  }

  static func books() -> NSManagedObjectModel {
    model(
      TestModels.entity(
        "Book",
        [
          TestModels.attribute("author", .stringAttributeType),
          TestModels.attribute("cover", .binaryDataAttributeType),
          TestModels.attribute("publishedYear", .integer16AttributeType),
          TestModels.attribute("title", .stringAttributeType),
        ]))
  }

  /// The book's regions and moods.
  static func moody() -> NSManagedObjectModel {
    let region = TestModels.entity(
      "GeographicRegion",
      [
        TestModels.attribute("markedForDeletionDate", .dateAttributeType),
        TestModels.attribute("numberOfMoods", .integer64AttributeType),
        TestModels.attribute("numericISO3166Code", .integer16AttributeType),
        TestModels.attribute("uniquenessDummy", .integer16AttributeType),
        TestModels.attribute("updatedAt", .dateAttributeType),
      ])
    region.isAbstract = true
    let continent = TestModels.entity(
      "Continent", [TestModels.attribute("numberOfCountries", .integer64AttributeType)])
    let country = TestModels.entity("Country", [])
    region.subentities = [country, continent]
    let mood = TestModels.entity(
      "Mood",
      [
        TestModels.attribute("colors", .transformableAttributeType),
        TestModels.attribute("date", .dateAttributeType),
        TestModels.attribute("latitude", .doubleAttributeType),
        TestModels.attribute("longitude", .doubleAttributeType),
        TestModels.attribute("markedForDeletionDate", .dateAttributeType),
        TestModels.attribute("markedForRemoteDeletion", .booleanAttributeType),
        TestModels.attribute("remoteIdentifier", .stringAttributeType),
      ])
    TestModels.relate(continent, "countries", many: true, country, "continent", many: false)
    TestModels.relate(country, "moods", many: true, mood, "country", many: false)
    return model(region, continent, country, mood)
  }

  private static func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }
}
