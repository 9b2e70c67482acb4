import ManagedModel
import OpenCoreData

/// Models for tests of saving.
enum SavingModels {
  /// Items with three numbers and a name.
  static func items(className: String? = nil) -> NSManagedObjectModel {
    let item = NSEntityDescription()
    item.name = "Item"
    item.managedObjectClassName = className
    item.properties =
      ["a", "b", "c"].map { TestModels.attribute($0, .integer32AttributeType) } + [
        TestModels.attribute("name", .stringAttributeType)
      ]
    return model(item)
  }

  /// Continents and countries, subentities of an abstract region with a unique code; people with
  /// unique pairs of first and last name; and cities of a country.
  static func regions() -> NSManagedObjectModel {
    let region = NSEntityDescription()
    region.name = "Region"
    region.isAbstract = true
    let country = NSEntityDescription()
    country.name = "Country"
    let continent = NSEntityDescription()
    continent.name = "Continent"
    let city = NSEntityDescription()
    city.name = "City"
    let person = NSEntityDescription()
    person.name = "Person"
    let cities = TestModels.relationship("cities", to: city, isToMany: true)
    let home = TestModels.relationship("country", to: country, isToMany: false)
    cities.inverseRelationship = home
    home.inverseRelationship = cities
    home.isOptional = false
    region.properties = [TestModels.attribute("code", .stringAttributeType)]
    region.uniquenessConstraints = [["code"]]
    country.properties = [
      TestModels.attribute("name", .stringAttributeType),
      TestModels.attribute("size", .integer32AttributeType), cities,
    ]
    continent.properties = [TestModels.attribute("area", .integer32AttributeType)]
    region.subentities = [continent, country]
    city.properties = [TestModels.attribute("name", .stringAttributeType), home]
    person.properties = [
      TestModels.attribute("first", .stringAttributeType),
      TestModels.attribute("last", .stringAttributeType),
    ]
    person.uniquenessConstraints = [["first", "last"]]
    return model(region, country, continent, city, person)
  }

  private static func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }
}
