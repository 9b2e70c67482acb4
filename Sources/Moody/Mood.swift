public import OpenCoreData

/// A moment's colours, with where and when they were seen.
public final class Mood: NSManagedObject, FetchableEntity {
  /// When the picture was taken.
  @Managed("date") public var date: Date
  /// Three bytes a colour.
  @Managed("colors") public var colors: Data
  /// Degrees north; nil without a location.
  @Managed("latitude") public var latitude: Double?
  /// Degrees east; nil without a location.
  @Managed("longitude") public var longitude: Double?
  /// The identifier on a server; nil while it is not there.
  @Managed("remoteIdentifier") public var remoteIdentifier: String?
  /// Where it was seen.
  @Managed("country") public var country: Country?

  /// `Mood`.
  public static var entityName: String { "Mood" }

  /// Newest first, as the list shows them.
  public static var defaultSortDescriptors: [NSSortDescriptor] {
    [NSSortDescriptor(key: "date", ascending: false)]
  }
}
