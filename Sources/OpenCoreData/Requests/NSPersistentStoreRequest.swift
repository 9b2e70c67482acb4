import ManagedModel

/// The kind of a request to a store.
///
/// Apple counterpart: the same.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// A fetch or a history request.
  case fetchRequestType = 1
  /// A save; a context creates none for its `save()`, and executes none.
  case saveRequestType = 2
  /// A batch insertion.
  case batchInsertRequestType = 5
  /// A batch update.
  case batchUpdateRequestType = 6
  /// A batch deletion.
  case batchDeleteRequestType = 7
}

/// A request to a coordinator: a fetch, a batch request, a history request.
///
/// Apple counterpart: `NSPersistentStoreRequest`.
open class NSPersistentStoreRequest: NSObject {
  /// The stores to use; nil for all of them.
  open var affectedStores: [NSPersistentStore]?

  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// Executes the request for a context, on its queue.
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let instead = requestType == .saveRequestType ? " Save with the context's save()." : ""
    throw NSError.coreData(
      NSPersistentStoreUnsupportedRequestTypeError,
      "\(type(of: self)) isn't a request that a context executes.\(instead)")
  }

  /// Executes the request and returns its result; for a fetch, the fetched items as an array.
  func answer(in context: NSManagedObjectContext) throws -> Any {
    try context.execute(self)
  }
}

/// The result of `NSManagedObjectContext.execute(_:)`, of the type for the request.
///
/// Apple counterpart: the same.
open class NSPersistentStoreResult: NSObject {}
