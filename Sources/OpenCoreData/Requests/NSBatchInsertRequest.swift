import ManagedModel

/// The type of a batch insertion's result.
///
/// Apple counterpart: the same.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether the request succeeded, a `Bool`.
  case statusOnly = 0
  /// The IDs of the rows that were inserted or updated, each once, `[NSManagedObjectID]`.
  case objectIDs = 1
  /// The number of insertions and updates, an `Int`.
  case count = 2
}

/// Inserts rows into a SQLite store without creating objects.
///
/// The request bypasses the context: nothing is validated, `awakeFromInsert` isn't called, and
/// relationships can't be set. Attributes that a dictionary doesn't contain get the model's default
/// value. If a row would violate a uniqueness constraint, the context's merge policy decides: with
/// overwrite and object trump, the stored row gets the given values and a new version; with all
/// others, it's kept and the new row is skipped. **Cost:** one INSERT for each row, all in one
/// transaction. Apple counterpart: the same.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
  /// The source of the rows' values.
  enum Source {
    case dictionaries([[String: Any]])
    /// Fills a dictionary for one row; returns `true` if there are no more.
    case dictionaryHandler((NSMutableDictionary) -> Bool)
    /// Fills an object for one row; returns `true` if there are no more.
    case managedObjectHandler((NSManagedObject) -> Bool)
  }

  /// The entity's name; looked up in the context's model if `entity` wasn't given.
  public let entityName: String
  /// The entity, if given.
  public let entity: NSEntityDescription?
  /// The type of the result.
  open var resultType = NSBatchInsertRequestResultType.statusOnly
  private var source: Source?

  /// Creates a request that inserts a row for each dictionary of values by attribute name.
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(entityName, nil, .dictionaries(dictionaries))
  }

  /// Creates a request that inserts a row for each dictionary of values by attribute name.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity.name ?? "", entity, .dictionaries(dictionaries))
  }

  /// Creates a request that inserts one row after another: the handler fills the empty dictionary,
  /// or returns `true` if there are no more rows.
  public convenience init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entityName, nil, .dictionaryHandler(handler))
  }

  /// Creates a request that inserts one row after another: the handler fills the empty dictionary,
  /// or returns `true` if there are no more rows.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity.name ?? "", entity, .dictionaryHandler(handler))
  }

  /// Creates a request that inserts one row after another: the handler sets an object without a
  /// context, or returns `true` if there are no more rows.
  public convenience init(
    entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entityName, nil, .managedObjectHandler(handler))
  }

  /// Creates a request that inserts one row after another: the handler sets an object without a
  /// context, or returns `true` if there are no more rows.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entity.name ?? "", entity, .managedObjectHandler(handler))
  }

  private init(_ name: String, _ entity: NSEntityDescription?, _ source: Source?) {
    entityName = name
    self.entity = entity
    self.source = source
    super.init()
  }

  /// The rows as dictionaries of values by attribute name; `nil` with a handler.
  ///
  /// Setting rows or a handler replaces what the request had before.
  open var objectsToInsert: [[String: Any]]? {
    get {
      if case .dictionaries(let dictionaries) = source { return dictionaries }
      return nil
    }
    set {
      if newValue != nil || objectsToInsert != nil { source = newValue.map { .dictionaries($0) } }
    }
  }

  /// A handler that fills an empty dictionary for each row, and returns `true` if there are no more
  /// rows; `nil` without one.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)? {
    get {
      if case .dictionaryHandler(let handler) = source { return handler }
      return nil
    }
    set {
      if newValue != nil || dictionaryHandler != nil {
        source = newValue.map { .dictionaryHandler($0) }
      }
    }
  }

  /// A handler that sets an object without a context for each row, and returns `true` if there are
  /// no more rows; `nil` without one.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)? {
    get {
      if case .managedObjectHandler(let handler) = source { return handler }
      return nil
    }
    set {
      if newValue != nil || managedObjectHandler != nil {
        source = newValue.map { .managedObjectHandler($0) }
      }
    }
  }

  /// The type of this request.
  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let fetch = NSFetchRequest<NSManagedObject>(entityName: entityName)
    if let entity { fetch.entity = entity }
    let plan = try FetchPlan(fetch, model: context.requiredCoordinator.managedObjectModel)
    guard !plan.entity.isAbstract else {
      throw NSError.fetch("The entity '\(plan.entityName)' is abstract and has no rows.")
    }
    let wantsIDs = resultType == .objectIDs
    let source = source ?? .dictionaries([])
    let outcomes = try context.runBatch(plan, on: affectedStores, isInsertion: true) {
      store, plan in
      try store.insert(plan.layout, from: source, returning: wantsIDs, in: context)
    }
    let result: Any
    switch resultType {
    case .statusOnly: result = true
    case .objectIDs:
      var seen: Set<NSManagedObjectID> = []
      result = outcomes.flatMap(\.objectIDs).filter { seen.insert($0).inserted }
    case .count: result = outcomes.reduce(0) { $0 + $1.count }
    }
    return NSBatchInsertResult(result, resultType)
  }

  /// Returns a copy of the request, with the same handler.
  ///
  /// A copy of a subclass is a plain `NSBatchInsertRequest`.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSBatchInsertRequest(entityName, entity, source)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    return copy
  }
}

/// The result of a batch insertion.
///
/// Apple counterpart: the same.
open class NSBatchInsertResult: NSPersistentStoreResult {
  /// A `Bool`, `[NSManagedObjectID]`, or `Int`, depending on `resultType`.
  public let result: Any?
  /// The type of `result`.
  public let resultType: NSBatchInsertRequestResultType

  init(_ result: Any?, _ resultType: NSBatchInsertRequestResultType) {
    self.result = result
    self.resultType = resultType
  }
}
