public import OpenCoreData

/// What Continent and Country have in common; the abstract parent entity of both.
public class Region: NSManagedObject, DelayedDeletable {
  /// The ISO 3166 code.
  @Managed("numericISO3166Code") public final var numericISO3166Code: Int16
  /// How many moods belong here, kept so that a list need not count.
  @Managed("numberOfMoods") public final var numberOfMoods: Int64
  /// When a mood was last added.
  @Managed("updatedAt") public final var updatedAt: Date

  /// When it was marked for deletion; only the whole model has it.
  @Managed("markedForDeletionDate") public final var markedForDeletionDate: Date?

  /// Sets the date of the last update to now.
  public override func awakeFromInsert() {
    super.awakeFromInsert()
    updatedAt = Date()
  }
}
