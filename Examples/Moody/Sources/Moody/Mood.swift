public import OpenCoreData

/// The colors of a moment, with its date and location.
public final class Mood: NSManagedObject, FetchableEntity, DelayedDeletable, RemoteDeletable {
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
  /// The name of the record that represents the mood on the server.
  ///
  /// The device that inserts the mood chooses the name, so that the server recognizes an upload
  /// that it receives twice. Only the complete model contains it.
  @Managed("recordName") public var recordName: String?
  /// The identifier of the user who uploaded the mood, or `nil` if the server doesn't have it yet.
  ///
  /// Only the complete model contains it.
  @Managed("creatorID") public var creatorID: String?
  /// Whether the mood must be deleted on the server.
  ///
  /// Only the complete model contains it.
  @Managed("markedForRemoteDeletion") public var markedForRemoteDeletion: Bool
  /// The country in which the mood was seen.
  @Managed("country") public var country: Country?
  /// The date on which the mood was marked for deletion.
  ///
  /// Only the complete model contains it.
  @Managed("markedForDeletionDate") public var markedForDeletionDate: Date?

  /// Chooses the record name, if the model is the complete one.
  public override func awakeFromInsert() {
    super.awakeFromInsert()
    if isDelayedDeletable { recordName = UUID().uuidString }
  }

  /// Removes the mood from its country when it's marked for local or remote deletion.
  public override func willSave() {
    super.willSave()
    guard isDelayedDeletable, changedForDelayedDeletion || changedForRemoteDeletion else { return }
    if country != nil { country = nil }
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

  /// The predicate for lists: all moods that aren't marked for local or remote deletion.
  public static var defaultPredicate: NSPredicate {
    NSCompoundPredicate(andPredicateWithSubpredicates: [
      notMarkedForLocalDeletionPredicate, notMarkedForRemoteDeletionPredicate,
    ])
  }

  /// The order of the list: newest first.
  public static var defaultSortDescriptors: [NSSortDescriptor] {
    [NSSortDescriptor(key: "date", ascending: false)]
  }
}
