public import OpenCoreData

/// Whose moods a list shows.
public enum MoodSource {
  /// Those of every country.
  case all
  /// Those of one country.
  case country(Country)
  /// Those of a continent's countries.
  case continent(Continent)

  /// What the list fetches.
  public var predicate: NSPredicate {
    switch self {
    case .all: NSPredicate(value: true)
    case .country(let country): NSPredicate(format: "country == %@", country)
    case .continent(let continent):
      NSPredicate(format: "country IN %@", continent.countries as NSSet)
    }
  }

  /// Fills the countries whose names the list will show, and gives them, to be held.
  ///
  /// Cost: the continent's to-many and one SELECT for its faults; nothing for the others.
  public func prefetch() throws -> [Country] {
    guard case .continent(let continent) = self else { return [] }
    let countries = Array(continent.countries)
    try countries.fetchFaults()
    return countries
  }
}
