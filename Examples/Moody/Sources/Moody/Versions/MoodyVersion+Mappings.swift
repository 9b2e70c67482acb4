import OpenCoreData

extension MoodyVersion {
  /// Creates the mapping model to the next version: entities and properties with the same name are
  /// copied, and the others have the expressions or policies of the step.
  func mappingModel(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> NSMappingModel {
    let mapping = NSMappingModel()
    mapping.entityMappings = destination.entities.compactMap { entity in
      guard !entity.isAbstract, let name = entity.name, let former = source.entitiesByName[name]
      else { return nil }
      return entityMapping(from: former, to: entity)
    }
    return mapping
  }

  private func entityMapping(
    from source: NSEntityDescription, to destination: NSEntityDescription
  ) -> NSEntityMapping {
    let name = destination.name ?? ""
    let mapping = NSEntityMapping()
    mapping.name = "\(name)To\(name)"
    mapping.sourceEntityName = name
    mapping.destinationEntityName = name
    mapping.mappingType = .transformEntityMappingType
    if let policy = policies[name] {
      mapping.mappingType = .customEntityMappingType
      mapping.entityMigrationPolicyClassName = policy
    }
    mapping.attributeMappings = destination.attributesByName.keys.sorted().compactMap { attribute in
      let expression =
        expressions["\(name).\(attribute)"]
        ?? (source.attributesByName[attribute] == nil ? nil : "$source.\(attribute)")
      return expression.map { propertyMapping(attribute, NSExpression(format: $0)) }
    }
    let relationships = destination.relationshipsByName.values.sorted { $0.name < $1.name }
    mapping.relationshipMappings = relationships.compactMap { relationship in
      let key = "\(name).\(relationship.name)"
      let isCopied = source.relationshipsByName[relationship.name] != nil
      guard let target = relationship.destinationEntity?.name,
        let path = expressions[key] ?? (isCopied ? "$source.\(relationship.name)" : nil)
      else { return nil }
      return propertyMapping(
        relationship.name,
        NSExpression(
          format:
            "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "
            + "'\(target)To\(target)', \(path))"))
    }
    return mapping
  }

  private func propertyMapping(_ name: String, _ expression: NSExpression) -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    mapping.name = name
    mapping.valueExpression = expression
    return mapping
  }

  /// The source of a property that isn't copied from a property with the same name.
  private var expressions: [String: String] {
    switch self {
    case .version2:
      [
        "Mood.continent": "$source.country.continent",
        "Continent.moods": "$source.countries.@distinctUnionOfSets.moods",
      ]
    case .version4: ["Country.isoContinent": "$source.continent.numericISO3166Code"]
    case .version6: ["Mood.remoteIdentifier": "$source.remoteID"]
    default: [:]
    }
  }

  /// The policies of entities that expressions can't migrate.
  private var policies: [String: String] {
    switch self {
    case .version5: ["Country": Country5ToCountry6Policy.name]
    case .version6: ["Mood": Version7Policy.name, "Continent": Version7Policy.name]
    default: [:]
    }
  }
}

/// Splits the continent off a country: finds or inserts the one with the country's continent code.
final class Country5ToCountry6Policy: NSEntityMigrationPolicy {
  static let name = "Moody.Country5ToCountry6Policy"

  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let countries = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [source])
    // Versions before 5 stored 0 for no continent.
    guard let code = source.value(forKey: "isoContinent") as? Int, code != 0,
      let country = countries.first
    else { return }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Continent")
    request.predicate = NSPredicate(format: "numericISO3166Code == %ld", code)
    let context = manager.destinationContext
    let continent =
      try context.fetch(request).first
      ?? NSEntityDescription.insertNewObject(forEntityName: "Continent", into: context)
    continent.setValue(code, forKey: "numericISO3166Code")
    country.setValue(continent, forKey: "continent")
  }
}

/// Sets what version 7 requires and version 6 doesn't have: the colors of a mood, and the counts
/// and the date of a continent.
final class Version7Policy: NSEntityMigrationPolicy {
  static let name = "Moody.Version7Policy"

  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let instances = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [source])
    for instance in instances {
      guard source.entity.name == "Continent" else {
        if instance.value(forKey: "colors") == nil { instance.setValue(Data(), forKey: "colors") }
        continue
      }
      let countries = source.value(forKey: "countries") as? Set<NSManagedObject> ?? []
      let moods = countries.compactMap { $0.value(forKey: "numberOfMoods") as? Int }
      let dates = countries.compactMap { $0.value(forKey: "updatedAt") as? Date }
      instance.setValue(countries.count, forKey: "numberOfCountries")
      instance.setValue(moods.reduce(0, +), forKey: "numberOfMoods")
      instance.setValue(dates.max() ?? Date(), forKey: "updatedAt")
    }
  }
}
