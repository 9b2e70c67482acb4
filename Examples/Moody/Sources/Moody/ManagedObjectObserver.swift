public import OpenCoreData

/// An observer of the changes of one object.
///
/// Create and release it on the context's queue, on which the handler is called. See chapter 3 of
/// the book.
///
/// **Cost**: a few lookups for each did-change notification of the context.
public final class ManagedObjectObserver {
  /// The type of a change.
  public enum ChangeType: Sendable {
    /// The object was deleted or invalidated, or the context was reset.
    case delete
    /// The object was changed or refreshed.
    case update
  }

  private let token: any NSObjectProtocol

  /// Creates an observer, or returns `nil` if the object has no context.
  ///
  /// The observer is active until it's released.
  ///
  /// If an object was both changed and deleted, the handler receives `delete`.
  public init?(
    object: NSManagedObject, changeHandler: @escaping (ChangeType) -> Void
  ) {
    guard let context = object.managedObjectContext else { return nil }
    // A context posts notifications on its own queue, on which the object and the handler are used.
    nonisolated(unsafe) let handler = changeHandler
    nonisolated(unsafe) weak let observed = object
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { note in
      guard let observed, let type = ManagedObjectObserver.change(of: observed, in: note)
      else { return }
      handler(type)
    }
  }

  deinit {
    NotificationCenter.default.removeObserver(token)
  }

  private static func change(of object: NSManagedObject, in note: Notification) -> ChangeType? {
    func holds(_ keys: String...) -> Bool {
      keys.contains { (note.userInfo?[$0] as? Set<NSManagedObject>)?.contains(object) ?? false }
    }
    if note.userInfo?[NSInvalidatedAllObjectsKey] != nil
      || holds(NSDeletedObjectsKey, NSInvalidatedObjectsKey)
    {
      return .delete
    }
    return holds(NSUpdatedObjectsKey, NSRefreshedObjectsKey) ? .update : nil
  }
}
