import ManagedModel

/// The objects of a to-many relationship, read on demand.
///
/// Generated classes have one in addition to each to-many property. Creating it and `isFault` read
/// nothing; everything else costs the relationship's SELECT while it's a fault. Looking up, adding,
/// or removing one object doesn't copy the objects into a typed collection. No Apple counterpart;
/// `mutableSetValue(forKey:)` is similar.
public struct RelatedObjects<Element: NSManagedObject>: Sequence {
  private let owner: NSManagedObject
  private let key: String

  /// Creates a reference to a to-many relationship; it's a programmer error to use it if `key`
  /// isn't one.
  public init(of owner: NSManagedObject, _ key: String) {
    self.owner = owner
    self.key = key
  }

  /// Whether the relationship is a fault; reading this property doesn't fire it.
  public var isFault: Bool {
    owner.hasFault(forRelationshipNamed: key)
  }

  /// The number of objects.
  public var count: Int {
    (owner.value(forKey: key) as? NSOrderedSet)?.count ?? objects.count
  }

  /// Whether there are no objects.
  public var isEmpty: Bool {
    count == 0
  }

  /// Returns whether the relationship contains an object.
  public func contains(_ object: Element) -> Bool {
    (owner.value(forKey: key) as? NSOrderedSet)?.contains(object) ?? objects.contains(object)
  }

  /// The objects as a set; setting it replaces them all.
  public var set: Set<Element> {
    get {
      var result = Set<Element>(minimumCapacity: objects.count)
      for object in objects { result.insert(typed(object)) }
      return result
    }
    nonmutating set { owner.setValue(Set<NSManagedObject>(newValue.map { $0 }), forKey: key) }
  }

  /// The objects in the relationship's order, if it has one; setting it replaces them all.
  public var array: [Element] {
    get { ordered.map(typed) }
    nonmutating set { owner.setValue(newValue as [NSManagedObject], forKey: key) }
  }

  /// Returns an iterator over the current objects.
  public func makeIterator() -> IndexingIterator<[Element]> {
    array.makeIterator()
  }

  // MARK: Changing

  /// Adds an object, in an ordered relationship at the end.
  ///
  /// Reads the relationship's other objects only if the inverse doesn't show whether this one is
  /// present. It's a programmer error to pass an object of another context.
  public func insert(_ object: Element) {
    owner.addDestination(object, forKey: key)
  }

  /// Removes an object; reads as little as `insert`.
  public func remove(_ object: Element) {
    owner.removeDestination(object, forKey: key)
  }

  /// Adds objects.
  public func formUnion(_ objects: some Sequence<Element>) {
    for object in objects { insert(object) }
  }

  /// Removes objects.
  public func subtract(_ objects: some Sequence<Element>) {
    for object in objects { remove(object) }
  }

  /// Inserts an object before the one at an index of an ordered relationship, or moves it there if
  /// it's present.
  public func insert(_ object: Element, at index: Int) {
    var list = array
    list.insert(object, at: index)
    if let other = list.indices.first(where: { $0 != index && list[$0] === object }) {
      list.remove(at: other)
    }
    array = list
  }

  /// Removes the object at an index of an ordered relationship.
  public func remove(at index: Int) {
    var list = array
    list.remove(at: index)
    array = list
  }

  /// Replaces the object at an index of an ordered relationship.
  public func replace(at index: Int, with object: Element) {
    var list = array
    list[index] = object
    array = list
  }

  /// Inserts objects into an ordered relationship as `insert(_:at:)` does, one after the other, in
  /// ascending order of their indexes.
  ///
  /// It's a programmer error if the numbers of objects and indexes differ.
  public func insert(_ objects: [Element], at indexes: IndexSet) {
    checkCount(of: objects, indexes)
    for (index, object) in zip(indexes, objects) { insert(object, at: index) }
  }

  /// Removes the objects at indexes of an ordered relationship.
  public func remove(at indexes: IndexSet) {
    var list = array
    for index in indexes.reversed() { list.remove(at: index) }
    array = list
  }

  /// Replaces the objects at indexes of an ordered relationship, in ascending order.
  ///
  /// It's a programmer error if the numbers of objects and indexes differ.
  public func replace(at indexes: IndexSet, with objects: [Element]) {
    checkCount(of: objects, indexes)
    var list = array
    for (index, object) in zip(indexes, objects) { list[index] = object }
    array = list
  }

  private func checkCount(of objects: [Element], _ indexes: IndexSet) {
    guard objects.count != indexes.count else { return }
    fatalError(
      "'\(key)' of '\(owner.entity.name ?? "")' is changed with \(objects.count) objects at "
        + "\(indexes.count) indexes; pass one index for each object")
  }

  /// The objects, without order and without a copy.
  private var objects: Set<NSManagedObject> {
    switch owner.value(forKey: key) {
    case let set as Set<NSManagedObject>: set
    case let other: Set(list(other))
    }
  }

  private var ordered: [NSManagedObject] {
    list(owner.value(forKey: key))
  }

  private func list(_ value: Any?) -> [NSManagedObject] {
    switch value {
    case let set as Set<NSManagedObject>: Array(set)
    case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
    case let array as [NSManagedObject]: array
    default: []
    }
  }

  private func typed(_ object: NSManagedObject) -> Element {
    guard let element = object as? Element else {
      fatalError(
        "'\(key)' of '\(owner.entity.name ?? "")' contains a \(type(of: object)), not a \(Element.self); "
          + "register the model's classes before it is first used")
    }
    return element
  }
}
