import ManagedModel

/// A type of item that a fetch returns: objects, object IDs, counts, dictionaries.
public protocol NSFetchRequestResult {}

extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

/// The kind of item that a fetch returns for each match.
///
/// Apple counterpart: `NSFetchRequestResultType`.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  /// The raw value, the same as Core Data's.
  public let rawValue: UInt

  /// Creates a result type from Core Data's raw value.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// Objects; the default.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// Object IDs; the rows are added to the row cache unless `includesPropertyValues` is `false`.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// Dictionaries of values.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// A count.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// Describes which objects to fetch, in which order, and in what form.
///
/// A request can be executed any number of times. See the book's chapters 6 and 8; the defaults are
/// Core Data's.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// The entity's name; looked up in the context's model if `entity` isn't set.
  public private(set) var entityName: String?

  /// The entity to fetch; set when a request that names its entity is executed.
  open var entity: NSEntityDescription? {
    didSet { entityName = entity?.name }
  }

  /// The condition for objects to match; `nil` for all of them.
  open var predicate: NSPredicate?

  /// The order of the result; `nil` for the store's order.
  ///
  /// A transient property has no column: a SQLite store throws 134060, an in-memory store fires the
  /// matches' faults and sorts the objects.
  open var sortDescriptors: [NSSortDescriptor]? {
    didSet { swiftSort = nil }
  }

  /// Creates the descriptors for an entity, if they were given as Swift key paths.
  final var swiftSort: ((NSEntityDescription) throws -> [NSSortDescriptor])?

  /// The maximum number of objects to fetch; 0 for no limit.
  open var fetchLimit = 0

  /// The number of matches to skip.
  open var fetchOffset = 0

  /// The number of objects to load at a time.
  ///
  /// `fetch` loads all batches, as Core Data does when a Swift array is created from the result;
  /// `fetchBatched` loads them on demand.
  open var fetchBatchSize = 0

  /// The kind of result: objects, object IDs, dictionaries, or a count.
  open var resultType: NSFetchRequestResultType = []

  /// Whether objects of subentities match too.
  open var includesSubentities = true

  /// Whether unsaved changes of the context are merged into the result.
  open var includesPendingChanges = true

  /// Whether the fetch loads the rows; if `false`, it loads only object IDs, and each object needs
  /// its own SELECT when it's read.
  open var includesPropertyValues = true

  /// Whether the objects stay faults, with cached rows, until they are read.
  open var returnsObjectsAsFaults = true

  /// Whether registered and realized objects are updated with the fetched values.
  ///
  /// Objects keep their unsaved changes, as in `refresh(_:mergeChanges:)`. The next did-change
  /// lists the updated objects as refreshed. Ignored if the fetch doesn't load property values.
  open var shouldRefreshRefetchedObjects = false

  /// The relationships to prefetch: one SELECT for each step of a path, two for a many-to-many.
  open var relationshipKeyPathsForPrefetching: [String]?

  /// The contents of each dictionary, for dictionary results: property names, key paths across
  /// to-one relationships, property descriptions, `NSExpressionDescription`s.
  ///
  /// `nil` or empty for all attributes. A to-one is represented by its destination's object ID.
  /// Ignored for other result types.
  open var propertiesToFetch: [Any]?

  /// The properties to group rows by, for dictionary results: one dictionary for each group.
  ///
  /// Fetched values, parts of the having predicate, and sort keys must be grouped or aggregates of
  /// the group's rows; otherwise, the fetch throws 134060.
  open var propertiesToGroupBy: [Any]?

  /// The condition for groups to match.
  ///
  /// It can refer to grouped properties, to functions of the group's rows such as `max:(age)`, and
  /// to computed values as variables, `$count > 2`, or as keys.
  open var havingPredicate: NSPredicate?

  /// Whether equal dictionaries are returned only once.
  ///
  /// Ignored for other result types: no object is returned twice.
  open var returnsDistinctResults = false

  /// Creates a request without an entity; set one before you execute it.
  public override init() {
    super.init()
  }

  /// Executes the request in the context whose block runs on the calling thread, like that
  /// context's `fetch(_:)`.
  ///
  /// **Cost:** that of `fetch(_:)`.
  /// - Throws: 134060 outside of `perform` and `performAndWait`, and the errors of `fetch(_:)`.
  public final func execute(file: String = #fileID, line: Int = #line) throws -> [ResultType] {
    guard let context = RunningContext.current else {
      throw NSError.fetch(
        "execute() uses the context whose perform block is running, but no block is running. Call it "
          + "inside perform or performAndWait, or call fetch(_:) on a context.")
    }
    return try context.fetch(self, file: file, line: line)
  }

  override func answer(in context: NSManagedObjectContext) throws -> Any {
    try context.fetch(self)
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(
      NSAsynchronousFetchRequest(fetchRequest: self), context: context)
    result.finalResult = try context.fetch(self)
    return result
  }

  /// Creates a request for the entity with a name.
  public init(entityName: String) {
    self.entityName = entityName
    super.init()
  }

  /// Returns a copy of the request.
  ///
  /// A copy of a subclass is a plain `NSFetchRequest`.
  open override func copy(with zone: NSZone? = nil) -> Any {
    NSFetchRequest(copying: self)
  }
}

extension NSFetchRequest {
  /// Creates a copy of a request, which can have another type of results.
  convenience init<Other>(copying other: NSFetchRequest<Other>) {
    self.init()
    entity = other.entity
    // An initializer doesn't call observers.
    entityName = other.entityName
    affectedStores = other.affectedStores
    predicate = other.predicate
    sortDescriptors = other.sortDescriptors
    swiftSort = other.swiftSort
    fetchLimit = other.fetchLimit
    fetchOffset = other.fetchOffset
    fetchBatchSize = other.fetchBatchSize
    resultType = other.resultType
    includesSubentities = other.includesSubentities
    includesPendingChanges = other.includesPendingChanges
    includesPropertyValues = other.includesPropertyValues
    returnsObjectsAsFaults = other.returnsObjectsAsFaults
    shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
    relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
    propertiesToFetch = other.propertiesToFetch
    propertiesToGroupBy = other.propertiesToGroupBy
    havingPredicate = other.havingPredicate
    returnsDistinctResults = other.returnsDistinctResults
  }
}

/// The result of a fetch as a value: `FETCH(request, context, countOnly)`.
///
/// Each evaluation runs the fetch; in a predicate of another fetch, it runs first and becomes a
/// list of constants. Apple counterpart: the same.
open class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
  /// Creates the expression.
  ///
  /// - Parameters:
  ///   - fetch: An expression whose value is an `NSFetchRequest`.
  ///   - context: An expression whose value is the `NSManagedObjectContext` to fetch in.
  ///   - countFlag: Whether the value is the number of matches rather than their list.
  public class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(.fetch(fetch, context: context, countOnly: countFlag))
  }

  /// The expression for the request.
  open var requestExpression: NSExpression { node.children[0] }

  /// The expression for the context.
  open var contextExpression: NSExpression { node.children[1] }

  /// Whether the value is the number of matches.
  open var isCountOnlyRequest: Bool {
    if case .fetch(_, _, let countOnly) = node { countOnly } else { false }
  }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The type of an `NSFetchRequestExpression`, `NSExpression.ExpressionType.fetchRequest`.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest

extension NSFetchRequest: FetchedByExpressions {
  /// Returns the result of a fetch of this request, for a predicate with `FETCH`.
  ///
  /// - Throws: As `fetch`, and an error if the context isn't one.
  package func result(in context: Any?, countOnly: Bool) throws -> Any {
    guard let context = context as? NSManagedObjectContext else {
      throw NSError.fetch("FETCH has no managed object context: pass one as the second argument.")
    }
    if countOnly || resultType == .countResultType { return try context.count(for: self) }
    return try context.fetch(self)
  }
}
