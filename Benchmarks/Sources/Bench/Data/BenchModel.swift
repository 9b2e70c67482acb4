import OpenCoreData

/// The model of the measured store: moods with ten properties, each with a country.
enum BenchModel {
  /// Creates the model.
  ///
  /// - Parameter moodClass: The class of the `Mood` entity.
  static func make(moodClass: NSManagedObject.Type = Mood.self) -> NSManagedObjectModel {
    let mood = NSEntityDescription()
    mood.name = "Mood"
    mood.managedObjectClassName = String(describing: moodClass)
    let country = NSEntityDescription()
    country.name = "Country"
    country.managedObjectClassName = "Country"
    moodClass.registerClass()
    Country.registerClass()

    let moods = NSRelationshipDescription()
    moods.name = "moods"
    moods.isOptional = true
    moods.destinationEntity = mood
    let owner = NSRelationshipDescription()
    owner.name = "country"
    owner.isOptional = true
    owner.maxCount = 1
    owner.destinationEntity = country
    owner.inverseRelationship = moods
    moods.inverseRelationship = owner

    mood.properties = [
      attribute("rank", .integer64AttributeType), attribute("stamp", .integer64AttributeType),
      attribute("votes", .integer32AttributeType), attribute("flags", .integer32AttributeType),
      attribute("kind", .integer16AttributeType), attribute("latitude", .doubleAttributeType),
      attribute("longitude", .doubleAttributeType), attribute("name", .stringAttributeType),
      attribute("note", .stringAttributeType), owner,
    ]
    country.properties = [attribute("name", .stringAttributeType), moods]
    let model = NSManagedObjectModel()
    model.entities = [country, mood]
    return model
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = false
    return attribute
  }
}
