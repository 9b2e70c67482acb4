public import OpenCoreData

/// The sample's complete model in code: the scenarios' model with marks for deletion in two steps,
/// with unique country codes, and with what synchronizing needs.
///
/// It's the model's latest version; see `MoodyVersion` for the earlier ones.
public enum MoodyModel {
  /// Creates an instance of the model.
  public static func make() -> NSManagedObjectModel {
    typealias Attribute = NSAttributeDescription
    typealias Relationship = NSRelationshipDescription
    let moods = Relationship.named("moods", isToMany: true, deleteRule: .cascadeDeleteRule)
    let itsCountry = Relationship.named("country", isToMany: false)
    let countries = Relationship.named("countries", isToMany: true, deleteRule: .cascadeDeleteRule)
    let itsContinent = Relationship.named("continent", isToMany: false)
    let mood = NSEntityDescription.named(
      "Mood", class: "Mood",
      [
        Attribute.named("date", .dateAttributeType, isOptional: false),
        Attribute.named("colors", .binaryDataAttributeType, isOptional: false),
        Attribute.named("latitude", .doubleAttributeType),
        Attribute.named("longitude", .doubleAttributeType),
        Attribute.named("remoteIdentifier", .stringAttributeType),
        Attribute.named("recordName", .stringAttributeType),
        Attribute.named("creatorID", .stringAttributeType),
        Attribute.named(
          Mood.remoteDeletionKey, .booleanAttributeType, isOptional: false, default: false),
        Attribute.named(Mood.deletionDateKey, .dateAttributeType), itsCountry,
      ])
    let region = NSEntityDescription.named(
      "Region", class: "Region", isAbstract: true, unique: ["numericISO3166Code"],
      [
        Attribute.named("numericISO3166Code", .integer16AttributeType, isOptional: false),
        Attribute.named("numberOfMoods", .integer64AttributeType, isOptional: false, default: 0),
        Attribute.named("updatedAt", .dateAttributeType, isOptional: false),
        Attribute.named(Country.deletionDateKey, .dateAttributeType),
      ])
    let country = NSEntityDescription.named("Country", class: "Country", [itsContinent, moods])
    let continent = NSEntityDescription.named(
      "Continent", class: "Continent",
      [
        Attribute.named(
          "numberOfCountries", .integer64AttributeType, isOptional: false, default: 0),
        countries,
      ])
    Relationship.connect(moods, of: country, to: itsCountry, of: mood)
    Relationship.connect(countries, of: continent, to: itsContinent, of: country)
    region.subentities = [country, continent]
    let model = NSManagedObjectModel()
    model.entities = [continent, country, mood, region]
    return model
  }
}
