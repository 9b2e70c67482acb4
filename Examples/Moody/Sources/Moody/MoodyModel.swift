public import OpenCoreData

/// The sample's complete model in code: the scenarios' model with marks for deletion in two steps,
/// with unique country codes, and with what synchronizing needs.
public enum MoodyModel {
  /// Creates an instance of the model.
  public static func make() -> NSManagedObjectModel {
    let mood = entity("Mood")
    let region = entity("Region")
    let country = entity("Country")
    let continent = entity("Continent")
    let moods = relationship("moods", to: mood, isToMany: true, .cascadeDeleteRule)
    let itsCountry = relationship("country", to: country, isToMany: false, .nullifyDeleteRule)
    let countries = relationship("countries", to: country, isToMany: true, .cascadeDeleteRule)
    let itsContinent = relationship("continent", to: continent, isToMany: false, .nullifyDeleteRule)
    pair(moods, itsCountry)
    pair(countries, itsContinent)
    mood.properties = [
      attribute("date", .dateAttributeType, isOptional: false),
      attribute("colors", .binaryDataAttributeType, isOptional: false),
      attribute("latitude", .doubleAttributeType), attribute("longitude", .doubleAttributeType),
      attribute("remoteIdentifier", .stringAttributeType),
      attribute("recordName", .stringAttributeType), attribute("creatorID", .stringAttributeType),
      attribute(Mood.remoteDeletionKey, .booleanAttributeType, isOptional: false, false),
      attribute(Mood.deletionDateKey, .dateAttributeType), itsCountry,
    ]
    region.properties = [
      attribute("numericISO3166Code", .integer16AttributeType, isOptional: false),
      attribute("numberOfMoods", .integer64AttributeType, isOptional: false, 0),
      attribute("updatedAt", .dateAttributeType, isOptional: false),
      attribute(Country.deletionDateKey, .dateAttributeType),
    ]
    region.isAbstract = true
    region.uniquenessConstraints = [["numericISO3166Code"]]
    country.properties = [itsContinent, moods]
    continent.properties = [
      attribute("numberOfCountries", .integer64AttributeType, isOptional: false, 0), countries,
    ]
    region.subentities = [country, continent]
    let model = NSManagedObjectModel()
    model.entities = [continent, country, mood, region]
    return model
  }

  private static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = name
    return entity
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType, isOptional: Bool = true, _ initial: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = isOptional
    attribute.defaultValue = initial
    return attribute
  }

  private static func relationship(
    _ name: String, to destination: NSEntityDescription, isToMany: Bool, _ rule: NSDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    relationship.deleteRule = rule
    relationship.isOptional = true
    return relationship
  }

  private static func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
    one.inverseRelationship = other
    other.inverseRelationship = one
  }
}
