import OpenCoreData

/// The classes of `Scenarios/Models/Moody.xcdatamodel`, without the rules of the sample app.
enum SampleClasses {
  /// Registers the classes; safe to call again.
  static func register() {
    Region.registerClass()
    Continent.registerClass()
    Country.registerClass()
    Mood.registerClass()
  }
}

final class Mood: NSManagedObject, SampleClass {
  @Managed("date") var date: Date
  @Managed("colors") var colors: Data
  @Managed("latitude") var latitude: Double?
  @Managed("longitude") var longitude: Double?
  @Managed("remoteIdentifier") var remoteIdentifier: String?
  @Managed("country") var country: Country?

  static var order: [NSSortDescriptor] { [NSSortDescriptor(key: "date", ascending: false)] }
}

class Region: NSManagedObject {
  @Managed("numericISO3166Code") final var numericISO3166Code: Int16
  @Managed("numberOfMoods") final var numberOfMoods: Int64
  @Managed("updatedAt") final var updatedAt: Date

  override func awakeFromInsert() {
    super.awakeFromInsert()
    updatedAt = Date()
  }
}

final class Country: Region, SampleClass {
  @Managed("continent") var continent: Continent?
  @Managed("moods") var moods: Set<Mood>
}

final class Continent: Region, SampleClass {
  @Managed("numberOfCountries") var numberOfCountries: Int64
  @Managed("countries") var countries: Set<Country>
}

/// A class with short fetch and count methods; its entity has the same name.
protocol SampleClass: NSManagedObject {
  static var order: [NSSortDescriptor] { get }
}

extension SampleClass {
  static var order: [NSSortDescriptor] { [] }

  /// A request for all objects in the class's order.
  static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: "\(Self.self)")
    request.sortDescriptors = order
    return request
  }

  static func fetch(
    in context: NSManagedObjectContext, _ configure: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> [Self] {
    let request = NSFetchRequest<Self>(entityName: "\(Self.self)")
    configure(request)
    return try context.fetch(request)
  }

  static func count(
    in context: NSManagedObjectContext, _ configure: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> Int {
    let request = NSFetchRequest<Self>(entityName: "\(Self.self)")
    configure(request)
    return try context.count(for: request)
  }
}
