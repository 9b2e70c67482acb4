import ManagedModel

/// The type of a batch deletion's result.
///
/// Apple counterpart: the same.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// Whether the request succeeded, a `Bool`.
  case resultTypeStatusOnly = 0
  /// The IDs of the rows that the request matched, `[NSManagedObjectID]`.
  case resultTypeObjectIDs = 1
  /// The number of rows that the request matched, an `Int`.
  case resultTypeCount = 2
}

/// Deletes rows of a SQLite store without loading an object.
///
/// Cascade and nullify rules are performed in SQL, in the same transaction: destinations of a
/// cascade are deleted with their own cascades, level by level, and columns and join rows that
/// refer to a deleted row are cleared. If a row that stays requires a deleted one, by a
/// relationship whose inverse has the nullify rule, the request fails with error 134030 and deletes
/// nothing. Deny rules aren't consulted. The request bypasses the context: no object is notified,
/// and the row cache keeps its rows; merge the object IDs of the result. Rows deleted by a cascade
/// aren't in the result; the persistent history has them.
///
/// **Cost:** one DELETE, and one statement for each column and join table that refers to the
/// entity. With cascade rules, also one SELECT for the matched rows and one for each level and
/// relationship, and a DELETE for each table. All in one transaction. Apple counterpart: the same;
/// the book's chapters 7 and 11.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
  /// The rows to delete, including limit and offset.
  public let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
  /// The type of the result.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

  private let objectIDs: [NSManagedObjectID]?

  private init(
    _ fetch: NSFetchRequest<any NSFetchRequestResult>, _ objectIDs: [NSManagedObjectID]?
  ) {
    fetchRequest = fetch
    self.objectIDs = objectIDs
    super.init()
  }

  /// Creates a request that deletes the matches of a fetch request.
  public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
    fetchRequest = fetch
    objectIDs = nil
    super.init()
  }

  /// Creates a request that deletes the matches of a fetch request with any type of result.
  public convenience init<T>(fetchRequest fetch: NSFetchRequest<T>) {
    self.init(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(copying: fetch))
  }

  /// Creates a request that deletes the rows with object IDs of one entity.
  ///
  /// Temporary IDs, and those of other stores than the coordinator's, are ignored. It's a
  /// programmer error to pass no IDs, or IDs of different entities.
  public init(objectIDs objects: [NSManagedObjectID]) {
    guard let entity = objects.first?.entity else {
      fatalError("a batch deletion by object IDs needs at least one: check if the array is empty")
    }
    guard objects.allSatisfy({ $0.entity === entity }) else {
      fatalError("a batch deletion by object IDs is of one entity; create one request for each")
    }
    fetchRequest = NSFetchRequest()
    fetchRequest.entity = entity
    objectIDs = objects
    super.init()
  }

  /// The type of this request.
  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let plan = try FetchPlan(fetchRequest, model: context.requiredCoordinator.managedObjectModel)
    let wantsIDs = resultType == .resultTypeObjectIDs
    let outcomes = try context.runBatch(plan, on: affectedStores ?? fetchRequest.affectedStores) {
      store, plan in
      let keys = objectIDs.map { ids in
        ContiguousArray(
          // Another coordinator's store may be the same file, or another one.
          ids.filter { !$0.isTemporaryID && $0.handle?.identifier == store.identifier }
            .map(\.primaryKey))
      }
      return try store.delete(plan, keys: keys, returning: wantsIDs, in: context)
    }
    let result: Any
    switch resultType {
    case .resultTypeStatusOnly: result = true
    case .resultTypeObjectIDs: result = outcomes.flatMap(\.objectIDs)
    case .resultTypeCount: result = outcomes.reduce(0) { $0 + $1.count }
    }
    return NSBatchDeleteResult(result, resultType)
  }

  /// Returns a copy of the request, with a copy of its fetch request.
  ///
  /// A copy of a subclass is a plain `NSBatchDeleteRequest`.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let fetch = NSFetchRequest<any NSFetchRequestResult>(copying: fetchRequest)
    let copy = NSBatchDeleteRequest(fetch, objectIDs)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    return copy
  }
}

/// The result of a batch deletion.
///
/// Apple counterpart: the same.
open class NSBatchDeleteResult: NSPersistentStoreResult {
  /// A `Bool`, `[NSManagedObjectID]`, or `Int`, depending on `resultType`.
  public let result: Any?
  /// The type of `result`.
  public let resultType: NSBatchDeleteRequestResultType

  init(_ result: Any?, _ resultType: NSBatchDeleteRequestResultType) {
    self.result = result
    self.resultType = resultType
  }
}
