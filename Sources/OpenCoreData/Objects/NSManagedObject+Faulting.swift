import ManagedModel

extension NSManagedObject {
  /// Fulfills the object if it's a fault.
  ///
  /// Every access calls this method.
  @inline(__always)
  final func willAccess() {
    if !state.isDisjoint(with: .watched) { willAccessWatched() }
  }

  /// Fulfills a fault whose row is retained, without changing a reference count; other states take
  /// the slow path.
  ///
  /// The context isn't retained, so nothing may use it after `finishFulfillment`, which can run the
  /// application's code.
  private func willAccessWatched() {
    if !state.contains(.guarded), hasCachedRow, let contextReference,
      contextReference._withUnsafeGuaranteedRef({ $0.countCachedHitIfPossible() })
    {
      return finishFulfillment()
    }
    willAccessSlowPath()
  }

  /// Turns a new, empty instance into a fault of a row.
  final func becomeFault(primaryKey: Int64, in context: NSManagedObjectContext) {
    self.primaryKey = primaryKey
    self.context = context
    row = layout.faultRow
    state = state.intersection(.ofClass).union(context.faultState)
  }

  /// Retains the row cache's row of a fault, without fulfilling it.
  ///
  /// Firing it then needs no lookup, as long as the row cache still has that row. The object owns
  /// the row's reference count.
  final func retainCachedRow(_ row: Row) {
    self.row.release()
    self.row = row
  }

  /// Whether a fault's row is retained and the newest that the row cache has seen.
  @inline(__always) final var hasCachedRow: Bool {
    row.base != layout.faultRow.base && row.isCached
  }

  /// Fulfills the object with a row, whose reference count it takes over.
  final func fulfill(with row: Row) {
    self.row.release()
    self.row = row
    finishFulfillment()
  }

  /// Completes the fulfillment of a fault whose row is set.
  @inline(__always)
  final func finishFulfillment() {
    state.remove(.fault)
    if state.contains(.awakes) { awake() }
  }

  @inline(never)
  private func awake() {
    if layout.hasTransformers { transformValues() }
    state.insert(.awaking)
    awakeFromFetch()
    state.remove(.awaking)
  }

  /// Decodes all transformable attributes, as Core Data does at this point.
  private func transformValues() {
    for slot in layout.slots where slot.kind == .transformable { _ = attribute(slot) }
  }

  /// Discards values and changes; the row stays in the row cache as long as the object is
  /// registered.
  final func turnIntoFault() {
    // A fault that couldn't be read may have changes.
    guard !isFault || values != nil else { return }
    let former = state
    willTurnIntoFault()
    if !state.isDisjoint(with: [.updated, .deleted]) { forgetChanges(since: former) }
    row.release()
    row = layout.faultRow
    values = nil
    prefetched = nil
    state = state.intersection(.noted.union(.lasting).union(.inserted)).union(.fault)
    didTurnIntoFault()
  }

  /// Removes the object from the changes of its context, such as those of `willTurnIntoFault`.
  ///
  /// - Parameter former: The state before `willTurnIntoFault`.
  @inline(never)
  private func forgetChanges(since former: ObjectState) {
    guard let context else { return }
    context.changes.updated.remove(self)
    context.changes.deleted.remove(self)
    if !former.contains(.eventUpdated) { context.changes.eventUpdated.remove(self) }
    if !former.contains(.eventDeleted) { context.changes.eventDeleted.remove(self) }
  }

  /// Marks a fault whose row doesn't exist as deleted; its values are `nil`.
  final func becomeInaccessible() {
    // A row that a fault retains is outdated.
    if isFault { retainCachedRow(layout.faultRow) }
    state = state.intersection(.changed.union(.noted).union(.lasting)).union(.inaccessible)
  }

  /// Keeps a fault that can't be read as a fault; its unchanged values are `nil`.
  final func remainFault() {
    retainCachedRow(layout.faultRow)
  }

  /// Fulfills a fault that has no row, or none that can be read, with the model's default values.
  final func fulfillWithDefaults() {
    retainCachedRow(layout.defaultRow)
    state.remove(.fault)
  }

  /// Turns an object that was fulfilled with default values back into a fault.
  final func revertToFault() {
    retainCachedRow(layout.faultRow)
    values = nil
    prefetched = nil
    state.insert(.fault)
  }

  /// Releases related objects and prefetched rows, because the object leaves its context: two sides
  /// of a relationship would retain each other.
  final func dropRelated() {
    values?.forgetObjects()
    prefetched = nil
  }

  @inline(never)
  private func willAccessSlowPath() {
    if state.contains(.guarded) { context?.checkQueue(of: self) }
    if state.contains(.fault) { fire() }
  }

  private func fire() {
    // Without a context nothing can be read: the object stays a fault, and its values are nil.
    guard let context else { return remainFault() }
    context.fire(self)
  }
}

/// The reason why several values of an object were restored at once.
///
/// Apple counterpart: `NSSnapshotEventType`.
public struct NSSnapshotEventType: OptionSet, Sendable {
  /// The bits, one for each event.
  public let rawValue: UInt

  /// Creates a set of events from their bits.
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
  /// The object was refreshed and kept its unsaved changes.
  public static let refresh = NSSnapshotEventType(rawValue: 32)
  /// A merge policy resolved a conflict.
  public static let mergePolicy = NSSnapshotEventType(rawValue: 64)
}
