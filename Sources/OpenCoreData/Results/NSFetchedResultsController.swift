import ManagedModel

/// The results of a fetch request in sections, kept in step with a context.
///
/// Listens to the context's did-change notification, from `performFetch` on, and tells the delegate
/// what that means for the list. Changes that the context does not hear of are not seen: batch
/// requests, and rows of other contexts until they are merged. Use it on the context's queue. Apple
/// counterpart: the same name; the book's chapter 3.
open class NSFetchedResultsController<ResultType>: NSObject {
  private let results: FetchedResults
  /// The request as it was given; the controller keeps what it needs of it at each `performFetch`.
  public let fetchRequest: NSFetchRequest<ResultType>

  /// A controller that has not fetched yet.
  ///
  /// It's a programmer error to pass a request whose `sortDescriptors` is nil. No statement.
  /// - Parameters:
  ///   - fetchRequest: What to fetch, for objects. If its `sortDescriptors` is empty, the objects are in
  ///     the store's order, and new ones are appended to the list or to their section.
  ///   - sectionNameKeyPath: The path whose value names an object's section; nil for one section. The
  ///     first sort descriptor must bring the objects of a section together.
  ///   - name: The name of a file that keeps order and sections from run to run; nil for none.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    precondition(
      fetchRequest.sortDescriptors != nil,
      "a fetched results controller needs a fetch request with sort descriptors: set its "
        + "sortDescriptors, to an empty array if the order doesn't matter")
    precondition(
      fetchRequest.resultType == .managedObjectResultType,
      "a fetched results controller fetches objects: don't set the request's resultType")
    self.fetchRequest = fetchRequest
    results = FetchedResults(
      context: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name)
    super.init()
  }

  /// Another view of the same results, which is what a delegate is given.
  init(results: FetchedResults, fetchRequest: NSFetchRequest<ResultType>) {
    self.results = results
    self.fetchRequest = fetchRequest
    super.init()
  }

  /// Fetches, arranges the sections, and begins to follow the context.
  ///
  /// Cost: one SELECT; with a batch size one SELECT of keys. Sections read their key path for each
  /// object, page by page with a batch size. With a valid cache file: no statement with a batch size,
  /// and no section key path is read.
  /// - Throws: as `fetch`; 134060 when the first sort descriptor does not bring the objects of a
  ///   section together, or when a cache of the same name belongs to another request.
  open func performFetch() throws {
    try results.performFetch(fetchRequest)
  }

  /// Who hears of changes; with nil the controller does not follow the context.
  open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { results.delegate }
    set {
      results.delegate = newValue
      results.face = { results in
        let request = NSFetchRequest<any NSFetchRequestResult>()
        return NSFetchedResultsController<any NSFetchRequestResult>(
          results: results, fetchRequest: request)
      }
    }
  }

  /// The context that is followed.
  public var managedObjectContext: NSManagedObjectContext { results.context }

  /// The path whose value names an object's section.
  public var sectionNameKeyPath: String? { results.sectionNameKeyPath }

  /// The name of the cache file.
  public var cacheName: String? { results.cacheName }

  /// The objects in order; nil before `performFetch`.
  ///
  /// With a batch size, this loads every page.
  open var fetchedObjects: [ResultType]? {
    results.isFetched ? (0..<results.list.count).map { cast(results.list.object(at: $0)) } : nil
  }

  /// The sections in order; nil before `performFetch`.
  open var sections: [any NSFetchedResultsSectionInfo]? {
    results.isFetched ? results.sections : nil
  }

  /// The object at a place; traps when there is none.
  ///
  /// Cost: with a batch size one SELECT when its page is not held.
  open func object(at indexPath: IndexPath) -> ResultType {
    cast(results.list.object(at: results.position(of: indexPath)))
  }

  /// Where an object is; nil when it is not among the results.
  ///
  /// No statement.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    guard let object = object as? NSManagedObject else { return nil }
    return results.list.position(of: object).map(results.indexPath(of:))
  }

  /// What an index beside the list shows, without repeats.
  open var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return results.sections.compactMap(\.indexTitle).filter { seen.insert($0).inserted }
  }

  /// The first letter of a section's name in capitals; nil for an empty name.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    FetchedResults.indexTitle(sectionName)
  }

  /// The section that a title of the index stands for: the first that shows it.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    results.sections.firstIndex { $0.indexTitle == title } ?? NSNotFound
  }

  /// The sections and IDs at this moment.
  ///
  /// No statement.
  public var snapshot: FetchedResultsSnapshot { results.snapshot }

  /// Removes a cache file; nil removes those of all controllers.
  ///
  /// Do so before changing a request that is used with a cache.
  public class func deleteCache(withName name: String?) {
    FetchedResultsCache.delete(name)
  }

  private func cast(_ object: NSManagedObject) -> ResultType {
    guard let object = object as? ResultType else {
      preconditionFailure("the object \(object.objectID) isn't a \(ResultType.self)")
    }
    return object
  }
}
