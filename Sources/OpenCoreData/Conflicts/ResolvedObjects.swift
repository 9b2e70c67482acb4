import ManagedModel

/// The objects whose conflicts a merge policy has resolved one by one, and those that have to
/// follow: a save re-creates no reference to a row that doesn't exist, and no many-to-many
/// relationship on one side only.
///
/// Made for one call of the policy, on the context's queue.
struct ResolvedObjects {
  private let context: NSManagedObjectContext
  private var objects: [NSManagedObject] = []

  init(in context: NSManagedObjectContext) {
    self.context = context
  }

  /// Adds an object that isn't deleted.
  mutating func append(_ object: NSManagedObject) {
    objects.append(object)
  }

  /// Makes the objects consistent with others; undo doesn't restore what this changes.
  ///
  /// **Cost:** one SELECT for each unchanged object that a restored object refers to, as far as
  /// its relationships were read.
  /// - Throws: The store's error.
  func settle() throws {
    let recorder = context.undoState.recorder
    let wasPaused = recorder?.isPaused ?? false
    recorder?.isPaused = true
    defer { recorder?.isPaused = wasPaused }
    for object in objects where object.state.contains(.restored) { try relink(object) }
  }

  /// Adds a restored object to its destinations in many-to-many relationships again.
  ///
  /// The deletion of its row has removed the join rows. References to rows that no longer exist are
  /// removed.
  private func relink(_ object: NSManagedObject) throws {
    for slot in object.layout.slots
    where slot.kind.isToOne && object.values?.isChanged(slot.index) != true {
      let rule = slot.relationship.inverseRelationship?.deleteRule ?? .noActionDeleteRule
      guard rule != .noActionDeleteRule, let other = object.destination(slot) else { continue }
      if try !other.isDeleted && !update(other) { object.storeDestination(nil, slot) }
    }
    for relationship in object.layout.toMany where !relationship.isTransient {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
      let position = object.position(of: relationship.name)
      guard case .toMany(let value)? = object.values?[object.layout.valueIndex(position)],
        let others = value.objects?.subtracting(value.added)
      else { continue }
      for other in others.sorted(by: { $0.primaryKey < $1.primaryKey }) where !other.isDeleted {
        guard try update(other) else {
          value.remove(other, isStored: false)
          continue
        }
        other.noteChange()
        other.changeable(inverse, at: other.position(of: inverse.name))
          .insert(object, isStored: false)
        value.insert(other, isStored: false)
      }
    }
  }

  /// Reads the row of an object without unsaved changes again; returns `false` if it doesn't exist.
  ///
  /// The save compares the rows of objects with changes.
  private func update(_ object: NSManagedObject) throws -> Bool {
    if object.hasChanges { return true }
    guard let row = try context.newestRow(of: object, isCached: false) else { return false }
    if object.isFault {
      object.fulfill(with: row)
    } else {
      context.refresh(object, with: row)
    }
    return true
  }
}
