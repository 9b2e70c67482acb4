import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Creates a fetched results controller, performs its fetch, and keeps it under the step's name.
  ///
  /// **Cost:** the fetch, and reading the section key path of each object, unless the sections are
  /// in the cache.
  func results(_ step: Step, _ input: StepInput) throws -> String {
    let cache = step.name(of: .cache).map { "cdprof-\(cacheID)-\($0)" }
    if let cache { cacheNames.insert(cache) }
    let controller = NSFetchedResultsController(
      fetchRequest: try step.request(for: NSManagedObject.self, input),
      managedObjectContext: input.context, sectionNameKeyPath: step.text(of: .sections),
      cacheName: cache)
    let list = ControlledList(controller, hasDelegate: step.flag(of: .delegate) ?? true)
    try controller.performFetch()
    let result = NamedResult(
      content: .controller(list), entity: step.subject, context: input.contextName)
    if let name = step.name { keep(result, as: name) }
    return "\(step.name.map { "\($0): " } ?? "")\(result.summary)"
      + (step.name == nil ? ", released" : "")
  }

  /// Deletes the caches of the session's controllers.
  func deleteCaches() {
    for name in cacheNames {
      NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
    }
    cacheNames = []
  }
}

/// The list of a fetched results controller, which a delegate keeps up to date.
///
/// Used on the context's queue.
final class ControlledList: NSFetchedResultsControllerDelegate {
  private let controller: NSFetchedResultsController<NSManagedObject>

  /// Creates a list.
  ///
  /// - Parameters:
  ///   - controller: The controller, before its fetch.
  ///   - hasDelegate: Whether the list follows the context's changes.
  init(_ controller: NSFetchedResultsController<NSManagedObject>, hasDelegate: Bool) {
    self.controller = controller
    if hasDelegate { controller.delegate = self }
  }

  var count: Int {
    controller.sections?.reduce(0) { $0 + $1.numberOfObjects } ?? 0
  }

  /// Returns the object at a position in the whole list.
  ///
  /// **Cost:** one SELECT if the object's batch isn't loaded; otherwise, none.
  func object(at position: Int) -> NSManagedObject {
    var item = position
    for (section, info) in (controller.sections ?? []).enumerated() {
      guard item >= info.numberOfObjects else {
        return controller.object(at: IndexPath(item: item, section: section))
      }
      item -= info.numberOfObjects
    }
    fatalError("the list has no object \(position)")
  }

  /// Returns the object ID at a position, without loading its batch.
  func objectID(at position: Int) -> NSManagedObjectID {
    controller.objectID(at: position)
  }

  /// Returns a summary, such as `400 Entry in 20 sections`.
  func summary(_ head: String) -> String {
    guard controller.sectionNameKeyPath != nil else { return head }
    return "\(head) in \(NumberText.counted(controller.sections?.count ?? 0, "section"))"
  }
}
