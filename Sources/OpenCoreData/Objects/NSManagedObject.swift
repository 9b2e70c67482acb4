import ManagedModel

/// An object of an entity: a fault until a property is read, then realized with the values of its
/// row.
///
/// Belongs to one context and is used on its queue. A context has one instance for each row. Apple
/// counterpart: `NSManagedObject`; the book's chapters 3 to 7.
///
/// An unchanged realized object has no storage other than the row that it shares with the row
/// cache. Changed values, and values that are costly to re-create (decoded strings, related
/// objects), are stored in addition in `values`.
open class NSManagedObject: NSObject {
  /// The last values known from the store; the snapshot that saving compares.
  ///
  /// Retained once by this object. For a fault, it's the layout's row of nils, or the cached row
  /// that is used only when the fault fires. Written by +Faulting and +Save.
  @usableFromInline @exclusivity(unchecked) final var row: Row
  /// `Z_PK`; negative while the object ID is temporary.
  @exclusivity(unchecked) final var primaryKey: Int64
  /// Reassigned only while the object has no row: the entity stays, the store may change.
  @usableFromInline @exclusivity(unchecked) final var layout: EntityLayout
  /// The context, not retained; `nil` for an object without a context, and after its context was
  /// released or has deregistered it.
  ///
  /// Stored in this form so that `willAccess` can use the context without retaining it.
  @exclusivity(unchecked) final var contextReference: Unmanaged<NSManagedObjectContext>?
  @usableFromInline @exclusivity(unchecked) final var state: ObjectState
  /// Changed, decoded, and related values; `nil` if there are none.
  @usableFromInline @exclusivity(unchecked) final var values: ObjectValues?
  /// Rows that were prefetched for this object live as long as this reference.
  @exclusivity(unchecked) final var prefetched: PrefetchedRows?

  /// Creates an object with its model's default values and, unless `context` is `nil`, inserts it
  /// there.
  ///
  /// Subclasses inherit it; one that declares its own initializers must use `required` instead of
  /// Apple's `override`. Calls `awakeFromInsert` when inserted. It's a programmer error to pass an
  /// abstract entity or one that belongs to no model. No statements.
  public required init(
    entity: borrowing NSEntityDescription, insertInto context: NSManagedObjectContext?
  ) {
    let layout = EntityLayout.of(entity)
    self.row = layout.defaultRow
    self.primaryKey = 0
    self.state = layout.initialState(of: Self.self)
    self.layout = consume layout
    super.init()
    guard let context else { return }
    context.insert(self)
  }

  /// Inserts a new object of the entity that uses this class.
  ///
  /// It's a programmer error if the context's model has no entity for the class, or several and the
  /// class doesn't override `entity()`. No statements.
  public required convenience init(context: NSManagedObjectContext) {
    self.init(entity: context.entity(forClass: Self.self), insertInto: context)
  }

  deinit {
    row.release()
  }

  /// The context; reading it retains it.
  final var context: NSManagedObjectContext? {
    get { contextReference?.takeUnretainedValue() }
    set { contextReference = newValue.map(Unmanaged.passUnretained) }
  }

  // MARK: Identity

  /// The object's ID, temporary until the object has been saved.
  ///
  /// An object that's created without a context keeps its ID when it's inserted.
  public final var objectID: NSManagedObjectID {
    if primaryKey == 0 { primaryKey = TemporaryKeys.next() }
    return NSManagedObjectID(layout: layout, primaryKey: primaryKey, handle: storeHandle)
  }

  /// The handle of the store that has the object's row; `nil` for a temporary ID.
  final var storeHandle: StoreHandle? {
    primaryKey > 0 ? context?.store(for: self)?.handle ?? values?.formerStore : nil
  }

  /// Keeps the object ID valid after the object has left its context.
  final func keepStore(_ store: CachingStore?) {
    if primaryKey > 0 { storage.formerStore = store?.handle }
  }

  /// The object's own entity, which may be a subentity of the one that was fetched.
  public final var entity: NSEntityDescription {
    layout.entity
  }

  /// The context the object is registered with; `nil` after the context was released or reset.
  public final var managedObjectContext: NSManagedObjectContext? {
    context
  }

  // MARK: State

  /// Whether the object's values aren't loaded; reading this property doesn't load them.
  public final var isFault: Bool {
    state.contains(.fault)
  }

  /// Whether the object is new and has never been saved.
  public final var isInserted: Bool {
    state.contains(.inserted)
  }

  /// Whether a property was set since the last save, even to an equal value.
  public final var isUpdated: Bool {
    state.contains(.updated)
  }

  /// Whether the next save will delete the object's row, or the row was found not to exist.
  public final var isDeleted: Bool {
    !state.isDisjoint(with: [.deleted, .inaccessible])
  }

  /// Whether the object is inserted, updated, or deleted.
  public final var hasChanges: Bool {
    !state.isDisjoint(with: .changed)
  }

  /// 0 if the object is realized, positive if it's a fault.
  ///
  /// The same as Apple's counterpart.
  public final var faultingState: Int {
    isFault ? 1 : 0
  }

  // MARK: For subclasses

  /// Whether `willChangeValue(forKey:)` does nothing for a key that isn't in the model; `true` by
  /// default.
  ///
  /// If an override returns `false`, it marks the object as changed, as for a transient property:
  /// `willSave` is called by the next save, which has nothing to write.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// Called once in an object's life, right after it was inserted.
  ///
  /// `changedValues()` includes the values set here until the object is saved, even if they were
  /// set through primitive accessors. Call `super`.
  open func awakeFromInsert() {}

  /// Called each time the object has been fulfilled from its row.
  ///
  /// Values set here change neither the object's nor the context's state, and a relationship set
  /// here doesn't update its inverse. Call `super`.
  open func awakeFromFetch() {}

  /// Called after several values were restored at once: by a merging refresh, a rollback, an undo,
  /// or a redo.
  ///
  /// - Parameter flags: The reason.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called before the object is written; changing properties here starts another pass.
  open func willSave() {}

  /// Called after the object was written or its row was deleted, with its changes already cleared.
  ///
  /// If its row was deleted, `isDeleted` is still true: the object leaves its context after every
  /// object of the save was notified. What's set here isn't saved then.
  open func didSave() {}

  /// Called by `delete(_:)`, before delete rules are applied; `isDeleted` is already true.
  ///
  /// Each call of `delete(_:)` calls it, even for an object that is already marked for deletion,
  /// except a call that this method makes for the object itself.
  open func prepareForDeletion() {}

  /// Called before the values are discarded: when the object turns into a fault, and when the
  /// context deregisters a realized object of a subclass.
  open func willTurnIntoFault() {}

  /// Called after the values were discarded; override it to discard values derived from them.
  open func didTurnIntoFault() {}

  // MARK: Key-value coding

  /// The properties that key-value coding reads and sets through the class's own accessors; empty
  /// by default.
  ///
  /// Read once, when the model is first used. Include `super`'s. No Apple counterpart: there the
  /// Objective-C runtime provides them.
  open class var keyedAccessors: [KeyedAccessor] { [] }

  /// Called by `value(forKey:)` for a key that the object doesn't have.
  ///
  /// An override may return a value; this method stops with a fatal error that names the
  /// key.
  open func value(forUndefinedKey key: String) -> Any? {
    read(position(of: key))
  }

  /// Called by `setValue(_:forKey:)` for a key that the object doesn't have.
  ///
  /// An override may store the value; this method stops with a fatal error that names the
  /// key.
  open func setValue(_ value: Any?, forUndefinedKey key: String) {
    write(value, to: position(of: key))
  }

  /// Called by `setValue(_:forKey:)` to set a property in `keyedAccessors` to `nil` if its type
  /// isn't optional.
  ///
  /// An override may set another value, such as 0; this method stops with a fatal error that names
  /// the key. Not called for other properties: an attribute of the model is set to `nil`, even if a
  /// property with a type such as `Int64` reads it.
  open func setNilValueForKey(_ key: String) {
    fatalError(
      "'\(key)' of '\(layout.entityName)' can't be set to nil: override setNilValueForKey(_:), or "
        + "make the property optional")
  }

  /// Ends the change that `willChangeValue(forKey:)` began: a relationship's inverses are updated.
  ///
  /// An override is also called after each property that is set through generated accessors,
  /// `@Managed`, or key-value coding, and must call `super`. Primitive accessors don't call it.
  open func didChangeValue(forKey key: String) {
    finishChange(forKey: key)
  }

  /// Validates a value against the model: whether it's required, its bounds, length, and pattern,
  /// and the number of destinations.
  ///
  /// Called for each property at save, and by programs. Override it where Apple's code has
  /// `validateName(_:)`, and call `super` for the model's rules. An override may replace the value
  /// with a valid one, which saving sets. Fires nothing.
  /// - Throws: An error of `NSCocoaErrorDomain` with a code from 1550 to 1680.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    try layout.rules.check(value, forKey: key, of: self)
  }

  /// Validates a new object before saving; calls `validateValue` for each property.
  open func validateForInsert() throws {
    try validateProperties()
  }

  /// Validates a changed object before saving; calls `validateValue` for each property.
  open func validateForUpdate() throws {
    try validateProperties()
  }

  /// Validates the deletion of the object's row.
  ///
  /// - Throws: 1600 if a deny rule prevents it; the error of the store if that can't be read.
  open func validateForDelete() throws {
    try validateDenyRules()
  }

  /// A hash consistent with identity, by which objects are equal.
  public final override var hash: Int {
    // Sets and dictionaries hash it again.
    Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())
  }

  /// The object's class, entity, object ID and, if it's realized, its values.
  ///
  /// Related objects are printed as IDs. Fires nothing. On the context's queue.
  open override var description: String { descriptionOfValues }

  /// Returns the entity whose objects have this class, in the most recently used model.
  ///
  /// A model is in use from its first coordinator on. It's a programmer error if no such model, or
  /// more than one of its entities, has the class; an override can choose one.
  open class func entity() -> NSEntityDescription {
    let found = ManagedObjectClasses.entities(of: self)
    guard let entity = found.first, found.count == 1 else {
      fatalError(
        found.isEmpty
          ? "no model in use has an entity with the class \(self): create a coordinator first"
          : "\(found.count) entities have the class \(self): override entity(), or specify one")
    }
    return entity
  }
}

extension NSManagedObject {
  /// Returns a fetch request for the objects of this class's entity; see `entity()`.
  ///
  /// Generated classes have their own, whose results are of the class.
  @_disfavoredOverload
  public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity()
    return request
  }
}

extension NSManagedObject: ManagedObjectReference {
  /// The object's ID: to a predicate, an object and its ID are equal.
  package final var referenceIdentity: AnyHashable { AnyHashable(objectID) }

  /// Whether the object has been saved.
  package final var hasStableIdentity: Bool { primaryKey > 0 }
}

/// The current state of an object, in one word.
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
  /// Some slot's value differs from the row: read `values` first.
  static let overridden = ObjectState(rawValue: 16)
  /// The entity's slots match those of the class's generated accessors.
  ///
  /// Never changes; without it the accessors look properties up by name.
  static let fixedSlots = ObjectState(rawValue: 32)
  /// `awakeFromInsert` or `awakeFromFetch` is running: setting a property isn't a change.
  static let awaking = ObjectState(rawValue: 64)
  /// The row doesn't exist: the object is deleted and has `nil` values.
  ///
  /// There's nothing to save, so this isn't a change.
  static let inaccessible = ObjectState(rawValue: 128)
  /// `prepareForDeletion` is running.
  static let preparing = ObjectState(rawValue: 8192)
  /// Only transient properties were set since the last save: there's nothing to write, unless
  /// others were changed without a record.
  ///
  /// Only meaningful together with `updated`.
  static let transientOnly = ObjectState(rawValue: 4096)

  /// The context has recorded the object for the next did-change notification.
  static let eventInserted = ObjectState(rawValue: 256)
  static let eventUpdated = ObjectState(rawValue: 512)
  static let eventDeleted = ObjectState(rawValue: 1024)
  static let eventRefreshed = ObjectState(rawValue: 2048)

  /// The next save writes every column, whatever the row has.
  static let overwritten = ObjectState(rawValue: 1 << 16)
  /// The next save reinserts a row that was deleted from the store.
  static let restored = ObjectState(rawValue: 1 << 17)
  static let rewritten: ObjectState = [.overwritten, .restored]

  /// Each access checks that it's on the context's queue; see `QueueGuard`.
  static let guarded = ObjectState(rawValue: 1 << 18)
  /// The states that make an access take the slow path.
  static let watched: ObjectState = [.fault, .guarded]
  /// The class overrides `didChangeValue(forKey:)`, which is called whenever a property is set.
  static let reportsChanges = ObjectState(rawValue: 1 << 19)
  /// Fulfilling the object takes more than its row: the class overrides `awakeFromFetch`, or the
  /// entity has transformable attributes, which are decoded then.
  static let awakes = ObjectState(rawValue: 1 << 20)
  /// The states determined by an object's class and entity.
  static let ofClass: ObjectState = [.fixedSlots, .reportsChanges, .awakes]
  /// The states that an object keeps for life.
  static let lasting: ObjectState = [.fixedSlots, .reportsChanges, .awakes, .guarded]

  /// Whether setting another property needs no further notification of the context.
  var isNotedChange: Bool {
    !isDisjoint(with: [.inserted, .updated]) && !isDisjoint(with: [.eventInserted, .eventUpdated])
      && isDisjoint(with: [.awaking, .transientOnly, .inaccessible])
  }

  static let changed: ObjectState = [.inserted, .updated, .deleted]
  static let noted: ObjectState = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed,
  ]
}
