import ManagedModel

/// The effect of changed objects on an ordered list: removed, inserted, moved, and updated objects.
///
/// An updated object moves if a property that the order or the sections depend on has changed, even
/// to the same position. Otherwise, and if it isn't known what has changed, it stays if it's still
/// in order between its neighbors, and in its section. Objects that move are removed and inserted.
///
/// **Cost:** for each updated object, comparisons with its neighbors; for each inserted one, with
/// about log2(n) objects; with a batch size, their batches are loaded.
struct ListChange {
  /// Positions before the change, ascending; includes objects that move.
  private(set) var removed: [(object: NSManagedObject, position: Int)] = []
  /// Positions after the change, ascending; includes objects that move.
  private(set) var inserted: [(object: NSManagedObject, position: Int)] = []
  /// Positions before the change of updated objects that stay, ascending.
  private(set) var updated: [Int] = []
  /// The section names of the inserted objects.
  private var insertedNames: [String] = []
  private let plan: FetchPlan

  init(_ objects: [NSManagedObject], in results: FetchedResults, _ plan: FetchPlan) {
    self.plan = plan
    var coming: [NSManagedObject] = []
    var candidates: [(object: NSManagedObject, position: Int)] = []
    for object in objects {
      let position = results.list.position(of: object)
      let matches =
        object.context === results.context && ListChange.exists(object)
        && ListChange.matches(object, plan)
      switch (position, matches) {
      case (let position?, true): candidates.append((object, position))
      case (let position?, false): removed.append((object, position))
      case (nil, true): coming.append(object)
      case (nil, false): break
      }
    }
    candidates.sort { $0.position < $1.position }
    let moving = separateMoves(candidates, in: results)
    removed = (removed + moving).sorted { $0.position < $1.position }
    insert(coming + moving.map(\.object), in: results)
  }

  /// Returns whether an object isn't deleted.
  ///
  /// Fires a refreshed fault, whose row may no longer exist.
  private static func exists(_ object: NSManagedObject) -> Bool {
    if !object.isDeleted { object.willAccess() }
    return !object.isDeleted
  }

  /// Returns whether a changed object satisfies the predicate.
  ///
  /// Returns `false` if it can't be evaluated, and logs the error, which a notification can't
  /// throw.
  private static func matches(_ object: NSManagedObject, _ plan: FetchPlan) -> Bool {
    do {
      return try plan.matches(object)
    } catch {
      object.context?.noteFailure(error, "a fetched results controller left out \(object.objectID)")
      return false
    }
  }

  var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && updated.isEmpty
  }

  /// Records the updated objects that stay and returns those that move.
  private mutating func separateMoves(
    _ candidates: [(object: NSManagedObject, position: Int)], in results: FetchedResults
  ) -> [(object: NSManagedObject, position: Int)] {
    let list = results.list
    let paths = plan.sort.compactMap(\.key) + [results.sectionNameKeyPath].compactMap { $0 }
    let sorted = Set(paths.map { $0.prefix { $0 != "." } }.map(String.init))
    // The changed objects between two unchanged ones have the same neighbors.
    let runs = ListChange.runs(of: candidates.map(\.position) + removed.map(\.position))
    var run = 0
    var moving: [(object: NSManagedObject, position: Int)] = []
    // The last updated object that stays: later ones in the same gap must not precede it.
    var last: (object: NSManagedObject, gap: Int)?
    for (object, position) in candidates {
      while runs[run].upperBound < position { run += 1 }
      let before = runs[run].lowerBound > 0 ? runs[run].lowerBound - 1 : nil
      let after = runs[run].upperBound + 1 < list.count ? runs[run].upperBound + 1 : nil
      let gap = before ?? -1
      guard !object.hasChangedInEvent(sorted) else {
        moving.append((object, position))
        continue
      }
      var stays =
        results.sectionNameKeyPath == nil
        || results.sectionName(of: object)
          == results.sectionNames[results.indexPath(of: position).section]
      if stays, let before { stays = inOrder(list.object(at: before), object) }
      if stays, let after { stays = inOrder(object, list.object(at: after)) }
      if stays, let last, last.gap == gap { stays = inOrder(last.object, object) }
      if stays {
        updated.append(position)
        last = (object, gap)
      } else {
        moving.append((object, position))
      }
    }
    return moving
  }

  /// Returns the ranges of adjacent positions, ascending.
  private static func runs(of positions: [Int]) -> [ClosedRange<Int>] {
    var runs: [ClosedRange<Int>] = []
    for position in positions.sorted() {
      if let last = runs.last, last.upperBound == position - 1 {
        runs[runs.count - 1] = last.lowerBound...position
      } else {
        runs.append(position...position)
      }
    }
    return runs
  }

  /// Finds the positions of objects among those that stay.
  private mutating func insert(_ objects: [NSManagedObject], in results: FetchedResults) {
    let removedPositions = removed.map(\.position)
    let remaining = results.list.count - removedPositions.count
    if plan.sort.isEmpty, results.sectionNameKeyPath != nil {
      return append(objects, toSectionsOf: results, removedPositions, remaining)
    }
    let coming = sorted(objects)
    var low = 0
    for (offset, object) in coming.enumerated() {
      var high = remaining
      while low < high {
        let middle = (low + high) / 2
        let position = ListChange.oldPosition(ofRemaining: middle, removedPositions)
        if inOrder(results.list.object(at: position), object) {
          low = middle + 1
        } else {
          high = middle
        }
      }
      inserted.append((object, low + offset))
    }
    insertedNames = inserted.map { results.sectionName(of: $0.object) }
  }

  /// Returns objects in order, without those that have no place in it.
  private func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    let sortable = objects.filter(hasPlace)
    return (try? sortable.ordered(by: plan.sort)) ?? sortable
  }

  /// Returns whether the values that determine an object's place can be computed.
  ///
  /// Logs the error if they can't, as `matches` does.
  private func hasPlace(_ object: NSManagedObject) -> Bool {
    do {
      for descriptor in plan.sort { try descriptor.checkValue(of: object) }
      return true
    } catch {
      object.context?.noteFailure(
        NSError.unsortable(plan.sort, error),
        "a fetched results controller left out \(object.objectID)")
      return false
    }
  }

  /// Appends objects to their sections if there's no sort order; those of new sections come last.
  private mutating func append(
    _ objects: [NSManagedObject], toSectionsOf results: FetchedResults, _ removedPositions: [Int],
    _ remaining: Int
  ) {
    // The index of each section, and its end among the objects that stay.
    var places: [String: (index: Int, end: Int)] = [:]
    var removedCount = 0
    for (index, name) in results.sectionNames.enumerated() {
      let end = results.sectionStarts[index + 1]
      while removedCount < removedPositions.count, removedPositions[removedCount] < end {
        removedCount += 1
      }
      places[name] = (index, end - removedCount)
    }
    // By section: one without remaining objects ends where the previous one does.
    let coming = objects.map { object in
      let name = results.sectionName(of: object)
      let place = places[name] ?? (index: results.sectionNames.count, end: remaining)
      return (object: object, name: name, index: place.index, end: place.end)
    }.sorted { ($0.index, $0.name) < ($1.index, $1.name) }
    for (offset, entry) in coming.enumerated() {
      inserted.append((entry.object, entry.end + offset))
      insertedNames.append(entry.name)
    }
  }

  /// Returns whether two objects are in order; true if a value can't be computed, because a related
  /// object has changed.
  private func inOrder(_ first: NSManagedObject, _ second: NSManagedObject) -> Bool {
    for descriptor in plan.sort {
      switch try? descriptor.order(of: first, second) {
      case .orderedAscending?, nil: return true
      case .orderedDescending?: return false
      case .orderedSame?: continue
      }
    }
    return true
  }

  /// Returns the old position of the `index`th remaining object.
  private static func oldPosition(ofRemaining index: Int, _ removedPositions: [Int]) -> Int {
    // The number of removed positions up to the answer, by binary search.
    var (low, high) = (0, removedPositions.count)
    while low < high {
      let middle = (low + high) / 2
      if removedPositions[middle] - middle <= index { low = middle + 1 } else { high = middle }
    }
    return index + low
  }
}

extension ListChange {
  /// Returns the names and starts of the sections after the change.
  func sectionNames(of results: FetchedResults) -> (names: [String], starts: [Int]) {
    let total = results.list.count - removed.count + inserted.count
    guard results.sectionNameKeyPath != nil else { return ([""], [0, total]) }
    var all: [Int] = []
    all.reserveCapacity(results.list.count)
    for section in results.sectionNames.indices {
      let size = results.sectionStarts[section + 1] - results.sectionStarts[section]
      all.append(contentsOf: repeatElement(section, count: size))
    }
    // Old sections by index, new names by indexes after them.
    var numbers: [String: Int] = [:]
    var names = results.sectionNames
    for (index, name) in names.enumerated() { numbers[name] = index }
    let coming = zip(inserted, insertedNames).map { entry, name -> (Int, Int) in
      if let number = numbers[name] { return (number, entry.position) }
      numbers[name] = names.count
      names.append(name)
      return (names.count - 1, entry.position)
    }
    all.edit(removing: removed.map(\.position), inserting: coming)
    var (order, starts): ([String], [Int]) = ([], [])
    var last: Int?
    for (position, number) in all.enumerated() where number != last {
      order.append(names[number])
      starts.append(position)
      last = number
    }
    return (order, starts + [total])
  }

  /// Reports each object's change: deletions, insertions, moves, updates.
  func notify(
    _ delegate: any NSFetchedResultsControllerDelegate,
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    updated objects: [NSManagedObject], from oldStarts: [Int], to newStarts: [Int]
  ) {
    func old(_ position: Int) -> IndexPath { FetchedResults.path(of: position, starts: oldStarts) }
    func new(_ position: Int) -> IndexPath { FetchedResults.path(of: position, starts: newStarts) }
    func notify(
      _ object: NSManagedObject, _ type: NSFetchedResultsChangeType, _ from: IndexPath?,
      _ to: IndexPath?
    ) {
      delegate.controller(controller, didChange: object, at: from, for: type, newIndexPath: to)
    }
    let insertions = Dictionary(
      inserted.map { (ObjectIdentifier($0.object), $0.position) }, uniquingKeysWith: { $1 })
    let movers = Set(removed.map { ObjectIdentifier($0.object) })
    for (object, position) in removed where insertions[ObjectIdentifier(object)] == nil {
      notify(object, .delete, old(position), nil)
    }
    for (object, position) in inserted where !movers.contains(ObjectIdentifier(object)) {
      notify(object, .insert, nil, new(position))
    }
    for (object, position) in removed {
      guard let insertion = insertions[ObjectIdentifier(object)] else { continue }
      notify(object, .move, old(position), new(insertion))
    }
    for (object, position) in zip(objects, updated) { notify(object, .update, old(position), nil) }
  }

  /// The removed and inserted object IDs, with moves associated; `nil` if there are none.
  var difference: CollectionDifference<NSManagedObjectID>? {
    let went = Dictionary(
      removed.map { (ObjectIdentifier($0.object), $0.position) }, uniquingKeysWith: { $1 })
    let came = Dictionary(
      inserted.map { (ObjectIdentifier($0.object), $0.position) }, uniquingKeysWith: { $1 })
    let changes =
      removed.map {
        CollectionDifference<NSManagedObjectID>.Change.remove(
          offset: $0.position, element: $0.object.objectID,
          associatedWith: came[ObjectIdentifier($0.object)])
      }
      + inserted.map {
        .insert(
          offset: $0.position, element: $0.object.objectID,
          associatedWith: went[ObjectIdentifier($0.object)])
      }
    return changes.isEmpty ? nil : CollectionDifference(changes)
  }
}
