import CoreDataCosts
import OpenCoreData
import ProfileEvents

/// People and cities as in the book, in a store of any kind.
final class CityStore {
  let kind: StoreKind
  let stack: TestStack
  let events = EventList()
  let context: NSManagedObjectContext

  /// City, mayor's name, residents as name, age and number of cars.
  private static let cities: [(String, String?, [(String, Int16, Int16?)])] = [
    ("Ayr", "Ann", [("Al", 24, 0), ("Ann", 40, 2)]),
    ("Bath", "Ben", [("Ben", 22, 2), ("Bo", 23, nil)]),
    ("Cork", nil, []),
    ("Deal", "Dot", [("Dan", 25, 1), ("Di", 28, nil), ("Dot", 29, 2)]),
    ("Ely", nil, [("Ed", 20, 2), ("Eve", 19, nil)]),
  ]

  private static let visitors = [
    "Ayr": ["Ben", "Bo", "Dan", "Ed"], "Bath": ["Ann"], "Cork": ["Ed", "Ann", "Di"], "Ely": [],
    "Deal": ["Al"],
  ]

  init(_ kind: StoreKind) throws {
    self.kind = kind
    stack = try TestStack(kind, model: Self.model())
    let filling = try stack.coldContext()
    try filling.performAndWait { try Self.fill(filling) }
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    // The same coordinator, whose row cache already contains the data.
    context.persistentStoreCoordinator = filling.persistentStoreCoordinator
    filling.persistentStoreCoordinator?.eventHub.add(events)
  }

  private static func model() -> NSManagedObjectModel {
    let person = SchemaModels.entity(
      "Person",
      [
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("age", .integer16AttributeType),
        SchemaModels.attribute("carsOwnedCount", .integer16AttributeType),
        SchemaModels.attribute("modified", .dateAttributeType),
        SchemaModels.attribute("hidden", .booleanAttributeType),
      ])
    let city = SchemaModels.entity("City", [SchemaModels.attribute("name", .stringAttributeType)])
    SchemaModels.relate(city, "residents", many: true, person, "city", many: false)
    SchemaModels.relate(city, "mayor", many: false, person, "mayorOf", many: false)
    SchemaModels.relate(city, "visitors", many: true, person, "visitedCities", many: true)
    for (entity, keys) in [(person, ["age", "hidden", "name"]), (city, ["name"])] {
      entity.indexes = keys.compactMap { key in
        entity.propertiesByName[key].map {
          NSFetchIndexDescription(
            name: "by\(key)",
            elements: [NSFetchIndexElementDescription(property: $0, collationType: .binary)])
        }
      }
    }
    let model = NSManagedObjectModel()
    model.entities = [person, city]
    return model
  }

  private static func fill(_ context: NSManagedObjectContext) throws {
    var people: [String: NSManagedObject] = [:]
    var places: [String: NSManagedObject] = [:]
    for (name, mayor, residents) in cities {
      let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
      city.setValue(name, forKey: "name")
      places[name] = city
      for (name, age, cars) in residents {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue(name, forKey: "name")
        person.setValue(age, forKey: "age")
        person.setValue(cars, forKey: "carsOwnedCount")
        person.setValue(age % 2 == 0, forKey: "hidden")
        person.setValue(
          Date(timeIntervalSinceReferenceDate: Double(age) / 3), forKey: "modified")
        person.setValue(city, forKey: "city")
        people[name] = person
      }
      city.setValue(mayor.flatMap { people[$0] }, forKey: "mayor")
    }
    for (name, visitors) in visitors {
      places[name]?.setValue(Set(visitors.compactMap { people[$0] }), forKey: "visitors")
    }
    try context.save()
  }

  /// The names of the fetched objects, in order.
  func names(
    _ entity: String, _ predicate: NSPredicate?,
    _ configure: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
  ) throws -> [String] {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.predicate = predicate
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      configure(request)
      return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
    }
  }

  /// Fetches the object with a name.
  func object(_ entity: String, _ name: String) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: "name == %@", name)
    guard let object = try context.fetch(request).first else { throw Missing(name: name) }
    return object
  }

  struct Missing: Error {
    let name: String
  }

  /// The SQL of the SELECTs so far; empty for a store that doesn't run SQL.
  var selects: [String] { events.statements(.select) }
}
