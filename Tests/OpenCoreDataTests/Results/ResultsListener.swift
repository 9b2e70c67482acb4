import OpenCoreData

/// Keeps what a controller tells, and checks it against the list: what is told, applied to what was
/// there, must give what is there.
final class ResultsListener: NSFetchedResultsControllerDelegate {
  /// What was told: `will`, `section insert 0`, `move [0, 1] [0, 0]`, `did`.
  var lines: [String] = []
  /// The objects by section, kept up to date by what is told alone.
  var mirror: [(name: String, objects: [NSManagedObject])] = []
  private var gone: [(IndexPath, NSManagedObject)] = []
  private var come: [(IndexPath, NSManagedObject)] = []
  private var goneSections: [Int] = []
  private var comeSections: [(Int, String)] = []

  func start(_ sections: [any NSFetchedResultsSectionInfo]?) {
    mirror = (sections ?? []).map { ($0.name, $0.objects as? [NSManagedObject] ?? []) }
    lines = []
  }

  func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    lines.append("will")
    (gone, come, goneSections, comeSections) = ([], [], [], [])
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    lines.append("section \(type) \(sectionIndex)")
    if type == .insert {
      comeSections.append((sectionIndex, sectionInfo.name))
    } else {
      goneSections.append(sectionIndex)
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let paths = [indexPath, newIndexPath].compactMap { $0 }.map { "[\($0.section), \($0.item)]" }
    lines.append("\(type) " + paths.joined(separator: " "))
    guard let object = anObject as? NSManagedObject, type != .update else { return }
    if let indexPath { gone.append((indexPath, object)) }
    if let newIndexPath { come.append((newIndexPath, object)) }
  }

  func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    lines.append("did")
    for (path, _) in gone.sorted(by: { $0.0 > $1.0 }) {
      mirror[path.section].objects.remove(at: path.item)
    }
    for index in goneSections.sorted(by: >) { mirror.remove(at: index) }
    for (index, name) in comeSections.sorted(by: { $0.0 < $1.0 }) {
      mirror.insert((name, []), at: index)
    }
    for (path, object) in come.sorted(by: { $0.0 < $1.0 }) {
      mirror[path.section].objects.insert(object, at: path.item)
    }
  }
}
