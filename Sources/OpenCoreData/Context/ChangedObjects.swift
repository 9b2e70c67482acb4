import ManagedModel

/// Objects marked by a flag of their state, in the order in which they were marked.
///
/// The flag determines membership, so that marking an object again costs only a bit test.
struct ChangedObjects {
  private let flag: ObjectState
  private var marked: [NSManagedObject] = []
  /// Objects in `marked` whose mark was removed; they are retained until `compact`.
  private var unmarked: Set<ObjectIdentifier> = []
  /// The marked objects as a set, cached; `nil` after another object is marked or unmarked.
  private var known: Set<NSManagedObject>?

  init(_ flag: ObjectState) {
    self.flag = flag
  }

  var isEmpty: Bool { marked.count == unmarked.count }

  /// The marked objects in the order of marking.
  var array: [NSManagedObject] {
    unmarked.isEmpty ? marked : marked.filter { $0.state.contains(flag) }
  }

  /// The marked objects as a set, cached until the next change.
  var members: Set<NSManagedObject> {
    mutating get {
      if let known { return known }
      let members = Set(changed: array)
      known = members
      return members
    }
  }

  /// The marked objects that the next save doesn't delete, in the order of marking.
  var undeleted: [NSManagedObject] {
    let all = array
    return all.contains { $0.isDeleted } ? all.filter { !$0.isDeleted } : all
  }

  func contains(_ object: NSManagedObject) -> Bool {
    object.state.contains(flag)
  }

  /// Marks an object; an object that is already marked keeps its position.
  ///
  /// - Returns: Whether the object wasn't marked before.
  @discardableResult
  mutating func insert(_ object: NSManagedObject) -> Bool {
    guard !object.state.contains(flag) else { return false }
    // It would be in the array twice.
    if !unmarked.isEmpty, unmarked.contains(ObjectIdentifier(object)) { compact() }
    object.state.insert(flag)
    marked.append(object)
    known = nil
    return true
  }

  /// Removes an object's mark; the next `compact` releases it.
  mutating func remove(_ object: NSManagedObject) {
    guard object.state.contains(flag) else { return }
    object.state.remove(flag)
    unmarked.insert(ObjectIdentifier(object))
    known = nil
  }

  /// Releases the objects whose mark was removed.
  ///
  /// **Cost:** none if there are no such objects, otherwise proportional to the number of marked
  /// objects.
  mutating func compact() {
    guard !unmarked.isEmpty else { return }
    marked.removeAll { !$0.state.contains(flag) }
    unmarked.removeAll()
  }

  /// Removes all marks.
  mutating func removeAll() {
    for object in marked { object.state.remove(flag) }
    marked.removeAll()
    unmarked.removeAll()
    known = nil
  }
}

extension Set<NSManagedObject> {
  /// Creates a set of changed objects.
  ///
  /// Retains each once; `init(_:)` also retains and releases what `insert` returns.
  init(changed objects: [NSManagedObject]) {
    self.init(minimumCapacity: objects.count)
    for object in objects { update(with: object) }
  }
}
