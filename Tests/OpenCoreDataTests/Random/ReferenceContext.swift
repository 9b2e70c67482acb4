/// The expected state of a context, in plain dictionaries: faults, versions, and unsaved changes.
///
/// An object that isn't in `objects` is a fault or isn't registered.
final class ReferenceContext {
  let store: ReferenceStore
  var objects: [Int: ReferenceObject] = [:]
  var unpropagated: [Int] = []
  /// The new objects that were deleted before they were saved.
  private var forgotten: Set<Int> = []

  init(over store: ReferenceStore) {
    self.store = store
  }

  subscript(serial: Int) -> ReferenceObject {
    get { objects[serial] ?? ReferenceObject() }
    set { objects[serial] = newValue }
  }

  var hasChanges: Bool { objects.values.contains(where: \.hasChanges) }

  /// Whether the object exists, in this context or in the store, and isn't deleted.
  func isAlive(_ serial: Int) -> Bool {
    guard let object = objects[serial] else { return store.records[serial] != nil }
    if object.isMissing || object.isDeleted { return false }
    return object.isFault && !object.isInserted ? store.records[serial] != nil : true
  }

  /// The serials of objects of a root entity that aren't deleted, in order.
  func living(_ root: String? = nil) -> [Int] {
    Set(objects.keys).union(store.records.keys)
      .filter { isAlive($0) && (root == nil || store.root($0) == root) }.sorted()
  }

  // MARK: Reading

  /// Fires a fault.
  func fire(_ serial: Int) {
    guard self[serial].isFault else { return }
    self[serial].isFault = false
    // A new object that was refreshed has its default values.
    if self[serial].isInserted { return }
    if let record = store.records[serial] {
      self[serial].base = record
    } else {
      self[serial].isMissing = true
    }
  }

  /// Fires the faults of refreshed new objects.
  func fireInserted(where isRead: (Int) -> Bool = { _ in true }) {
    for (serial, object) in objects where object.isInserted && isRead(serial) { fire(serial) }
  }

  func attribute(_ key: String, of serial: Int) -> AttributeValue? {
    fire(serial)
    return self[serial].present.attributes[key]
  }

  func destination(_ name: String, of serial: Int) -> Int? {
    fire(serial)
    return self[serial].present.toOne[name]
  }

  func destinations(_ side: WorkshopModel.Side, of serial: Int) -> Set<Int> {
    fire(serial)
    var value = toMany(side.name, of: serial)
    if value.committed == nil { value.committed = store.destinations(of: serial, side) }
    self[serial].toMany[side.name] = value
    return value.shown ?? []
  }

  func toMany(_ name: String, of serial: Int) -> ReferenceObject.ToMany {
    if let value = self[serial].toMany[name] { return value }
    return ReferenceObject.ToMany(committed: self[serial].isInserted ? [] : nil)
  }

  // MARK: Changing

  func insert(_ serial: Int, _ entity: String) {
    store.entities[serial] = entity
    var object = ReferenceObject()
    object.isFault = false
    object.isInserted = true
    object.changes.attributes["serial"] = .integer(Int64(serial))
    objects[serial] = object
  }

  func set(_ key: String, _ value: AttributeValue?, of serial: Int) {
    fire(serial)
    noteChange(serial)
    self[serial].changes.attributes.updateValue(value, forKey: key)
  }

  func set(_ side: WorkshopModel.Side, _ new: Int?, of serial: Int) {
    let old = destination(side.name, of: serial)
    noteChange(serial)
    self[serial].changes.toOne.updateValue(new, forKey: side.name)
    guard old != new else { return }
    let stored = self[serial].base.toOne[side.name]
    if let old { drop(serial, from: old, side.inverse, isStored: stored == old) }
    if let new { addInverse(of: side, from: serial, on: new, isStored: stored == new) }
  }

  func set(_ side: WorkshopModel.Side, _ new: Set<Int>, of serial: Int) {
    let old = destinations(side, of: serial)
    noteChange(serial)
    let (removed, added) = (old.subtracting(new), new.subtracting(old))
    for other in removed { change(side.name, of: serial) { $0.remove(other) } }
    for other in added { change(side.name, of: serial) { $0.insert(other) } }
    // The other side of a many-to-many relationship may have read the store at another time: a
    // change of this side is one of both.
    func isStored(_ other: Int) -> Bool? {
      toMany(side.inverse, of: other).committed?.contains(serial)
    }
    for other in removed {
      let isRemoved = toMany(side.name, of: serial).removed.contains(other)
      drop(serial, from: other, side.inverse, isStored: isRemoved || isStored(other) ?? false)
    }
    for other in added {
      let isAdded = toMany(side.name, of: serial).added.contains(other)
      addInverse(of: side, from: serial, on: other, isStored: !isAdded && isStored(other) ?? true)
    }
  }

  private func addInverse(
    of side: WorkshopModel.Side, from serial: Int, on other: Int, isStored: Bool? = nil
  ) {
    guard let inverse = WorkshopModel.sides[side.inverse] else { return }
    fire(other)
    noteChange(other)
    guard !inverse.isToMany else {
      return change(inverse.name, of: other) { $0.insert(serial, isStored: isStored) }
    }
    if let previous = self[other].present.toOne[inverse.name], previous != serial {
      let stored = self[other].base.toOne[inverse.name]
      drop(other, from: previous, side.name, isStored: stored == previous)
    }
    self[other].changes.toOne.updateValue(serial, forKey: inverse.name)
  }

  /// Removes a destination on one side.
  func drop(_ serial: Int, from other: Int, _ name: String, isStored: Bool? = nil) {
    fire(other)
    noteChange(other)
    if WorkshopModel.sides[name]?.isToMany == true {
      change(name, of: other) { $0.remove(serial, isStored: isStored) }
    } else if self[other].present.toOne[name] == serial {
      self[other].changes.toOne.updateValue(nil, forKey: name)
    }
  }

  func change(
    _ name: String, of serial: Int, _ body: (inout ReferenceObject.ToMany) -> Void
  ) {
    var value = toMany(name, of: serial)
    body(&value)
    self[serial].toMany[name] = value
  }

  func noteChange(_ serial: Int) {
    guard !self[serial].isInserted, !self[serial].isMissing else { return }
    self[serial].isUpdated = true
  }

  // MARK: Deleting

  func delete(_ serial: Int) {
    guard !self[serial].isDeleted, !self[serial].isMissing else { return }
    self[serial].isDeleted = true
    unpropagated.append(serial)
  }

  /// Propagates deletions.
  func process() {
    var next = 0
    while next < unpropagated.count {
      let serial = unpropagated[next]
      next += 1
      guard objects[serial]?.isDeleted == true else { continue }
      fire(serial)
      for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? [] {
        propagate(side, of: serial)
      }
      if self[serial].isInserted {
        objects[serial] = nil
        forgotten.insert(serial)
      }
    }
    unpropagated = []
  }

  private func propagate(_ side: WorkshopModel.Side, of serial: Int) {
    let related =
      side.isToMany
      ? destinations(side, of: serial).sorted()
      : [destination(side.name, of: serial)].compactMap { $0 }
    for other in related {
      // Undo can restore a forgotten object.
      if forgotten.contains(other), objects[other] == nil, store.records[other] == nil { continue }
      if side.cascades {
        delete(other)
      } else if !self[other].isDeleted, !self[other].isMissing {
        drop(serial, from: other, side.inverse)
      }
    }
  }
}
