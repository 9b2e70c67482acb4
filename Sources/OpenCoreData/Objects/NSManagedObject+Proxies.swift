import ManagedModel

extension NSManagedObject {
  /// Returns a to-many relationship as a mutable set, whose changes are recorded and update the
  /// inverse.
  ///
  /// Adding and removing objects doesn't fire the relationship; counting and reading does. On
  /// Linux, a cast to a Swift `Set` yields an empty one: use `allObjects` or `value(forKey:)`. It's
  /// a programmer error to pass a key that isn't an unordered to-many.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    MutableRelationshipSet.make(self, toMany(key, isOrdered: false))
  }

  /// Returns an ordered to-many relationship as a mutable ordered set, like
  /// `mutableSetValue(forKey:)`.
  ///
  /// Fires the relationship. Call it again after the object was refreshed or turned into a fault.
  /// It's a programmer error to pass a key that isn't an ordered to-many.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    let relationship = toMany(key, isOrdered: true)
    willAccess()
    let value = changeable(relationship, at: position(of: key))
    if let mirror = value.mirror { return mirror }
    let made = MutableRelationshipList(self, relationship)
    made.noteList(value.list ?? [])
    value.mirror = made
    return made
  }

  /// Returns the to-many relationship at the end of a key path, as in `country.moods`, as
  /// `mutableSetValue(forKey:)` does.
  ///
  /// If a relationship along the path is `nil`, the set is empty, and changing it changes no
  /// object. It's a programmer error to pass a path along a to-many, or one that doesn't end with
  /// an unordered to-many. **Cost:** that of each property along the path.
  public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    guard let end = end(of: keyPath) else { return NSMutableSet() }
    return end.owner.mutableSetValue(forKey: end.key)
  }

  /// Returns the ordered to-many relationship at the end of a key path as
  /// `mutableOrderedSetValue(forKey:)` does.
  ///
  /// Otherwise the same as `mutableSetValue(forKeyPath:)`.
  public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    guard let end = end(of: keyPath) else { return NSMutableOrderedSet() }
    return end.owner.mutableOrderedSetValue(forKey: end.key)
  }

  /// Returns the object that has the last property of a key path, and that property's key; `nil` if
  /// a relationship along the path is `nil`.
  ///
  /// A path to an element of a composite attribute is a key.
  final func end(of keyPath: String) -> (owner: NSManagedObject, key: String)? {
    guard layout.position(of: keyPath) == nil, let point = keyPath.firstIndex(of: ".") else {
      return (self, keyPath)
    }
    let (key, rest) = (keyPath[..<point], String(keyPath[keyPath.index(after: point)...]))
    switch value(forKey: String(key)) {
    case let object as NSManagedObject: return object.end(of: rest)
    case nil: return nil
    default: fatalError("'\(key)' of '\(layout.entityName)' isn't a to-one relationship")
    }
  }

  /// Returns the object IDs of a relationship's destinations, in order if it's ordered.
  ///
  /// Creates no objects: a to-many that is a fault stays one. **Cost:** the object's fault if it is
  /// one, and for such a to-many a relationship fault. It's a programmer error to pass a key that
  /// isn't a relationship.
  public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    let position = position(of: key)
    willAccess()
    switch position {
    case .slot(let index) where layout.slots[index].kind.isToOne:
      return destinationID(forRelationshipNamed: key).map { [$0] } ?? []
    case .toMany(let index):
      let relationship = layout.toMany[index]
      let value = toManyValue(at: layout.valueIndex(position))
      guard value.objects == nil, let context else {
        return relatedObjects(relationship).map(\.objectID)
      }
      let stored = context.destinationIDs(of: relationship, of: self)
      let added = value.added.map(\.objectID)
      let changed = Set(added + value.removed.map(\.objectID))
      return stored.filter { !changed.contains($0) } + added
    default:
      fatalError("'\(key)' of '\(layout.entityName)' isn't a relationship")
    }
  }

  /// Returns the object ID of a to-one's destination without registering the destination; `nil` for
  /// a fault.
  ///
  /// For tools that print objects: no statements, no faults. It's a programmer error to pass a key
  /// that isn't a to-one.
  package final func destinationID(forRelationshipNamed key: String) -> NSManagedObjectID? {
    guard case .slot(let index) = position(of: key), layout.slots[index].kind.isToOne else {
      fatalError("'\(key)' of '\(layout.entityName)' isn't a to-one relationship")
    }
    let slot = layout.slots[index]
    switch values?[slot.index] {
    case .object(let object): return object.objectID
    case .null: return nil
    default: break
    }
    guard !isFault, let context, !row.isNull(slot) else { return nil }
    return context.destinationID(
      primaryKey: row.int64(slot), of: slot.relationship,
      entityNumber: slot.kind == .toOnePolymorphic ? row.entityNumber(slot) : 0, owner: layout)
  }

  private func toMany(_ key: String, isOrdered: Bool) -> NSRelationshipDescription {
    guard case .toMany(let index) = position(of: key), layout.toMany[index].isOrdered == isOrdered
    else {
      fatalError(
        "'\(key)' of '\(layout.entityName)' isn't a \(isOrdered ? "" : "un")ordered to-many")
    }
    return layout.toMany[index]
  }
}

/// The result of `mutableSetValue(forKey:)`: a set whose changes are the relationship's.
final class MutableRelationshipSet: NSMutableSet {
  private var owner: NSManagedObject?
  private var relationship: NSRelationshipDescription?

  /// Creates the set of a relationship of an object, which it retains.
  static func make(
    _ owner: NSManagedObject, _ relationship: NSRelationshipDescription
  ) -> MutableRelationshipSet {
    let made = MutableRelationshipSet(capacity: 0)
    made.owner = owner
    made.relationship = relationship
    return made
  }

  private var objects: Set<NSManagedObject> {
    guard let owner, let relationship else { return [] }
    owner.willAccess()
    let position = owner.position(of: relationship.name)
    return owner.destinations(relationship, at: owner.layout.valueIndex(position))
  }

  override var count: Int { objects.count }

  override func member(_ object: Any) -> Any? {
    (object as? NSManagedObject).flatMap { objects.contains($0) ? $0 : nil }
  }

  override func objectEnumerator() -> NSEnumerator {
    NSArray(array: Array(objects)).objectEnumerator()
  }

  override func add(_ object: Any) {
    guard let owner, let relationship,
      let object = owner.checkedDestination(object, relationship)
    else { return }
    owner.addDestination(object, relationship)
  }

  override func remove(_ object: Any) {
    guard let owner, let relationship, let object = object as? NSManagedObject else { return }
    owner.removeDestination(object, relationship)
  }
}

/// The result of `mutableOrderedSetValue(forKey:)`: a list whose changes are the relationship's.
///
/// Foundation's ordered set reads its own storage, so that is kept as a copy of the relationship's
/// list, which reports every change to it (`ToManyValue.mirror`). Methods called here change only
/// the relationship.
final class MutableRelationshipList: NSMutableOrderedSet {
  private var owner: NSManagedObject?
  private var relationship: NSRelationshipDescription?

  /// Creates the list of a relationship of an object, which it retains.
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

  // MARK: Changes from the relationship

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

  // MARK: Calls from programs

  /// Replaces the list with a changed copy.
  private func change(_ body: (inout [NSManagedObject]) -> Void) {
    guard let owner, let relationship else { return }
    var list = owner.relatedObjects(relationship)
    body(&list)
    owner.write(list, to: owner.position(of: relationship.name))
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
      var present = Set(list)
      for (object, index) in zip(new, indexes) where present.insert(object).inserted {
        list.insert(object, at: Swift.min(index, list.count))
      }
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
    let gone = Set(objects.compactMap { $0 as? NSManagedObject })
    guard gone.contains(where: contains) else { return }
    change { $0.removeAll(where: gone.contains) }
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
    sortRange(NSRange(location: 0, length: count), options: [], usingComparator: comparator)
  }

  override func sort(
    options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult
  ) {
    sortRange(NSRange(location: 0, length: count), options: options, usingComparator: comparator)
  }

  override func sortRange(
    _ range: NSRange, options: NSSortOptions = [],
    usingComparator comparator: (Any, Any) -> ComparisonResult
  ) {
    change { list in
      list[range.lowerBound..<range.upperBound].sort { comparator($0, $1) == .orderedAscending }
    }
  }
}

/// The kind of change to a set.
///
/// Apple counterpart: `NSKeyValueSetMutationKind`, which Foundation lacks on Linux.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Objects are added.
  case union = 1
  /// Objects are removed.
  case minus = 2
  /// All but some objects are removed.
  case intersect = 3
  /// The whole set is replaced.
  case set = 4
}
