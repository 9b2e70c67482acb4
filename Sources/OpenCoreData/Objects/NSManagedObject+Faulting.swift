import ManagedModel

extension NSManagedObject {
  /// Fills the object when it is a fault.
  ///
  /// Every access goes through here.
  @inline(__always)
  final func willAccess() {
    if state.contains(.fault) { fire() }
  }

  /// Turns a new, empty instance into a fault of a row.
  final func becomeFault(primaryKey: Int64, in context: NSManagedObjectContext) {
    self.primaryKey = primaryKey
    self.context = context
    row = layout.faultRow
    state = state.intersection(.fixedSlots).union(.fault)
  }

  /// Takes over a row; the object owns the count that comes with it.
  final func fill(with row: Row) {
    self.row.release()
    self.row = row
    state.remove(.fault)
    state.insert(.awaking)
    awakeFromFetch()
    state.remove(.awaking)
  }

  /// Drops values and changes; the row stays in the row cache as long as the object is registered.
  final func turnIntoFault() {
    guard !isFault else { return }
    willTurnIntoFault()
    row.release()
    row = layout.faultRow
    values = nil
    prefetched = nil
    state = state.intersection(.noted.union(.fixedSlots)).union(.fault)
    didTurnIntoFault()
  }

  /// Makes a fault whose row is gone say that it is deleted; its values are nil.
  final func becomeInaccessible() {
    state = state.intersection(.changed.union(.noted).union(.fixedSlots)).union(.inaccessible)
  }

  /// Lets go of related objects and of rows loaded ahead, because the object leaves its context: two
  /// sides of a relationship would keep each other alive for ever.
  final func dropRelated() {
    values?.forgetObjects()
    prefetched = nil
  }

  private func fire() {
    guard let context else {
      preconditionFailure(
        "a fault of '\(layout.entity.name ?? "")' was read after its context had gone or was reset")
    }
    context.fire(self)
  }
}
