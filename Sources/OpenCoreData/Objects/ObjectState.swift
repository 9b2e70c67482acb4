/// What an object is at the moment, in one word.
@usableFromInline
struct ObjectState: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt32

  @usableFromInline
  init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  static let fault = ObjectState(rawValue: 1)
  static let inserted = ObjectState(rawValue: 2)
  static let updated = ObjectState(rawValue: 4)
  static let deleted = ObjectState(rawValue: 8)
  /// Some slot's value differs in place from the row: read `values` first.
  static let overridden = ObjectState(rawValue: 16)
  /// The entity's slots lie where the generated accessors of the class look for them.
  ///
  /// Set once and for all; without it the accessors go by name.
  static let fixedSlots = ObjectState(rawValue: 32)
  /// `awakeFromInsert` or `awakeFromFetch` is running: what is set is no change.
  static let awaking = ObjectState(rawValue: 64)
  /// The row is gone: the object says that it is deleted and has nil values.
  ///
  /// Nothing is left to save, so this is no change.
  static let inaccessible = ObjectState(rawValue: 128)
  /// `prepareForDeletion` is running.
  static let preparing = ObjectState(rawValue: 8192)
  /// Nothing but transient properties was set since the last save: there is nothing to write.
  ///
  /// Means something beside `updated` alone.
  static let transientOnly = ObjectState(rawValue: 4096)

  /// The context has noted the object for the next did-change notification.
  static let eventInserted = ObjectState(rawValue: 256)
  static let eventUpdated = ObjectState(rawValue: 512)
  static let eventDeleted = ObjectState(rawValue: 1024)
  static let eventRefreshed = ObjectState(rawValue: 2048)

  /// The next save writes every column, whatever the row has.
  static let overwritten = ObjectState(rawValue: 1 << 16)
  /// The next save writes a row anew that is gone from the store.
  static let restored = ObjectState(rawValue: 1 << 17)
  static let rewritten: ObjectState = [.overwritten, .restored]

  /// Each access asks whether it is on the context's queue; see `QueueGuard`.
  static let guarded = ObjectState(rawValue: 1 << 18)
  /// What makes an access look twice.
  static let watched: ObjectState = [.fault, .guarded]
  /// The class overrides `didChangeValue(forKey:)`, which is to be called whenever a property is set.
  static let reportsChanges = ObjectState(rawValue: 1 << 19)
  /// What follows from an object's class.
  static let ofClass: ObjectState = [.fixedSlots, .reportsChanges]
  /// What an object is for good.
  static let lasting: ObjectState = [.fixedSlots, .reportsChanges, .guarded]

  /// Whether setting a property once more is nothing new to the context.
  var isNotedChange: Bool {
    !isDisjoint(with: [.inserted, .updated]) && !isDisjoint(with: [.eventInserted, .eventUpdated])
      && isDisjoint(with: [.awaking, .transientOnly, .inaccessible])
  }

  static let changed: ObjectState = [.inserted, .updated, .deleted]
  static let noted: ObjectState = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed,
  ]
}
