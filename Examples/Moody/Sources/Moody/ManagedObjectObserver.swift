public import OpenCoreData

/// Hears what becomes of one object.
///
/// Made and released on the context's queue, where the handler is called. Cost: a few lookups for each
/// did-change of the context. The book's chapter 3.
public final class ManagedObjectObserver {
  /// What happened.
  public enum ChangeType: Sendable {
    /// It was deleted, or the context forgot everything.
    case delete
    /// It was changed, or read again.
    case update
  }

  private let token: any NSObjectProtocol

  /// Listens until it is released; nil for an object without a context.
  ///
  /// An object that was both changed and deleted is told as deleted.
  public init?(
    object: NSManagedObject, changeHandler: @escaping (ChangeType) -> Void
  ) {
    guard let context = object.managedObjectContext else { return nil }
    // A context posts on its own queue, where object and handler belong.
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
