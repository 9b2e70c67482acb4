public import OpenCoreData

/// An object that is deleted in two steps: it's marked and hidden first, and deleted once it's no
/// longer used.
///
/// If another context hasn't merged a deletion, its faults for the deleted objects can't be
/// fulfilled. While an object is only marked, no delete rule applies and `prepareForDeletion()`
/// isn't called, so objects remove their own relationships. See chapter 11 of *Core Data* by
/// Florian Kugler and Daniel Eggert (objc.io).
public protocol DelayedDeletable: NSManagedObject {
  /// The date on which the object was marked for deletion, or `nil`.
  var markedForDeletionDate: Date? { get set }
}

extension DelayedDeletable {
  /// The attribute name of `markedForDeletionDate`.
  public static var deletionDateKey: String { "markedForDeletionDate" }

  /// Marks the object for deletion.
  ///
  /// The first date is kept.
  ///
  /// A fault is always marked, without reading whether it's already marked.
  public func markForLocalDeletion() {
    guard isFault || markedForDeletionDate == nil else { return }
    markedForDeletionDate = Date()
  }

  /// The predicate for lists: all objects that aren't marked.
  public static var notMarkedForLocalDeletionPredicate: NSPredicate {
    NSPredicate(format: "%K == NULL", deletionDateKey)
  }

  /// Whether the object has an unsaved mark.
  public var changedForDelayedDeletion: Bool {
    changedValue(forKey: Self.deletionDateKey) is Date
  }

  /// Whether the model contains the mark.
  ///
  /// The smaller model of the scenarios doesn't.
  var isDelayedDeletable: Bool {
    entity.attributesByName[Self.deletionDateKey] != nil
  }
}

extension FetchableEntity where Self: DelayedDeletable {
  /// A predicate that is true for all objects that aren't marked.
  public static var defaultPredicate: NSPredicate { notMarkedForLocalDeletionPredicate }

  /// A fetch request for all objects that match the default predicate, in the default order.
  public static var visibleFetchRequest: NSFetchRequest<Self> {
    let request = sortedFetchRequest
    request.predicate = defaultPredicate
    return request
  }

  /// Deletes the objects that were marked longer ago than a time interval.
  ///
  /// Runs a batch delete request, which reads no objects. Contexts aren't notified, because objects
  /// that were marked that long ago are no longer used.
  ///
  /// **Cost**: a DELETE, and the additional statements of a batch delete request.
  ///
  /// - Parameters:
  ///   - context: The context to use.
  ///   - age: The time interval in seconds. The default is two minutes.
  /// - Throws: The error of the batch delete request.
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
