public import OpenCoreData

/// A continent and its countries.
public final class Continent: Region, FetchableEntity {
  /// How many countries have moods.
  @Managed("numberOfCountries") public var numberOfCountries: Int64
  /// The countries; the first reading costs a SELECT.
  @Managed("countries") public var countries: Set<Country>

  /// `Continent`.
  public static var entityName: String { "Continent" }
}
