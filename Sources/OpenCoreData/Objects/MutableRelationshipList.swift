import ManagedModel

/// What `mutableOrderedSetValue(forKey:)` gives: a list whose changes are the relationship's.
///
/// Foundation's ordered set reads its own storage, so that is kept as a copy of the relationship's list,
/// which tells it of every change (`ToManyValue.mirror`). What is called here changes the
/// relationship and nothing else.
final class MutableRelationshipList: NSMutableOrderedSet {
  private var owner: NSManagedObject?
  private var relationship: NSRelationshipDescription?

  /// The list of one relationship of one object, which it holds.
  convenience init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription) {
    self.init(capacity: 0)
    self.owner = owner
    self.relationship = relationship
  }

  override init(capacity: Int) {
    super.init(capacity: capacity)
  }

  required init?(coder: NSCoder) {
    nil
  }

  required convenience init(arrayLiteral elements: Any...) {
    self.init(capacity: elements.count)
  }

  // MARK: What the relationship tells

  func noteInsertion(of object: NSManagedObject, at index: Int) {
    super.insert(object, at: index)
  }

  func noteRemoval(at index: Int) {
    super.removeObject(at: index)
  }

  func noteList(_ list: [NSManagedObject]) {
    super.removeAllObjects()
    for (index, object) in list.enumerated() { super.insert(object, at: index) }
  }

  // MARK: What a program calls

  /// Replaces the list by a changed copy of it.
  private func change(_ body: (inout [NSManagedObject]) -> Void) {
    guard let owner, let relationship else { return }
    var list = owner.relatedObjects(relationship)
    body(&list)
    owner.setDestinations(owner.checkedDestinations(list, relationship), relationship)
  }

  private func checked(_ objects: [Any]) -> [NSManagedObject] {
    guard let owner, let relationship else { return [] }
    return objects.compactMap { owner.checkedDestination($0, relationship) }
  }

  override func add(_ object: Any) { put(object, at: nil) }

  override func insert(_ object: Any, at index: Int) { put(object, at: index) }

  private func put(_ object: Any, at index: Int?) {
    guard let owner, let relationship, let object = checked([object]).first else { return }
    owner.addDestination(object, relationship, at: index)
  }

  override func remove(_ object: Any) {
    guard let owner, let relationship, let object = object as? NSManagedObject else { return }
    owner.removeDestination(object, relationship)
  }

  override func removeObject(at index: Int) { remove(object(at: index)) }

  override func addObjects(from objects: [Any]) {
    for object in objects { add(object) }
  }

  override func insert(_ objects: [Any], at indexes: IndexSet) {
    let new = checked(objects)
    change { list in
      for (object, index) in zip(new, indexes) { list.insert(object, at: index) }
    }
  }

  override func setObject(_ object: Any, at index: Int) {
    if index == count { add(object) } else { replaceObject(at: index, with: object) }
  }

  override func replaceObject(at index: Int, with object: Any) {
    guard let object = checked([object]).first else { return }
    change { $0[index] = object }
  }

  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    let new = checked(objects)
    change { list in
      for (object, index) in zip(new, indexes) { list[index] = object }
    }
  }

  override func exchangeObject(at first: Int, withObjectAt second: Int) {
    change { $0.swapAt(first, second) }
  }

  override func moveObjects(at indexes: IndexSet, to index: Int) {
    change { list in
      let moved = indexes.map { list[$0] }
      for index in indexes.reversed() { list.remove(at: index) }
      list.insert(contentsOf: moved, at: index)
    }
  }

  override func removeAllObjects() { change { $0 = [] } }

  override func removeObjects(in objects: [Any]) {
    for object in objects { remove(object) }
  }

  override func removeObjects(at indexes: IndexSet) {
    change { list in
      for index in indexes.reversed() { list.remove(at: index) }
    }
  }

  override func removeObjects(in range: NSRange) {
    removeObjects(at: IndexSet(integersIn: range.lowerBound..<range.upperBound))
  }

  override func intersect(_ other: NSOrderedSet) { change { $0.removeAll { !other.contains($0) } } }

  override func minus(_ other: NSOrderedSet) { change { $0.removeAll { other.contains($0) } } }

  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }

  override func sort(comparator: (Any, Any) -> ComparisonResult) {
    change { $0.sort { comparator($0, $1) == .orderedAscending } }
  }
}
