import ManagedModel

/// What a batch update gives as its result.
///
/// Apple counterpart: the same.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether it succeeded, a `Bool`.
  case statusOnlyResultType = 0
  /// The IDs of the updated rows, `[NSManagedObjectID]`.
  case updatedObjectIDsResultType = 1
  /// The number of updated rows, an `Int`.
  case updatedObjectsCountResultType = 2
}

/// Updates rows of a SQLite store without loading an object.
///
/// It goes past the context: nothing is validated, no object is told, the row cache keeps what it has.
/// Each row's version grows, so that objects that were read before conflict when they are saved. Cost:
/// one UPDATE in a transaction of its own. Apple counterpart: the same; the book's chapter 7.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  /// The entity's name; looked up in the context's model when `entity` was not given.
  public let entityName: String
  /// The entity given.
  public let entity: NSEntityDescription?
  /// Which rows are updated; nil is all of them.
  open var predicate: NSPredicate?
  /// Whether rows of subentities are updated too.
  open var includesSubentities = true
  /// What the result is.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// The new values, by attribute name or `NSAttributeDescription`.
  ///
  /// A value, `NSNull` for nil, or an `NSExpression`: a constant, or the name of another attribute of
  /// the row.
  open var propertiesToUpdate: [AnyHashable: Any]?

  /// A request for the entity of that name.
  public init(entityName: String) {
    self.entityName = entityName
    entity = nil
    super.init()
  }

  /// A request for an entity.
  public init(entity: NSEntityDescription) {
    entityName = entity.name ?? ""
    self.entity = entity
    super.init()
  }

  /// Apple's kind of this request.
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
}

/// What a batch update gave.
///
/// Apple counterpart: the same.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  /// A `Bool`, `[NSManagedObjectID]` or `Int`, as `resultType` says.
  public let result: Any?
  /// What `result` is.
  public let resultType: NSBatchUpdateRequestResultType

  init(_ result: Any?, _ resultType: NSBatchUpdateRequestResultType) {
    self.result = result
    self.resultType = resultType
  }
}
