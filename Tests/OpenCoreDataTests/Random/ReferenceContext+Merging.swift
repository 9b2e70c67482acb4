extension ReferenceContext {
  /// Sets a to-one relationship to `nil` if an unsaved change of its new destination has removed
  /// the object, or if the delete rule of that is to be applied.
  func leaveDestination(_ side: WorkshopModel.Side, of serial: Int) {
    guard let other = self[serial].base.toOne[side.name],
      let inverse = WorkshopModel.sides[side.inverse]
    else { return }
    let leaves =
      self[other].isDeleted || self[other].isMissing
      ? !inverse.cascades : isRemoved(serial, from: other, inverse)
    if leaves { clear(side.name, of: serial) }
  }

  private func isRemoved(_ serial: Int, from other: Int, _ side: WorkshopModel.Side) -> Bool {
    if side.isToMany { return toMany(side.name, of: other).removed.contains(serial) }
    guard let present = self[other].changes.toOne[side.name] else { return false }
    return present != serial && self[other].base.toOne[side.name] == serial
  }

  /// Makes the other sides of an object's changed one-to-one relationships agree with its values.
  func settleOneToOne(of serial: Int) {
    guard self[serial].isUpdated, !self[serial].isDeleted, !self[serial].isFault else { return }
    for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? []
    where !side.isToMany && WorkshopModel.sides[side.inverse]?.isToMany == false {
      settle(side, of: serial)
    }
  }

  private func settle(_ side: WorkshopModel.Side, of serial: Int) {
    let (present, stored) = (
      self[serial].present.toOne[side.name], self[serial].base.toOne[side.name]
    )
    guard present != stored else { return }
    if let stored { release(serial, from: stored, side.inverse) }
    guard let other = present, !self[other].isInserted, !self[other].isDeleted else { return }
    guard update(other) else { return clear(side.name, of: serial) }
    let former = self[other].present.toOne[side.inverse]
    if former == serial { return }
    if self[other].changes.toOne[side.inverse] != nil { return clear(side.name, of: serial) }
    noteChange(other)
    self[other].changes.toOne.updateValue(serial, forKey: side.inverse)
    if let former { release(other, from: former, side.name) }
  }

  /// Sets the other side of a one-to-one relationship to `nil` if it's an object.
  private func release(_ serial: Int, from other: Int, _ name: String) {
    guard !self[other].isDeleted, update(other), self[other].present.toOne[name] == serial else {
      return
    }
    clear(name, of: other)
  }

  private func clear(_ name: String, of serial: Int) {
    noteChange(serial)
    self[serial].changes.toOne.updateValue(nil, forKey: name)
  }

  /// Reads the row of an object without unsaved changes again; returns `false` if it doesn't exist.
  private func update(_ serial: Int) -> Bool {
    if self[serial].hasChanges { return true }
    guard !self[serial].isMissing, store.records[serial] != nil else { return false }
    self[serial].becomeFault()
    fire(serial)
    return true
  }
}
