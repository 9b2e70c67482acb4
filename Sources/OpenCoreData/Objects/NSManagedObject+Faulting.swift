import ManagedModel

extension NSManagedObject {
  /// Fills the object when it is a fault.
  ///
  /// Every access goes through here.
  @inline(__always)
  final func willAccess() {
    if !state.isDisjoint(with: .watched) { lookTwice() }
  }

  /// Turns a new, empty instance into a fault of a row.
  final func becomeFault(primaryKey: Int64, in context: NSManagedObjectContext) {
    self.primaryKey = primaryKey
    self.context = context
    row = layout.faultRow
    state = state.intersection(.fixedSlots).union(context.faultState)
  }

  /// Keeps the row cache's row of a fault, which stays one.
  ///
  /// To fire it takes no look-up then, while the row cache still holds that row. The object owns the
  /// count that comes with it.
  final func keepAtHand(_ row: Row) {
    self.row.release()
    self.row = row
  }

  /// Whether a fault's row is at hand and the newest that the row cache has seen.
  @inline(__always) final var hasCachedRow: Bool {
    row.base != layout.faultRow.base && row.isCached
  }

  /// Takes over a row; the object owns the count that comes with it.
  final func fill(with row: Row) {
    self.row.release()
    self.row = row
    becomeFilled()
  }

  /// Ends a fault whose row is there.
  @inline(__always)
  final func becomeFilled() {
    state.remove(.fault)
    if layout.hasTransformers { transformValues() }
    state.insert(.awaking)
    awakeFromFetch()
    state.remove(.awaking)
  }

  /// Turns the bytes of all transformable attributes into values, as Apple's does at this point.
  private func transformValues() {
    for slot in layout.slots where slot.kind == .transformable { _ = attribute(slot) }
  }

  /// Takes the attributes that `awakeFromInsert` set for what the new object begins with.
  ///
  /// Cost: a row, when there were any.
  final func adoptInitialValues() {
    guard let values,
      layout.slots.contains(where: { !$0.kind.isToOne && values.isChanged($0.index) })
    else { return }
    var builder = RowBuilder(layout: layout)
    builder.copy(row)
    var isLeft = false
    for slot in layout.slots where values.isChanged(slot.index) {
      if slot.kind.isToOne {
        isLeft = true
        continue
      }
      builder.set(rawValue(slot), at: slot)
      // What a transformer would have to make again stays held.
      if slot.kind == .transformable {
        values.settle(slot.index)
      } else {
        values.forget(slot.index)
      }
    }
    row.release()
    row = builder.finish(version: 0)
    if !isLeft { state.remove(.overridden) }
  }

  /// Drops values and changes; the row stays in the row cache as long as the object is registered.
  final func turnIntoFault() {
    guard !isFault else { return }
    willTurnIntoFault()
    row.release()
    row = layout.faultRow
    values = nil
    prefetched = nil
    state = state.intersection(.noted.union(.lasting)).union(.fault)
    didTurnIntoFault()
  }

  /// Makes a fault whose row is gone say that it is deleted; its values are nil.
  final func becomeInaccessible() {
    // A fault's row at hand is of before.
    if isFault { keepAtHand(layout.faultRow) }
    state = state.intersection(.changed.union(.noted).union(.lasting)).union(.inaccessible)
  }

  /// Has a fault that could not be read read as empty; nobody is told.
  final func readAsEmpty() {
    keepAtHand(layout.defaultRow)
    state.remove(.fault)
  }

  /// Makes a fault of an object that was read as empty.
  final func becomeUnread() {
    keepAtHand(layout.faultRow)
    values = nil
    prefetched = nil
    state.insert(.fault)
  }

  /// Lets go of related objects and of rows loaded ahead, because the object leaves its context: two
  /// sides of a relationship would keep each other alive for ever.
  final func dropRelated() {
    values?.forgetObjects()
    prefetched = nil
  }

  private func lookTwice() {
    if state.contains(.guarded) { context?.checkQueue(of: self) }
    if state.contains(.fault) { fire() }
  }

  private func fire() {
    guard let context else {
      preconditionFailure(
        "a fault of '\(layout.entity.name ?? "")' was read after its context had gone or was reset")
    }
    if hasCachedRow, context.countsAtHand() { return becomeFilled() }
    context.fire(self)
  }
}
