import ManagedModel

/// What a request asks a store for.
///
/// Apple counterpart: the same.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// A fetch, or a request for history.
  case fetchRequestType = 1
  /// A save; a context makes none of its `save()`, and executes none.
  case saveRequestType = 2
  /// A batch insertion.
  case batchInsertRequestType = 5
  /// A batch update.
  case batchUpdateRequestType = 6
  /// A batch deletion.
  case batchDeleteRequestType = 7
}

/// A request to a coordinator: a fetch, a batch, a look at the history.
///
/// Apple counterpart: `NSPersistentStoreRequest`.
open class NSPersistentStoreRequest: NSObject {
  /// The stores to ask; nil is all of them.
  open var affectedStores: [NSPersistentStore]?

  /// What the request asks for.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// Carries the request out for a context, on its queue.
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let instead = requestType == .saveRequestType ? " Save with the context's save()." : ""
    throw NSError.coreData(
      NSPersistentStoreUnsupportedRequestTypeError,
      "\(type(of: self)) isn't a request that a context executes.\(instead)")
  }

  /// Carries the request out and gives what it is about: of a fetch what was fetched, in an array.
  func answer(in context: NSManagedObjectContext) throws -> Any {
    try context.execute(self)
  }
}

/// What `NSManagedObjectContext.execute(_:)` gives: a result of the request's own kind.
///
/// Apple counterpart: the same.
open class NSPersistentStoreResult: NSObject {}
