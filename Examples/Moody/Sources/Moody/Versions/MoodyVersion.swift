public import OpenCoreData

/// The versions of the sample's model: the six of the book's chapter 14, and the current one.
///
/// | step | change | mapping |
/// | --- | --- | --- |
/// | 1 to 2 | `Mood.remoteIdentifier` is renamed to `remoteID`; `Mood.rating` is added | inferred |
/// | 2 to 3 | `Mood.continent` and `Continent.moods` are added | with expressions |
/// | 3 to 4 | the abstract entity `GeographicRegion` is removed | with expressions |
/// | 4 to 5 | `Continent` is replaced by `Country.isoContinent` | with expressions |
/// | 5 to 6 | `Continent` is split off again | with a policy |
/// | 6 to 7 | the abstract entity `Region`, and what synchronizing needs, are added | with a policy |
public enum MoodyVersion: Int, CaseIterable, ModelVersion, Sendable {
  /// The first version.
  case version1 = 1
  /// The version with ratings.
  case version2
  /// The version with a relationship from moods to continents.
  case version3
  /// The version without inheritance.
  case version4
  /// The version without continents.
  case version5
  /// The version with continents.
  case version6
  /// The version of `MoodyModel`.
  case version7

  /// All versions, the latest first.
  public static var all: [MoodyVersion] { allCases.reversed() }
  /// The version of `MoodyModel`.
  public static var current: MoodyVersion { .version7 }

  /// The name of the version, such as `Moody 2`.
  public var name: String { self == .version1 ? "Moody" : "Moody \(rawValue)" }

  /// The next version, or `nil` for the latest one.
  public var successor: MoodyVersion? { MoodyVersion(rawValue: rawValue + 1) }

  /// Creates an instance of the version's model.
  public func managedObjectModel() -> NSManagedObjectModel {
    self == .current ? MoodyModel.make() : formerModel()
  }

  /// Returns the mapping models to the next version.
  ///
  /// - Throws: The error of `NSMappingModel.inferredMappingModel`.
  public func mappingModelsToSuccessor() throws -> [NSMappingModel] {
    guard let successor else { return [] }
    let (source, destination) = (managedObjectModel(), successor.managedObjectModel())
    if self == .version1 {
      return [
        try NSMappingModel.inferredMappingModel(
          forSourceModel: source, destinationModel: destination)
      ]
    }
    Country5ToCountry6Policy.registerClass(named: Country5ToCountry6Policy.name)
    Version7Policy.registerClass(named: Version7Policy.name)
    return [mappingModel(from: source, to: destination)]
  }
}

// MARK: Models

extension MoodyVersion {
  private typealias Attribute = NSAttributeDescription
  private typealias Relationship = NSRelationshipDescription

  /// Whether `Country` and `Continent` have the abstract parent entity `GeographicRegion`.
  private var hasRegions: Bool { rawValue <= MoodyVersion.version3.rawValue }

  private func formerModel() -> NSManagedObjectModel {
    let mood = NSEntityDescription.named("Mood", moodAttributes)
    let country = region("Country")
    let model = NSManagedObjectModel()
    model.entities = [mood, country]
    let itsCountry = Relationship.named("country", isToMany: false)
    let moods = Relationship.named("moods", isToMany: true, isOptional: false)
    Relationship.connect(itsCountry, of: mood, to: moods, of: country)
    mood.properties.append(itsCountry)
    country.properties.append(moods)
    if self == .version5 {
      country.properties.append(
        Attribute.named("isoContinent", .integer16AttributeType, default: 0))
      return model
    }
    let continent =
      self == .version6
      ? NSEntityDescription.named("Continent", [code("numericISO3166Code")]) : region("Continent")
    if self != .version6 {
      continent.properties.append(
        Attribute.named(
          "numberOfCountries", .integer64AttributeType, isOptional: false, default: 0))
    }
    let itsContinent = Relationship.named("continent", isToMany: false)
    let countries = Relationship.named("countries", isToMany: true, isOptional: false)
    Relationship.connect(itsContinent, of: country, to: countries, of: continent)
    country.properties.append(itsContinent)
    continent.properties.append(countries)
    if self == .version3 || self == .version4 {
      let its = Relationship.named("continent", isToMany: false)
      let all = Relationship.named("moods", isToMany: true, isOptional: false)
      Relationship.connect(its, of: mood, to: all, of: continent)
      mood.properties.append(its)
      continent.properties.append(all)
    }
    model.entities.append(continent)
    if hasRegions {
      let parent = NSEntityDescription.named(
        "GeographicRegion", isAbstract: true, unique: Self.constraint, regionAttributes)
      parent.subentities = [country, continent]
      model.entities.append(parent)
    }
    return model
  }

  private static let constraint = ["numericISO3166Code", "uniquenessDummy"]

  /// An entity of a region, which has its own attributes if it has no parent.
  private func region(_ name: String) -> NSEntityDescription {
    hasRegions
      ? .named(name, []) : .named(name, unique: Self.constraint, regionAttributes)
  }

  private var regionAttributes: [NSPropertyDescription] {
    [
      Attribute.named("markedForDeletionDate", .dateAttributeType),
      Attribute.named("numberOfMoods", .integer64AttributeType, isOptional: false, default: 0),
      code("numericISO3166Code"), code("uniquenessDummy"),
      Attribute.named("updatedAt", .dateAttributeType, isOptional: false),
    ]
  }

  private var moodAttributes: [NSPropertyDescription] {
    let colors = Attribute.named("colors", .transformableAttributeType)
    colors.valueTransformerName = "ColorsTransformer"
    var attributes = [
      colors, Attribute.named("creatorID", .stringAttributeType),
      Attribute.named("date", .dateAttributeType, isOptional: false),
      Attribute.named("latitude", .doubleAttributeType),
      Attribute.named("longitude", .doubleAttributeType),
      Attribute.named("markedForDeletionDate", .dateAttributeType),
      Attribute.named(
        "markedForRemoteDeletion", .booleanAttributeType, isOptional: false, default: false),
    ]
    if self == .version1 {
      return attributes + [Attribute.named("remoteIdentifier", .stringAttributeType)]
    }
    let remoteID = Attribute.named("remoteID", .stringAttributeType)
    remoteID.renamingIdentifier = "remoteIdentifier"
    attributes += [remoteID, code("rating")]
    return attributes
  }

  private func code(_ name: String) -> NSAttributeDescription {
    Attribute.named(name, .integer16AttributeType, isOptional: false, default: 0)
  }
}
