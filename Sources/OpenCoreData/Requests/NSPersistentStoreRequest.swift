import ManagedModel
import ProfileEvents

/// The kind of a request to a store.
///
/// Apple counterpart: the same.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// A fetch or a history request.
  case fetchRequestType = 1
  /// A save, which a context's `save()` passes to an incremental store. A context doesn't execute
  /// it.
  case saveRequestType = 2
  /// A batch insertion.
  case batchInsertRequestType = 5
  /// A batch update.
  case batchUpdateRequestType = 6
  /// A batch deletion.
  case batchDeleteRequestType = 7

  /// The types of batch requests.
  static let batches: [NSPersistentStoreRequestType] = [
    .batchInsertRequestType, .batchUpdateRequestType, .batchDeleteRequestType,
  ]
}

/// A request to a coordinator: a fetch, a batch request, a history request.
///
/// A program's incremental store can also execute subclasses of the program.
/// Apple counterpart: `NSPersistentStoreRequest`.
open class NSPersistentStoreRequest: NSObject, NSCopying {
  /// The stores to use; `nil` for all of them.
  open var affectedStores: [NSPersistentStore]?

  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// Returns a copy of the request, which can be changed independently.
  ///
  /// A copy of a subclass that doesn't override it is an instance of the superclass.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreRequest()
    copy.affectedStores = affectedStores
    return copy
  }

  /// Executes the request for a context, on its queue.
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let isSave = requestType == .saveRequestType
    if !isSave, let result = try context.delegate(self) { return result }
    let instead = isSave ? " Save with the context's save()." : ""
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

extension NSManagedObjectContext {
  /// Executes a request; see `execute(_:file:line:)`.
  final func run(
    _ request: NSPersistentStoreRequest, at file: String, _ line: Int
  ) throws -> NSPersistentStoreResult {
    try located(file, line) {
      let isBatch = NSPersistentStoreRequestType.batches.contains(request.requestType)
      if isBatch, let result = try delegate(request) { return result }
      return try request.run(in: self)
    }
  }

  /// Runs a batch request on the stores that contain its entity: one event; what was read before is
  /// outdated.
  ///
  /// - Parameters:
  ///   - affected: The stores to use; `nil` for all.
  ///   - isInsertion: Whether to use only the first writable store, as for a new object; without
  ///     any, it's an error.
  ///   - body: Receives each store, and the plan for it. Each has its own transaction.
  final func runBatch(
    _ plan: FetchPlan, on affected: [NSPersistentStore]?, isInsertion: Bool = false,
    _ body: (SQLiteStore, FetchPlan) throws -> BatchOutcome
  ) throws -> [BatchOutcome] {
    endReadTransaction()
    var stores = requiredCoordinator.stores(containing: plan.layout)
    if let affected { stores = stores.filter { store in affected.contains { $0 === store } } }
    if isInsertion {
      stores = (stores.first { !$0.isReadOnly } ?? stores.first).map { [$0] } ?? []
    }
    if stores.isEmpty, isInsertion || affected == nil {
      guard affected == nil else { throw NSError.noAffectedStore(of: plan.entityName) }
      throw requiredCoordinator.persistentStores.isEmpty
        ? NSError.noStore() : NSError.noStore(containing: plan.entityName)
    }
    let files = try stores.map { store in
      guard let sqlite = try store.writable() as? SQLiteStore else {
        throw NSError.coreData(
          NSPersistentStoreUnsupportedRequestTypeError,
          "Batch requests require SQLite stores or a single incremental store; this store is of "
            + "the type \(store.type).")
      }
      return sqlite
    }
    let event = scope.begin(.batchRequest)
    do {
      let outcomes = try files.map { store in
        do {
          return try body(store, plan.at(store))
        } catch {
          throw NSError.from(error, store: store)
        }
      }
      scope.end(event) { event in
        event.entity = plan.entityName
        event.rows = outcomes.reduce(0) { $0 + $1.count }
      }
      return outcomes
    } catch {
      scope.fail(event, error) { $0.entity = plan.entityName }
      throw error
    }
  }
}
