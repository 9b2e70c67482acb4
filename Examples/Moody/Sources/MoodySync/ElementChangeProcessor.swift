public import Moody
public import OpenCoreData

/// A change processor for the objects of one class, which doesn't process an object again while
/// it's in progress.
public protocol ElementChangeProcessor: ChangeProcessor {
  /// The class of the objects.
  associatedtype Element: FetchableEntity

  /// The objects in progress.
  var elementsInProgress: InProgressTracker<Element> { get }
  /// The predicate for the objects to process, which no longer matches once they're processed.
  var predicateForLocallyTrackedElements: NSPredicate { get }

  /// Processes objects that match and weren't in progress.
  ///
  /// The processor calls `didComplete(_:in:)` for all of them, whether they were processed
  /// successfully or not.
  func processChangedLocalElements(
    _ elements: [Element], in context: any ChangeProcessorContext)
}

extension ElementChangeProcessor {
  /// Processes those of the objects that have the class, match, and aren't in progress.
  public func processChangedLocalObjects(
    _ objects: [NSManagedObject], in context: any ChangeProcessorContext
  ) {
    guard let tracked = entityAndPredicateForLocallyTrackedObjects(in: context) else { return }
    let matching = objects.compactMap { $0 as? Element }.filter(tracked.matches)
    let elements = elementsInProgress.objectsToProcess(from: matching)
    guard !elements.isEmpty else { return }
    processChangedLocalElements(elements, in: context)
  }

  /// Returns the class's entity and `predicateForLocallyTrackedElements`.
  public func entityAndPredicateForLocallyTrackedObjects(
    in context: any ChangeProcessorContext
  ) -> EntityAndPredicate? {
    NSEntityDescription.entity(forEntityName: Element.entityName, in: context.context).map {
      EntityAndPredicate(entity: $0, predicate: predicateForLocallyTrackedElements)
    }
  }

  /// Ends the processing of objects, whose changes are saved, or were rolled back.
  ///
  /// Those that still match are processed again later, not immediately: the server may be
  /// unavailable for some time.
  public func didComplete(_ elements: [Element], in context: any ChangeProcessorContext) {
    elementsInProgress.markObjectsAsComplete(elements)
    let predicate = predicateForLocallyTrackedElements
    if elements.contains(where: { !$0.isDeleted && predicate.evaluate(with: $0) }) {
      context.retryLater()
    } else {
      context.didProcessObjects()
    }
  }

  /// Returns the objects with the IDs that a request has carried.
  public func elements(
    with ids: [NSManagedObjectID], in context: any ChangeProcessorContext
  ) -> [Element] {
    ids.remap(to: context.context).compactMap { $0 as? Element }
  }
}

/// The objects of a change processor for which a request is in progress.
///
/// It retains the objects, and belongs to the sync context's queue.
public final class InProgressTracker<Object: NSManagedObject> {
  private var objects: Set<Object> = []

  /// Creates a tracker without objects.
  public init() {}

  /// Returns those of the objects that aren't in progress, and marks them as in progress.
  public func objectsToProcess(from candidates: [Object]) -> [Object] {
    candidates.filter { objects.insert($0).inserted }
  }

  /// Marks objects as no longer in progress.
  public func markObjectsAsComplete(_ completed: [Object]) {
    objects.subtract(completed)
  }
}
