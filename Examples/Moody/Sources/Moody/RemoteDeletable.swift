public import OpenCoreData

/// An object that is deleted on the server before it's deleted locally.
///
/// If the user interface deleted the object itself, nothing would be left that tells the server,
/// for example after the program has quit. Therefore, the object is marked; it's deleted locally
/// only after the server has deleted it. See chapter 9 of *Core Data* by Florian Kugler and Daniel
/// Eggert (objc.io), which calls the attribute both `pendingRemoteDeletion` and
/// `markedForRemoteDeletion`.
public protocol RemoteDeletable: NSManagedObject {
  /// Whether the object must be deleted on the server.
  var markedForRemoteDeletion: Bool { get set }
  /// The identifier on the server, or `nil` if the object isn't on the server yet.
  var remoteIdentifier: String? { get set }
}

extension RemoteDeletable {
  /// The attribute name of `markedForRemoteDeletion`.
  public static var remoteDeletionKey: String { "markedForRemoteDeletion" }
  /// The attribute name of `remoteIdentifier`.
  public static var remoteIdentifierKey: String { "remoteIdentifier" }

  /// Marks the object for deletion on the server, and hides it from lists.
  ///
  /// Call this method instead of deleting the object, and save.
  public func markForRemoteDeletion() {
    markedForRemoteDeletion = true
  }

  /// The predicate for all objects that aren't marked for deletion on the server.
  public static var notMarkedForRemoteDeletionPredicate: NSPredicate {
    NSPredicate(format: "%K == NO", remoteDeletionKey)
  }

  /// The predicate for all objects that are marked for deletion on the server.
  public static var markedForRemoteDeletionPredicate: NSPredicate {
    NSPredicate(format: "%K == YES", remoteDeletionKey)
  }

  /// Whether the object has an unsaved mark.
  public var changedForRemoteDeletion: Bool {
    changedValue(forKey: Self.remoteDeletionKey) as? Bool == true
  }
}
