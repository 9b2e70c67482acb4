import ManagedModel

/// What `NSManagedObjectContext.execute(_:)` gives: a result of the request's own kind.
///
/// Apple counterpart: the same.
open class NSPersistentStoreResult: NSObject {}
