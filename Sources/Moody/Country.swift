public import OpenCoreData

/// A country, the continent it lies on and the moods seen in it.
public final class Country: Region, FetchableEntity {
  /// The continent; nil where the code is not known.
  @Managed("continent") public var continent: Continent?
  /// The moods; the first reading costs a SELECT.
  @Managed("moods") public var moods: Set<Mood>

  /// `Country`.
  public static var entityName: String { "Country" }
}
