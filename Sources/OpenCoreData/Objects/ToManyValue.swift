import ManagedModel

/// The state of one to-many relationship of one object.
///
/// Unfired, it notes what was added and removed; once fired it holds its destinations strongly, as
/// Apple's does (which is how two sides that were both read keep each other alive). An ordered one
/// is fired before it is changed: a place means nothing without the others.
final class ToManyValue {
  /// Nil until the relationship's fault has fired.
  private(set) var objects: Set<NSManagedObject>?
  /// The destinations in their order; nil until fired, and for a relationship without order.
  private(set) var list: [NSManagedObject]?
  /// The destinations' keys in the store, as last read or saved; nil until fired.
  private(set) var committed: Set<Int64>?
  private(set) var added: Set<NSManagedObject> = []
  private(set) var removed: Set<NSManagedObject> = []
  /// Whether what was there before stands in another order now.
  private(set) var isReordered = false
  /// The list as it is given out, until it changes.
  private var shownList: NSOrderedSet?
  /// The list's proxy, which is told of its changes.
  weak var mirror: MutableRelationshipList?
  /// What had been changed when the present event began.
  private var earlier = Difference()
  private let isOrdered: Bool

  /// What differs from the store.
  private struct Difference: Equatable {
    var added: Set<NSManagedObject> = []
    var removed: Set<NSManagedObject> = []
    /// The whole list, where an ordered one differs.
    var list: [NSManagedObject]?
  }

  /// `isNew` makes one that is filled and empty, for an object that is not in the store yet.
  init(isNew: Bool, isOrdered: Bool) {
    self.isOrdered = isOrdered
    if isNew {
      objects = []
      committed = []
      if isOrdered { list = [] }
    }
  }

  /// Whether what was added, removed and moved since the last save is not nothing.
  var hasChanges: Bool {
    !added.isEmpty || !removed.isEmpty || isReordered
  }

  /// The destinations in their order, as the relationship's value.
  var orderedSet: NSOrderedSet? {
    guard let list else { return nil }
    if let shownList { return shownList }
    let made = NSOrderedSet(array: list)
    shownList = made
    return made
  }

  /// Fills the relationship; what was noted while it was a fault is applied now.
  func fill(_ destinations: [NSManagedObject]) {
    committed = Set(destinations.map(\.primaryKey))
    var objects = Set(destinations)
    objects.formUnion(added)
    objects.subtract(removed)
    self.objects = objects
    guard isOrdered else { return }
    shownList = nil
    let list =
      destinations.filter { !removed.contains($0) }
      + added.subtracting(destinations).sorted { $0.primaryKey < $1.primaryKey }
    self.list = list
    mirror?.noteList(list)
  }

  /// Adds a destination; to an ordered relationship at a place, or at the end.
  func insert(_ object: NSManagedObject, at index: Int? = nil) {
    let isNew = objects?.insert(object).inserted ?? true
    let wasRemoved = removed.remove(object) != nil
    // What the store has is known, or what was taken out is taken for there.
    let isStored = committed?.contains(object.primaryKey) ?? wasRemoved
    if !isStored { added.insert(object) }
    guard isNew, let count = list?.count else { return }
    list?.insert(object, at: index ?? count)
    mirror?.noteInsertion(of: object, at: index ?? count)
    // What comes back may come back to another place.
    if index.map({ $0 < count }) ?? false || !added.contains(object) { isReordered = true }
    shownList = nil
  }

  func remove(_ object: NSManagedObject) {
    if objects != nil, objects?.remove(object) == nil { return }
    let wasAdded = added.remove(object) != nil
    // What was added may be stored by now, by somebody else.
    if !wasAdded || committed?.contains(object.primaryKey) == true { removed.insert(object) }
    if let index = list?.firstIndex(of: object) {
      list?.remove(at: index)
      mirror?.noteRemoval(at: index)
      shownList = nil
    }
  }

  /// Takes a removal back, unless the store was found without the destination since.
  func takeBackRemoval(of object: NSManagedObject) {
    if removed.contains(object), committed?.contains(object.primaryKey) == false {
      removed.remove(object)
    } else {
      insert(object)
    }
  }

  /// Puts the destinations that are there into another order.
  func order(as order: [NSManagedObject]) {
    guard let list, list != order else { return }
    self.list = order
    mirror?.noteList(order)
    isReordered = true
    shownList = nil
  }

  /// Makes it a fault again; what was added and removed stays noted.
  ///
  /// An ordered one with changes stays as it is, for its order is one of them.
  func turnIntoFault() {
    if isOrdered, hasChanges { return }
    objects = nil
    list = nil
    shownList = nil
    committed = nil
  }

  /// Says that the store has what the object has.
  func settle() {
    added = []
    removed = []
    isReordered = false
    earlier = Difference()
    if let objects { committed = Set(objects.map(\.primaryKey)) }
  }

  // MARK: Events

  private var difference: Difference {
    Difference(added: added, removed: removed, list: hasChanges ? list : nil)
  }

  /// Remembers what has been changed so far, because an event begins.
  func beginEvent() {
    earlier = difference
  }

  /// Whether it has changed since the event began.
  var hasChangedInEvent: Bool {
    difference != earlier
  }

  /// The destinations when the event began; nil until fired.
  var earlierObjects: Set<NSManagedObject>? {
    guard let objects else { return nil }
    return objects.subtracting(added).union(removed)
      .union(earlier.added).subtracting(earlier.removed)
  }

  /// The destinations at the last save or fetch; nil until fired.
  var committedObjects: Set<NSManagedObject>? {
    objects.map { $0.subtracting(added).union(removed) }
  }

  /// The order when the event began, as far as it is known; nil without order.
  var earlierList: NSOrderedSet? {
    guard let list else { return nil }
    if let earlier = earlier.list { return NSOrderedSet(array: earlier) }
    let present = list.filter { !added.contains($0) }
    return NSOrderedSet(
      array: present + removed.sorted { $0.primaryKey < $1.primaryKey })
  }
}

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

  /// Whether there's no object.
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
