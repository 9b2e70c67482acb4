public import OpenCoreData

/// The colors of a moment, with its date and location.
public final class Mood: NSManagedObject, FetchableEntity, DelayedDeletable {
  /// The date of the picture.
  @Managed("date") public var date: Date
  /// The colors, three bytes each.
  @Managed("colors") public var colors: Data
  /// The latitude in degrees, or `nil` without a location.
  @Managed("latitude") public var latitude: Double?
  /// The longitude in degrees, or `nil` without a location.
  @Managed("longitude") public var longitude: Double?
  /// The identifier on the server, or `nil` if the mood isn't on the server yet.
  @Managed("remoteIdentifier") public var remoteIdentifier: String?
  /// The country in which the mood was seen.
  @Managed("country") public var country: Country?
  /// The date on which the mood was marked for deletion.
  ///
  /// Only the complete model contains it.
  @Managed("markedForDeletionDate") public var markedForDeletionDate: Date?

  /// Removes the mood from its country when it's marked for deletion.
  public override func willSave() {
    super.willSave()
    if isDelayedDeletable, changedForDelayedDeletion, country != nil { country = nil }
  }

  /// Deletes the country with its last mood, if the model is the complete one.
  public override func prepareForDeletion() {
    super.prepareForDeletion()
    guard isDelayedDeletable, let country, !country.isDeleted,
      country.moods.allSatisfy({ $0 === self || $0.isDeleted })
    else { return }
    managedObjectContext?.delete(country)
  }

  /// The entity name, `Mood`.
  public static var entityName: String { "Mood" }

  /// The order of the list: newest first.
  public static var defaultSortDescriptors: [NSSortDescriptor] {
    [NSSortDescriptor(key: "date", ascending: false)]
  }
}
