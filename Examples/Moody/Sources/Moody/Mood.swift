public import OpenCoreData

/// A moment's colours, with where and when they were seen.
public final class Mood: NSManagedObject, FetchableEntity, DelayedDeletable {
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
  /// When it was marked for deletion; only the whole model has it.
  @Managed("markedForDeletionDate") public var markedForDeletionDate: Date?

  /// Leaves its country when it is marked.
  public override func willSave() {
    super.willSave()
    if isDelayedDeletable, changedForDelayedDeletion, country != nil { country = nil }
  }

  /// Takes a country along whose last mood it is; in the whole model alone.
  public override func prepareForDeletion() {
    super.prepareForDeletion()
    guard isDelayedDeletable, let country, !country.isDeleted,
      country.moods.allSatisfy({ $0 === self || $0.isDeleted })
    else { return }
    managedObjectContext?.delete(country)
  }

  /// `Mood`.
  public static var entityName: String { "Mood" }

  /// Newest first, as the list shows them.
  public static var defaultSortDescriptors: [NSSortDescriptor] {
    [NSSortDescriptor(key: "date", ascending: false)]
  }
}
