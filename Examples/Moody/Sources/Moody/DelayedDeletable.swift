public import OpenCoreData

/// What is deleted in two steps: marked and out of sight, then, once nobody holds it, for good.
///
/// A deletion that other contexts have not merged leaves them with faults that cannot be filled. While
/// an object is only marked, no delete rule runs and `prepareForDeletion` is not called: what points at
/// it lets go by itself. The book's chapter 11.
public protocol DelayedDeletable: NSManagedObject {
  /// When it was marked; nil while it is alive.
  var markedForDeletionDate: Date? { get set }
}

extension DelayedDeletable {
  /// The key of `markedForDeletionDate`.
  public static var deletionDateKey: String { "markedForDeletionDate" }

  /// Marks the object, once; its first date stays.
  ///
  /// A fault is marked without being read, and then again.
  public func markForLocalDeletion() {
    guard isFault || markedForDeletionDate == nil else { return }
    markedForDeletionDate = Date()
  }

  /// What every list fetches with: all that is not marked.
  public static var notMarkedForLocalDeletionPredicate: NSPredicate {
    NSPredicate(format: "%K == NULL", deletionDateKey)
  }

  /// Whether the save that is coming marks the object.
  public var changedForDelayedDeletion: Bool {
    changedValue(forKey: Self.deletionDateKey) is Date
  }

  /// Whether the model has the mark; the scenarios' smaller model does not.
  var isDelayedDeletable: Bool {
    entity.attributesByName[Self.deletionDateKey] != nil
  }
}

extension DelayedDeletable where Self: FetchableEntity {
  /// All objects that are not marked, in the default order.
  public static var visibleFetchRequest: NSFetchRequest<Self> {
    let request = sortedFetchRequest
    request.predicate = notMarkedForLocalDeletionPredicate
    return request
  }

  /// Deletes for good what was marked longer ago than an age.
  ///
  /// A batch deletion: nothing is read, no context hears of it, and none needs to, as nobody holds what
  /// was marked that long ago. Cost: a DELETE, and what batch deletions cost beside it.
  /// - Parameter age: Seconds; two minutes by default.
  /// - Throws: as `execute`.
  public static func deleteMarked(
    in context: NSManagedObjectContext, olderThan age: TimeInterval = 120
  ) throws {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.predicate = NSPredicate(
      format: "%K < %@", deletionDateKey, Date(timeIntervalSinceNow: -age) as NSDate)
    let deletion = NSBatchDeleteRequest(fetchRequest: request)
    deletion.resultType = .resultTypeStatusOnly
    try context.execute(deletion)
  }
}
