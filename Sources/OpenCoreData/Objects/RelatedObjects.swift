import ManagedModel

/// The objects of a to-many relationship, read when something is asked of them.
///
/// Generated classes have one beside each to-many property. Making it reads nothing; `isFault` asks
/// without reading; everything else costs the relationship's SELECT while it is a fault. The copy into
/// typed collections is left out where one object is looked for, added or taken out. No Apple
/// counterpart; Apple's `mutableSetValue(forKey:)` is near it.
public struct RelatedObjects<Element: NSManagedObject>: Sequence {
  private let owner: NSManagedObject
  private let key: String

  /// Refers to a to-many relationship; traps when it is used and `key` is none.
  public init(of owner: NSManagedObject, _ key: String) {
    self.owner = owner
    self.key = key
  }

  /// Whether the relationship has not been read yet; asking does not read it.
  public var isFault: Bool {
    owner.hasFault(forRelationshipNamed: key)
  }

  /// The number of objects.
  public var count: Int {
    objects.count
  }

  /// Whether there is no object.
  public var isEmpty: Bool {
    objects.isEmpty
  }

  /// Whether the object is among them.
  public func contains(_ object: Element) -> Bool {
    objects.contains(object)
  }

  /// The objects as a set; setting replaces them all.
  public var set: Set<Element> {
    get {
      var result = Set<Element>(minimumCapacity: objects.count)
      for object in objects { result.insert(typed(object)) }
      return result
    }
    nonmutating set { owner.setValue(Set<NSManagedObject>(newValue.map { $0 }), forKey: key) }
  }

  /// The objects in the relationship's order, or in any where it has none; setting replaces them all.
  public var array: [Element] {
    get { ordered.map(typed) }
    nonmutating set { owner.setValue(newValue as [NSManagedObject], forKey: key) }
  }

  /// Goes through the objects as they are at this moment.
  public func makeIterator() -> IndexingIterator<[Element]> {
    array.makeIterator()
  }

  // MARK: Changing

  /// Adds an object, in an ordered relationship at the end.
  ///
  /// Reads the relationship's other objects only where the inverse does not tell whether this one is
  /// among them. Traps for an object of another context.
  public func insert(_ object: Element) {
    owner.addDestination(object, forKey: key)
  }

  /// Takes an object out; reads as little as `insert`.
  public func remove(_ object: Element) {
    owner.removeDestination(object, forKey: key)
  }

  /// Adds objects.
  public func formUnion(_ objects: some Sequence<Element>) {
    for object in objects { insert(object) }
  }

  /// Takes objects out.
  public func subtract(_ objects: some Sequence<Element>) {
    for object in objects { remove(object) }
  }

  /// Puts an object at an index of an ordered relationship, moving it there when it is among them.
  public func insert(_ object: Element, at index: Int) {
    var list = array
    list.insert(object, at: index)
    if let other = list.indices.first(where: { $0 != index && list[$0] === object }) {
      list.remove(at: other)
    }
    array = list
  }

  /// Takes out the object at an index of an ordered relationship.
  public func remove(at index: Int) {
    var list = array
    list.remove(at: index)
    array = list
  }

  /// Puts an object in the place of the one at an index of an ordered relationship.
  public func replace(at index: Int, with object: Element) {
    var list = array
    list[index] = object
    array = list
  }

  /// Without order and without a copy.
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
      preconditionFailure(
        "'\(key)' of '\(owner.entity.name ?? "")' holds a \(type(of: object)), no \(Element.self); "
          + "register the model's classes before it is first used")
    }
    return element
  }
}
