public import OpenCoreData

/// The moods that a list shows.
public enum MoodSource {
  /// The moods of all countries.
  case all
  /// The moods of one country.
  case country(Country)
  /// The moods of a continent's countries.
  case continent(Continent)

  /// The predicate of the list's fetch.
  public var predicate: NSPredicate {
    switch self {
    case .all: NSPredicate(value: true)
    case .country(let country): NSPredicate(format: "country == %@", country)
    case .continent(let continent):
      NSPredicate(format: "country IN %@", continent.countries as NSSet)
    }
  }

  /// Fulfills the countries whose names the list shows, and returns them so that the caller can
  /// retain them.
  ///
  /// **Cost**: the continent's to-many relationship and one SELECT for its faults; none for other
  /// sources.
  public func prefetch() throws -> [Country] {
    guard case .continent(let continent) = self else { return [] }
    let countries = Array(continent.countries)
    try countries.fetchFaults()
    return countries
  }
}
