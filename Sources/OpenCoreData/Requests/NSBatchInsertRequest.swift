import ManagedModel

/// What a batch insertion gives as its result.
///
/// Apple counterpart: the same.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether it succeeded, a `Bool`.
  case statusOnly = 0
  /// The IDs of the rows that were inserted or updated, `[NSManagedObjectID]`.
  case objectIDs = 1
  /// The number of those rows, an `Int`.
  case count = 2
}

/// Inserts rows into a SQLite store without inserting an object.
///
/// It goes past the context: nothing is validated, `awakeFromInsert` is not called, relationships cannot
/// be set. Attributes that a dictionary does not name get the model's default. Where a row would break a
/// uniqueness constraint, the context's merge policy decides: with overwrite and object trump the stored
/// row takes the values given and a new version, with all others it stays and the new one is left out.
/// Cost: one INSERT a row, all in one transaction. Apple counterpart: the same.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
  /// Where the values of the rows come from.
  enum Source {
    case dictionaries([[String: Any]])
    /// Fills a dictionary for one row; true says that there are no more.
    case dictionaryHandler((NSMutableDictionary) -> Bool)
    /// Fills an object for one row; true says that there are no more.
    case managedObjectHandler((NSManagedObject) -> Bool)
  }

  /// The entity's name; looked up in the context's model when `entity` was not given.
  public let entityName: String
  /// The entity given.
  public let entity: NSEntityDescription?
  /// What the result is.
  open var resultType = NSBatchInsertRequestResultType.statusOnly
  private let source: Source

  /// A request that inserts a row for each dictionary of values by attribute name.
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(entityName, nil, .dictionaries(dictionaries))
  }

  /// A request that inserts a row for each dictionary of values by attribute name.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity.name ?? "", entity, .dictionaries(dictionaries))
  }

  /// A request that asks for one row after another: the handler fills the empty dictionary, or returns
  /// true when there are no more.
  public convenience init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entityName, nil, .dictionaryHandler(handler))
  }

  /// A request that asks for one row after another: the handler fills the empty dictionary, or returns
  /// true when there are no more.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity.name ?? "", entity, .dictionaryHandler(handler))
  }

  /// A request that asks for one row after another: the handler fills an object of no context, or
  /// returns true when there are no more.
  public convenience init(
    entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entityName, nil, .managedObjectHandler(handler))
  }

  /// A request that asks for one row after another: the handler fills an object of no context, or
  /// returns true when there are no more.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entity.name ?? "", entity, .managedObjectHandler(handler))
  }

  private init(_ name: String, _ entity: NSEntityDescription?, _ source: Source) {
    entityName = name
    self.entity = entity
    self.source = source
    super.init()
  }

  /// The dictionaries given; nil with a handler.
  public var objectsToInsert: [[String: Any]]? {
    if case .dictionaries(let dictionaries) = source { return dictionaries }
    return nil
  }

  /// Apple's kind of this request.
  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let fetch = NSFetchRequest<NSManagedObject>(entityName: entityName)
    if let entity { fetch.entity = entity }
    let plan = try FetchPlan(fetch, model: context.requiredCoordinator.managedObjectModel)
    guard !plan.entity.isAbstract else {
      throw NSError.fetch("The entity '\(plan.entityName)' is abstract and has no rows.")
    }
    let wantsIDs = resultType == .objectIDs
    let outcomes = try context.runBatch(plan, on: affectedStores, isInsertion: true) {
      store, plan in
      try store.insert(plan.layout, from: source, returning: wantsIDs, in: context)
    }
    let result: Any
    switch resultType {
    case .statusOnly: result = true
    case .objectIDs: result = outcomes.flatMap(\.objectIDs)
    case .count: result = outcomes.reduce(0) { $0 + $1.count }
    }
    return NSBatchInsertResult(result, resultType)
  }
}

/// What a batch insertion gave.
///
/// Apple counterpart: the same.
open class NSBatchInsertResult: NSPersistentStoreResult {
  /// A `Bool`, `[NSManagedObjectID]` or `Int`, as `resultType` says.
  public let result: Any?
  /// What `result` is.
  public let resultType: NSBatchInsertRequestResultType

  init(_ result: Any?, _ resultType: NSBatchInsertRequestResultType) {
    self.result = result
    self.resultType = resultType
  }
}
