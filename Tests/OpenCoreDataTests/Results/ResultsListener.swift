import OpenCoreData

/// Records the calls of a controller and applies them to a copy of its sections.
final class ResultsListener: NSFetchedResultsControllerDelegate {
  /// The calls: `will`, `section insert 0`, `move [0, 1] [0, 0]`, `did`.
  var lines: [String] = []
  /// The objects by section, changed only by the calls.
  var mirror: [(name: String, objects: [NSManagedObject])] = []
  private var removed: [(IndexPath, NSManagedObject)] = []
  private var inserted: [(IndexPath, NSManagedObject)] = []
  private var deletedSections: [Int] = []
  private var insertedSections: [(Int, String)] = []

  func start(_ sections: [any NSFetchedResultsSectionInfo]?) {
    mirror = (sections ?? []).map { ($0.name, $0.objects as? [NSManagedObject] ?? []) }
    lines = []
  }

  func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    lines.append("will")
    (removed, inserted, deletedSections, insertedSections) = ([], [], [], [])
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    lines.append("section \(type) \(sectionIndex)")
    if type == .insert {
      insertedSections.append((sectionIndex, sectionInfo.name))
    } else {
      deletedSections.append(sectionIndex)
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let paths = [indexPath, newIndexPath].compactMap { $0 }.map { "[\($0.section), \($0.item)]" }
    lines.append("\(type) " + paths.joined(separator: " "))
    guard let object = anObject as? NSManagedObject, type != .update else { return }
    if let indexPath { removed.append((indexPath, object)) }
    if let newIndexPath { inserted.append((newIndexPath, object)) }
  }

  func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    lines.append("did")
    for (path, _) in removed.sorted(by: { $0.0 > $1.0 }) {
      mirror[path.section].objects.remove(at: path.item)
    }
    for index in deletedSections.sorted(by: >) { mirror.remove(at: index) }
    for (index, name) in insertedSections.sorted(by: { $0.0 < $1.0 }) {
      mirror.insert((name, []), at: index)
    }
    for (path, object) in inserted.sorted(by: { $0.0 < $1.0 }) {
      mirror[path.section].objects.insert(object, at: path.item)
    }
  }
}
