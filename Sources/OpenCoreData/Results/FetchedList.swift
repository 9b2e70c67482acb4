import ManagedModel

/// The objects of a controller's results, in order: all of them held, or page by page.
protocol FetchedList: AnyObject {
  var count: Int { get }
  /// The object at a position, whose page is loaded when it is not held.
  func object(at position: Int) -> NSManagedObject
  /// Where an object is; nil when it is not in the list.
  func position(of object: NSManagedObject) -> Int?
  /// Takes objects out and puts others in.
  ///
  /// - Parameters:
  ///   - removed: Positions before, ascending.
  ///   - inserted: Objects with their positions afterwards, ascending.
  func edit(removing removed: [Int], inserting inserted: [(object: NSManagedObject, position: Int)])
}

extension Array {
  /// Takes elements out and puts others in; positions as in `FetchedList.edit`.
  mutating func edit(removing removed: [Int], inserting inserted: [(Element, Int)]) {
    var result: [Element] = []
    result.reserveCapacity(count - removed.count + inserted.count)
    var (nextRemoved, nextInserted) = (0, 0)
    func insertHere() {
      while nextInserted < inserted.count, inserted[nextInserted].1 == result.count {
        result.append(inserted[nextInserted].0)
        nextInserted += 1
      }
    }
    for (position, element) in enumerated() {
      if nextRemoved < removed.count, removed[nextRemoved] == position {
        nextRemoved += 1
        continue
      }
      insertHere()
      result.append(element)
    }
    insertHere()
    self = result
  }
}

/// All objects, held strongly.
final class WholeList: FetchedList {
  private var objects: [NSManagedObject]
  /// Made at need, dropped by an edit.
  private var positions: [ObjectIdentifier: Int]?

  init(_ objects: [NSManagedObject]) {
    self.objects = objects
  }

  var count: Int { objects.count }

  func object(at position: Int) -> NSManagedObject {
    objects[position]
  }

  func position(of object: NSManagedObject) -> Int? {
    if positions == nil {
      positions = Dictionary(
        uniqueKeysWithValues: objects.enumerated().map { (ObjectIdentifier($1), $0) })
    }
    return positions?[ObjectIdentifier(object)]
  }

  func edit(
    removing removed: [Int], inserting inserted: [(object: NSManagedObject, position: Int)]
  ) {
    objects.edit(removing: removed, inserting: inserted.map { ($0.object, $0.position) })
    positions = nil
  }
}
