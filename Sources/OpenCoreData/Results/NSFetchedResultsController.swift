import ManagedModel

/// The results of a fetch request in sections, updated with a context's changes.
///
/// From `performFetch` on, observes the context's did-change notification and notifies the delegate
/// of changes to the list. Changes that the context isn't notified of aren't detected: batch
/// requests, and saves of other contexts until they are merged. Without a delegate, the results
/// can be dictionaries, whose changes aren't tracked. Use it on the context's queue.
/// Apple counterpart: the same name; the book's chapter 3.
open class NSFetchedResultsController<ResultType>: NSObject {
  private let results: FetchedResults
  /// Whether this controller was created for a delegate, and another one has the results.
  private let isProxy: Bool
  /// The request that was passed; each `performFetch` copies what it needs of it.
  public let fetchRequest: NSFetchRequest<ResultType>

  /// Creates a controller that hasn't fetched yet.
  ///
  /// It's a programmer error to pass a request whose `sortDescriptors` is `nil` and that has no
  /// Swift sort descriptors either, or one for object IDs or a count. No statements.
  /// - Parameters:
  ///   - fetchRequest: The request for objects or, without a delegate, for dictionaries. If its
  ///     `sortDescriptors` is empty, the objects are in the store's order, and new ones are
  ///     appended to the list or to their section.
  ///   - context: The context that fetches the objects, and whose changes the controller follows.
  ///   - sectionNameKeyPath: The key path to the name of an object's section; `nil` for one
  ///     section. The first sort descriptor must group the objects by section. Dictionaries must
  ///     contain this key path.
  ///   - name: The name of a file that caches order and sections between runs; `nil` for none.
  ///     With a delegate, a save of the context updates it, unless the rows were also changed
  ///     elsewhere, or the results depend on other objects. Dictionaries aren't cached, nor are
  ///     results that unsaved changes may affect.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    guard fetchRequest.sortDescriptors != nil || fetchRequest.swiftSort != nil else {
      fatalError(
        "a fetched results controller needs a fetch request with sort descriptors: set its "
          + "sortDescriptors, to an empty array if the order doesn't matter")
    }
    let resultType = fetchRequest.resultType
    guard resultType == .managedObjectResultType || resultType == .dictionaryResultType else {
      fatalError(
        "a fetched results controller fetches objects or dictionaries: don't set the request's "
          + "resultType to another")
    }
    self.fetchRequest = fetchRequest
    isProxy = false
    results = FetchedResults(
      context: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name
    ) { results in
      FetchedResults.DelegateController(
        results: results, fetchRequest: NSFetchRequest(copying: fetchRequest))
    }
    super.init()
    results.indexTitle = { [weak self] name in
      guard let self else { return FetchedResults.initial(of: name) }
      return sectionIndexTitle(forSectionName: name)
    }
  }

  /// Creates another controller for the same results, which is passed to a delegate.
  init(results: FetchedResults, fetchRequest: NSFetchRequest<ResultType>) {
    self.results = results
    self.fetchRequest = fetchRequest
    isProxy = true
    super.init()
  }

  /// Fetches, builds the sections, and begins to observe the context.
  ///
  /// Dictionaries have the saved values, and aren't updated: it's a programmer error to fetch them
  /// with a delegate. **Cost:** one SELECT; with a batch size, one SELECT of object IDs. Sections
  /// read their key path for each object, batch by batch with a batch size. A cache adds one SELECT
  /// of three aggregates for each table that the results depend on; if its file is valid, no
  /// section key paths are read, and with a batch size, no object IDs are fetched.
  /// - Throws: As `fetch`; 134060 if the first sort descriptor doesn't group the objects by
  ///   section, or if a cache of the same name belongs to another request. The results of the last
  ///   fetch remain.
  open func performFetch() throws {
    try results.performFetch(fetchRequest)
  }

  /// The object that is notified of changes; if `nil`, the controller doesn't observe the context.
  ///
  /// It's a programmer error to set it after dictionaries were fetched.
  open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { results.delegate }
    set {
      if newValue != nil, results.dictionaries != nil { FetchedResults.stopFollowingDictionaries() }
      results.delegate = newValue
    }
  }

  /// The context that the controller observes.
  open var managedObjectContext: NSManagedObjectContext { results.context }

  /// The key path to the name of an object's section.
  open var sectionNameKeyPath: String? { results.sectionNameKeyPath }

  /// The name of the cache file.
  open var cacheName: String? { results.cacheName }

  /// The objects or dictionaries in order; `nil` before `performFetch`.
  ///
  /// With a batch size, this loads every batch.
  open var fetchedObjects: [ResultType]? {
    results.isFetched ? (0..<results.count).map { cast(results.item(at: $0)) } : nil
  }

  /// The sections in order; `nil` before `performFetch`.
  open var sections: [any NSFetchedResultsSectionInfo]? {
    results.isFetched ? results.sections : nil
  }

  /// Returns the object or dictionary at an index path; it's a programmer error if there's none.
  ///
  /// **Cost:** with a batch size, one SELECT if its batch isn't loaded.
  open func object(at indexPath: IndexPath) -> ResultType {
    cast(results.item(at: results.position(of: indexPath)))
  }

  /// Returns the index path of an object; `nil` if it isn't in the results, and for a dictionary.
  ///
  /// No statements.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    guard let object = object as? NSManagedObject else { return nil }
    return results.list.position(of: object).map(results.indexPath(of:))
  }

  /// The titles for a section index, without duplicates.
  open var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return results.sections.compactMap(\.indexTitle).filter { seen.insert($0).inserted }
  }

  /// Returns the title of a section in the section index: the uppercase first letter of its name;
  /// `nil` for an empty name.
  ///
  /// Override it for other titles; a delegate that implements its method decides first.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    isProxy ? results.indexTitle(sectionName) : FetchedResults.initial(of: sectionName)
  }

  /// Returns the first section with a title of the section index.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    results.sections.firstIndex { $0.indexTitle == title } ?? NSNotFound
  }

  /// The current sections and object IDs; no IDs for dictionaries.
  ///
  /// No statements.
  public var snapshot: FetchedResultsSnapshot { results.snapshot }

  /// Removes a cache file of this program; `nil` removes those of all its controllers.
  ///
  /// Call this method before you change a request that is used with a cache.
  open class func deleteCache(withName name: String?) {
    FetchedResultsCache.delete(name)
  }

  /// Returns the object ID at a position in the entire list, without loading its batch.
  ///
  /// It's a programmer error to pass a position outside of the list.
  package func objectID(at position: Int) -> NSManagedObjectID {
    results.list.objectID(at: position)
  }

  private func cast(_ item: Any) -> ResultType {
    guard let result = item as? ResultType else {
      let object = (item as? NSManagedObject).map { "the object \($0.objectID)" }
      fatalError("\(object ?? "a dictionary") isn't a \(ResultType.self)")
    }
    return result
  }
}

/// Receives the changes of a controller's results.
///
/// All methods are optional, and are called on the context's queue, from `processPendingChanges` or
/// a merge. The controller that is passed returns objects as `any NSFetchRequestResult`; it's
/// another instance with the same results and a copy of the request, because generic classes can't
/// be cast on Linux. Apple counterpart: the same name.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// Called before changes are reported.
  func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// Called when a section was inserted or deleted, before the changes of objects.
  ///
  /// - Parameters:
  ///   - controller: The controller.
  ///   - sectionInfo: The section.
  ///   - sectionIndex: Its old index if deleted, its new one if inserted.
  ///   - type: `insert` or `delete`.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// Called when an object was inserted, deleted, updated, or moved.
  ///
  /// - Parameters:
  ///   - controller: The controller.
  ///   - anObject: The object.
  ///   - indexPath: Its index path before all of these changes; `nil` if inserted.
  ///   - type: What happened to it.
  ///   - newIndexPath: Its index path after all of them if inserted or moved; `nil` otherwise.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called after all changes were reported.
  func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// Called with the removed and inserted object IDs of the entire list; a move is both.
  ///
  /// Called before `controllerDidChangeContent`, and only if there are no sections.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// Returns the section index title of a section; by default the uppercase first letter.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {}

  /// Returns the uppercase first letter.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    controller.sectionIndexTitle(forSectionName: sectionName)
  }
}

/// The kind of change to an object or a section of a controller's results.
///
/// Apple counterpart: the same name.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// It was inserted.
  case insert = 1
  /// It was deleted.
  case delete = 2
  /// It was changed and moved; never for a section.
  case move = 3
  /// It was changed and didn't move; never for a section.
  case update = 4
}

/// A section of the results of a controller.
///
/// Apple counterpart: the same name.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the section key path, as a string; empty if there's no such path.
  var name: String { get }
  /// The title in a section index: the uppercase first letter of the name.
  var indexTitle: String? { get }
  /// The number of objects or dictionaries in the section; needs no statement.
  var numberOfObjects: Int { get }
  /// The section's objects or dictionaries; with a batch size, this loads each of its batches.
  var objects: [Any]? { get }
}

/// A section of a `FetchedResults`; after a change of the results, the present section with its
/// name, which is empty if there's none.
struct FetchedSection: NSFetchedResultsSectionInfo {
  let name: String
  let indexTitle: String?
  /// Its positions when it was requested.
  let range: Range<Int>
  /// The edition of the results when it was requested.
  let edition: Int
  /// `nil` for a deleted section.
  var results: FetchedResults?

  var numberOfObjects: Int { results?.range(of: self).count ?? 0 }

  var objects: [Any]? {
    guard let results else { return [] }
    return results.range(of: self).map { results.item(at: $0) }
  }
}

// UIKit and AppKit add these to Foundation's index path.

extension IndexPath {
  /// Creates an index path from an item and a section.
  public init(item: Int, section: Int) {
    self.init(indexes: [section, item])
  }

  /// Creates an index path from a row and a section.
  public init(row: Int, section: Int) {
    self.init(indexes: [section, row])
  }

  /// The section; the first of the two indexes.
  public var section: Int { self[0] }

  /// The item in the section; the second of the two indexes.
  public var item: Int { self[1] }

  /// The row in the section; the second of the two indexes.
  public var row: Int { self[1] }
}
