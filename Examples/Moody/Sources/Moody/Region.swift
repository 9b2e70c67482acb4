public import OpenCoreData

/// The abstract parent entity of `Continent` and `Country`.
public class Region: NSManagedObject, DelayedDeletable {
  /// The ISO 3166 code.
  @Managed("numericISO3166Code") public final var numericISO3166Code: Int16
  /// The number of moods, stored so that a list doesn't need to count them.
  @Managed("numberOfMoods") public final var numberOfMoods: Int64
  /// The date on which a mood was last added.
  @Managed("updatedAt") public final var updatedAt: Date

  /// The date on which the region was marked for deletion.
  ///
  /// Only the complete model contains it.
  @Managed("markedForDeletionDate") public final var markedForDeletionDate: Date?

  /// Sets the date of the last update to the current date.
  public override func awakeFromInsert() {
    super.awakeFromInsert()
    updatedAt = Date()
  }
}
