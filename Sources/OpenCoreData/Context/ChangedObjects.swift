/// Objects that are marked by one flag of their state, in the order in which they were marked.
///
/// The flag is the membership, so that marking an object again costs a test of a bit.
struct ChangedObjects {
  private let flag: ObjectState
  private var marked: [NSManagedObject] = []
  /// Objects in `marked` whose mark was taken away; they are held until `compact`.
  private var unmarked: Set<ObjectIdentifier> = []
  /// The marked objects as a set that was asked for; nil once another is marked or unmarked.
  private var known: Set<NSManagedObject>?

  init(_ flag: ObjectState) {
    self.flag = flag
  }

  var isEmpty: Bool { marked.count == unmarked.count }

  /// The marked objects in the order of marking.
  var array: [NSManagedObject] {
    unmarked.isEmpty ? marked : marked.filter { $0.state.contains(flag) }
  }

  /// The marked objects as a set, which is kept until the next change.
  var members: Set<NSManagedObject> {
    mutating get {
      if let known { return known }
      let members = Set(array)
      known = members
      return members
    }
  }

  /// The marked objects that the next save does not delete, in the order of marking.
  var undeleted: [NSManagedObject] {
    let all = array
    return all.contains { $0.isDeleted } ? all.filter { !$0.isDeleted } : all
  }

  func contains(_ object: NSManagedObject) -> Bool {
    object.state.contains(flag)
  }

  /// Marks an object; one that is marked stays where it is.
  ///
  /// - Returns: Whether the object was not marked before.
  @discardableResult
  mutating func insert(_ object: NSManagedObject) -> Bool {
    guard !object.state.contains(flag) else { return false }
    // It would stand there twice.
    if !unmarked.isEmpty, unmarked.contains(ObjectIdentifier(object)) { compact() }
    object.state.insert(flag)
    marked.append(object)
    known = nil
    return true
  }

  /// Takes an object's mark away; it is let go with the next `compact`.
  mutating func remove(_ object: NSManagedObject) {
    guard object.state.contains(flag) else { return }
    object.state.remove(flag)
    unmarked.insert(ObjectIdentifier(object))
    known = nil
  }

  /// Lets go of the objects whose mark was taken away.
  ///
  /// Cost: none without such objects, else the number of marked ones.
  mutating func compact() {
    guard !unmarked.isEmpty else { return }
    marked.removeAll { !$0.state.contains(flag) }
    unmarked.removeAll()
  }

  /// Takes all marks away.
  mutating func removeAll() {
    for object in marked { object.state.remove(flag) }
    marked.removeAll()
    unmarked.removeAll()
    known = nil
  }
}
