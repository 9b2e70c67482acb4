import ManagedModel

/// The state of one to-many relationship of one object.
///
/// Unfired, it notes what was added and removed; once fired it holds its destinations strongly, as
/// Apple's does (which is how two sides that were both read keep each other alive).
final class ToManyValue {
  /// Nil until the relationship's fault has fired.
  private(set) var objects: Set<NSManagedObject>?
  /// The destinations' keys in the store, as last read or saved; nil until fired.
  private(set) var committed: Set<Int64>?
  private(set) var added: Set<NSManagedObject> = []
  private(set) var removed: Set<NSManagedObject> = []

  /// `isNew` makes one that is filled and empty, for an object that is not in the store yet.
  init(isNew: Bool) {
    if isNew {
      objects = []
      committed = []
    }
  }

  /// Whether what was added and removed since the last save is not nothing.
  var hasChanges: Bool {
    !added.isEmpty || !removed.isEmpty
  }

  /// Fills the relationship; what was noted while it was a fault is applied now.
  func fill(_ destinations: [NSManagedObject]) {
    committed = Set(destinations.map(\.primaryKey))
    var objects = Set(destinations)
    objects.formUnion(added)
    objects.subtract(removed)
    self.objects = objects
  }

  func insert(_ object: NSManagedObject) {
    objects?.insert(object)
    if removed.remove(object) == nil, committed?.contains(object.primaryKey) != true {
      added.insert(object)
    }
  }

  func remove(_ object: NSManagedObject) {
    if objects != nil, objects?.remove(object) == nil { return }
    if added.remove(object) == nil { removed.insert(object) }
  }

  /// Makes it a fault again; what was added and removed stays noted.
  func unfire() {
    objects = nil
    committed = nil
  }

  /// Says that the store has what the object has.
  func settle() {
    added = []
    removed = []
    if let objects { committed = Set(objects.map(\.primaryKey)) }
  }
}
