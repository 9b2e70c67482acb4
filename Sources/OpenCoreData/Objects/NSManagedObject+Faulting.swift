import ManagedModel

extension NSManagedObject {
  /// Fills the object when it is a fault.
  ///
  /// Every access goes through here.
  @inline(__always)
  final func willAccess() {
    if !state.isDisjoint(with: .watched) { willAccessSlowPath() }
  }

  /// Turns a new, empty instance into a fault of a row.
  final func becomeFault(primaryKey: Int64, in context: NSManagedObjectContext) {
    self.primaryKey = primaryKey
    self.context = context
    row = layout.faultRow
    state = state.intersection(.ofClass).union(context.faultState)
  }

  /// Keeps the row cache's row of a fault, which stays one.
  ///
  /// To fire it takes no look-up then, while the row cache still holds that row. The object owns the
  /// count that comes with it.
  final func retainCachedRow(_ row: Row) {
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
    finishFulfillment()
  }

  /// Ends a fault whose row is there.
  @inline(__always)
  final func finishFulfillment() {
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

  /// Drops values and changes; the row stays in the row cache as long as the object is registered.
  final func turnIntoFault() {
    guard !isFault else { return }
    willTurnIntoFault()
    row.release()
    row = layout.faultRow
    values = nil
    prefetched = nil
    state = state.intersection(.noted.union(.lasting).union(.inserted)).union(.fault)
    didTurnIntoFault()
  }

  /// Makes a fault whose row is gone say that it is deleted; its values are nil.
  final func becomeInaccessible() {
    // A fault's row at hand is of before.
    if isFault { retainCachedRow(layout.faultRow) }
    state = state.intersection(.changed.union(.noted).union(.lasting)).union(.inaccessible)
  }

  /// Gives a fault that has no row, or none that can be read, the model's default values.
  final func fulfillWithDefaults() {
    retainCachedRow(layout.defaultRow)
    state.remove(.fault)
  }

  /// Makes a fault of an object that was read as empty.
  final func revertToFault() {
    retainCachedRow(layout.faultRow)
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

  private func willAccessSlowPath() {
    if state.contains(.guarded) { context?.checkQueue(of: self) }
    if state.contains(.fault) { fire() }
  }

  private func fire() {
    // Without a context nothing can be read: the object stays a fault, and its values are nil.
    guard let context else { return retainCachedRow(layout.faultRow) }
    if hasCachedRow, context.countCachedHitIfPossible() { return finishFulfillment() }
    context.fire(self)
  }
}

/// What put several values of an object back at once.
///
/// Apple counterpart: `NSSnapshotEventType`.
public struct NSSnapshotEventType: OptionSet, Sendable {
  /// One bit an event.
  public let rawValue: UInt

  /// Takes the bits.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// An insertion was undone.
  public static let undoInsertion = NSSnapshotEventType(rawValue: 2)
  /// A deletion was undone.
  public static let undoDeletion = NSSnapshotEventType(rawValue: 4)
  /// Changes were undone.
  public static let undoUpdate = NSSnapshotEventType(rawValue: 8)
  /// The context was rolled back.
  public static let rollback = NSSnapshotEventType(rawValue: 16)
  /// The object was refreshed and kept its changes.
  public static let refresh = NSSnapshotEventType(rawValue: 32)
  /// A merge policy decided a conflict.
  public static let mergePolicy = NSSnapshotEventType(rawValue: 64)
}
