import Moody
import OpenCoreData

/// A store of the sample's whole model.
enum MoodyBed {
  static func make(_ kind: StoreKind) throws -> ContextBed {
    MoodyContainer.registerClasses()
    return try ContextBed(kind, model: MoodyModel.make())
  }
}

extension NSManagedObjectContext {
  /// The country of a code, made with its continent when it is not there.
  func country(_ code: Int16, continent continentCode: Int16 = 10_001) throws -> Country {
    try Country.findOrCreate(
      in: self, matching: NSPredicate(format: "numericISO3166Code == %ld", Int(code))
    ) { country in
      country.numericISO3166Code = code
      country.continent = try? Continent.findOrCreate(
        in: self, matching: NSPredicate(format: "numericISO3166Code == %ld", Int(continentCode))
      ) { $0.numericISO3166Code = continentCode }
    }
  }

  @discardableResult
  func mood(_ minute: Int, in country: Country?) -> Mood {
    let mood: Mood = insertObject()
    mood.date = Date(timeIntervalSinceReferenceDate: Double(minute) * 60)
    mood.colors = Data([1, 2, 3])
    mood.country = country
    return mood
  }
}
