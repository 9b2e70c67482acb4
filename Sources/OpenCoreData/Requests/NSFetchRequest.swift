import ManagedModel

/// What a fetch may give: objects, IDs, counts, dictionaries.
public protocol NSFetchRequestResult {}

extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

/// What a fetch returns for each match.
///
/// Apple counterpart: `NSFetchRequestResultType`.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  /// Apple's value.
  public let rawValue: UInt

  /// Takes Apple's value.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// Objects; the default.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// Object IDs; the rows go into the row cache unless `includesPropertyValues` is false.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// Dictionaries of values.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// One number.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// Describes which objects to fetch, in which order and in what form.
///
/// A request may be executed any number of times. The book's chapters 6 and 8 are about its options;
/// the defaults are Apple's.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// The entity's name; looked up in the context's model when `entity` is not set.
  public private(set) var entityName: String?

  /// The entity to fetch; set when a request that names its entity is executed.
  open var entity: NSEntityDescription? {
    didSet { entityName = entity?.name }
  }

  /// Which objects match; nil is all of them.
  open var predicate: NSPredicate?

  /// The order of the result; nil leaves it to the store.
  ///
  /// A transient property has no column: SQLite's store refuses it with 134060, a store in memory
  /// fills the matches and asks them.
  open var sortDescriptors: [NSSortDescriptor]? {
    didSet { swiftSort = nil }
  }

  /// Makes the descriptors for an entity, where they were given with Swift's key paths.
  final var swiftSort: ((NSEntityDescription) throws -> [NSSortDescriptor])?

  /// The most objects to fetch; 0 is all.
  open var fetchLimit = 0

  /// How many matches to pass over.
  open var fetchOffset = 0

  /// How many objects to load at a time.
  ///
  /// `fetch` loads page by page to the end, as Apple's does when a Swift array is made of the
  /// result; `fetchBatched` loads what is looked at.
  open var fetchBatchSize = 0

  /// Objects, IDs, dictionaries or a count.
  open var resultType: NSFetchRequestResultType = []

  /// Whether objects of subentities match too.
  open var includesSubentities = true

  /// Whether unsaved changes of the context are laid over the result.
  open var includesPendingChanges = true

  /// Whether the rows come with the fetch; with false only keys do, and each object costs a SELECT of
  /// its own when it is read.
  open var includesPropertyValues = true

  /// Whether the objects stay faults over cached rows until they are read.
  open var returnsObjectsAsFaults = true

  /// Whether objects that are registered and filled take the fetched values.
  open var shouldRefreshRefetchedObjects = false

  /// Relationships to load ahead: one SELECT for each step of a path, two for a many-to-many.
  open var relationshipKeyPathsForPrefetching: [String]?

  /// What each dictionary holds, for dictionary results: names of properties, key paths through to-one
  /// relationships, property descriptions, `NSExpressionDescription`s.
  ///
  /// Nil or empty is all attributes. A to-one is the ID of its object. Other result types ignore it.
  open var propertiesToFetch: [Any]?

  /// What rows are grouped by, for dictionary results: one dictionary for each group.
  ///
  /// What is fetched must be grouped or a function of the group's rows.
  open var propertiesToGroupBy: [Any]?

  /// Which groups match.
  ///
  /// It may name computed values as variables, `$count > 2`, or as keys.
  open var havingPredicate: NSPredicate?

  /// Whether equal dictionaries come once.
  ///
  /// Other result types ignore it: no object comes twice.
  open var returnsDistinctResults = false

  /// A request without an entity; set one before executing it.
  public override init() {
    super.init()
  }

  /// Fetches in the context whose block runs on the calling thread; else as the context's `fetch(_:)`.
  ///
  /// Cost: that of `fetch(_:)`.
  /// - Throws: 134060 outside of `perform` and `performAndWait`, and what `fetch(_:)` throws.
  public final func execute(file: String = #fileID, line: Int = #line) throws -> [ResultType] {
    guard let context = RunningContext.current else {
      throw NSError.fetch(
        "execute() fetches in the context whose block is running, and none is. Call it inside of "
          + "perform or performAndWait, or call fetch(_:) of a context.")
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

  /// Names the entity again.
  final func setEntity(named name: String) {
    entityName = name
  }

  /// A request for the entity of that name.
  public init(entityName: String) {
    self.entityName = entityName
    super.init()
  }
}

extension NSFetchRequest: NSCopying {
  /// Another request that asks for the same.
  ///
  /// A subclass's copy is a plain `NSFetchRequest`.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.entity = entity
    if let entityName, entity == nil { copy.setEntity(named: entityName) }
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.swiftSort = swiftSort
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.fetchBatchSize = fetchBatchSize
    copy.resultType = resultType
    copy.includesSubentities = includesSubentities
    copy.includesPendingChanges = includesPendingChanges
    copy.includesPropertyValues = includesPropertyValues
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    copy.propertiesToFetch = propertiesToFetch
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
    copy.returnsDistinctResults = returnsDistinctResults
    return copy
  }
}
