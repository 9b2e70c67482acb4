package import OpenCoreData

/// A store of a configuration of its model, created by OpenCoreData.
package struct ConfigurationStore {
  package let folder: TemporaryFolder
  package let url: URL

  /// Creates a store with the cities Berlin and Kyiv for `Local`, the country Ukraine for `Cloud`,
  /// and both for `nil`.
  package init(_ configuration: String? = "Local") throws {
    folder = try TemporaryFolder()
    url = folder.file("Cities.sqlite")
    let model = Self.model()
    let stored = Set(model.entities(forConfigurationName: configuration)?.compactMap(\.name) ?? [])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (entity, name) in [("City", "Berlin"), ("City", "Kyiv"), ("Country", "Ukraine")]
      where stored.contains(entity) {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  /// `Local` and `Offline` have the cities, and `Cloud` has the countries that cities refer to.
  ///
  /// - Parameter hasArea: Whether cities have an area, as in the next version.
  package static func model(hasArea: Bool = false) -> NSManagedObjectModel {
    let (city, country) = (NSEntityDescription(), NSEntityDescription())
    (city.name, country.name) = ("City", "Country")
    let (home, cities) = (NSRelationshipDescription(), NSRelationshipDescription())
    (home.name, home.destinationEntity, home.maxCount) = ("country", country, 1)
    (cities.name, cities.destinationEntity) = ("cities", city)
    (home.inverseRelationship, cities.inverseRelationship) = (cities, home)
    city.properties = [attribute("name", .stringAttributeType), home]
    if hasArea { city.properties.append(attribute("area", .doubleAttributeType)) }
    country.properties = [attribute("name", .stringAttributeType), cities]
    let model = NSManagedObjectModel()
    model.entities = [city, country]
    model.setEntities([city], forConfigurationName: "Local")
    model.setEntities([city], forConfigurationName: "Offline")
    model.setEntities([country], forConfigurationName: "Cloud")
    return model
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType) = (name, type)
    return attribute
  }
}
