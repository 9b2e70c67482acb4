import ManagedModel

/// The type of a batch update's result.
///
/// Apple counterpart: the same.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether the request succeeded, a `Bool`.
  case statusOnlyResultType = 0
  /// The IDs of the updated rows, `[NSManagedObjectID]`.
  case updatedObjectIDsResultType = 1
  /// The number of updated rows, an `Int`.
  case updatedObjectsCountResultType = 2
}

/// Updates rows of a SQLite store without loading objects.
///
/// The request bypasses the context: nothing is validated, no object is notified, and the row cache
/// is unchanged. Each row's version increases, so that objects read before conflict when they are
/// saved. **Cost:** one UPDATE in its own transaction. Apple counterpart: the same; the book's
/// chapter 7.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  /// The entity's name; looked up in the context's model if `entity` wasn't given.
  public let entityName: String
  /// The entity; `nil` if the request was created with a name.
  public let entity: NSEntityDescription!
  /// The condition for rows to update; `nil` for all of them.
  open var predicate: NSPredicate?
  /// Whether rows of subentities are updated too.
  open var includesSubentities = true
  /// The type of the result.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// The new values, by attribute name or `NSAttributeDescription`.
  ///
  /// A value, `NSNull` for `nil`, or an `NSExpression`, which is evaluated for each row with its
  /// values before the update: a constant, the name of another attribute, or an expression such as
  /// `count + 1`. It can use attributes of the row, and all functions that predicates support in
  /// SQL, but follow no relationship. Its value must have the attribute's type; a Boolean is
  /// whether a number isn't 0, and an integer is the whole part of a number. Executing the request
  /// throws 134060 for an invalid expression, and fails if an integer exceeds 64 bits. Values in
  /// external storage can't be copied.
  open var propertiesToUpdate: [AnyHashable: Any]?

  /// Creates a request for the entity with a name.
  public init(entityName: String) {
    self.entityName = entityName
    entity = nil
    super.init()
  }

  /// Creates a request for an entity.
  public init(entity: NSEntityDescription) {
    entityName = entity.name ?? ""
    self.entity = entity
    super.init()
  }

  /// The type of this request.
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let fetch = NSFetchRequest<NSManagedObject>(entityName: entityName)
    if let entity { fetch.entity = entity }
    fetch.predicate = predicate
    fetch.includesSubentities = includesSubentities
    let plan = try FetchPlan(fetch, model: context.requiredCoordinator.managedObjectModel)
    let wantsIDs = resultType == .updatedObjectIDsResultType
    let outcomes = try context.runBatch(plan, on: affectedStores) { store, plan in
      try store.update(plan, to: propertiesToUpdate ?? [:], returning: wantsIDs, in: context)
    }
    let result: Any
    switch resultType {
    case .statusOnlyResultType: result = true
    case .updatedObjectIDsResultType: result = outcomes.flatMap(\.objectIDs)
    case .updatedObjectsCountResultType: result = outcomes.reduce(0) { $0 + $1.count }
    }
    return NSBatchUpdateResult(result, resultType)
  }

  /// Returns a copy of the request.
  ///
  /// A copy of a subclass is a plain `NSBatchUpdateRequest`.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy =
      entity.map { NSBatchUpdateRequest(entity: $0) }
      ?? NSBatchUpdateRequest(entityName: entityName)
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.includesSubentities = includesSubentities
    copy.resultType = resultType
    copy.propertiesToUpdate = propertiesToUpdate
    return copy
  }
}

/// The result of a batch update.
///
/// Apple counterpart: the same.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  /// A `Bool`, `[NSManagedObjectID]`, or `Int`, depending on `resultType`.
  public let result: Any?
  /// The type of `result`.
  public let resultType: NSBatchUpdateRequestResultType

  init(_ result: Any?, _ resultType: NSBatchUpdateRequestResultType) {
    self.result = result
    self.resultType = resultType
  }
}
