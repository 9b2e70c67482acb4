import ManagedModel

/// An object of an entity: a fault until a property is read, then the values of its row.
///
/// Belongs to one context and is used on its queue. Within a context there is one instance for each
/// row. Apple counterpart: `NSManagedObject`; the book's chapters 3 to 7.
///
/// A clean, filled object has no storage but the row it shares with the row cache. What differs from
/// the row (changed values) and what is dear to make again (decoded strings, related objects) is
/// held beside it in `values`.
open class NSManagedObject: NSObject {
  /// The last values known from the store; the snapshot that saving compares.
  ///
  /// Counted once by this object. Of a fault it is the layout's row of nils, or the row at hand that the
  /// next firing will look at; nobody else reads it. Written by +Faulting and +Save.
  @usableFromInline @exclusivity(unchecked) final var row: Row
  /// `Z_PK`; below zero while the object is temporary.
  @exclusivity(unchecked) final var primaryKey: Int64
  /// Set again while the object has no row alone: the entity stays, the store may be another.
  @usableFromInline @exclusivity(unchecked) final var layout: EntityLayout
  /// Nil for an object of no context, and after its context has gone or let go of it.
  @exclusivity(unchecked) final unowned(unsafe) var context: NSManagedObjectContext?
  @usableFromInline @exclusivity(unchecked) final var state: ObjectState
  /// Changed, decoded and related values; nil while there are none.
  @usableFromInline @exclusivity(unchecked) final var values: ObjectValues?
  /// Rows that were loaded ahead for this object live as long as this reference.
  @exclusivity(unchecked) final var prefetched: PrefetchedRows?

  /// Makes an object with its model defaults and, unless `context` is nil, inserts it there.
  ///
  /// Subclasses inherit it; one that declares its own initializers must write `required` where
  /// Apple's has `override`. Calls `awakeFromInsert` when inserted. Traps for an abstract entity and
  /// for an entity that belongs to no model. No statement.
  public required init(
    entity: borrowing NSEntityDescription, insertInto context: NSManagedObjectContext?
  ) {
    let layout = EntityLayout.of(entity)
    self.layout = layout
    self.row = layout.defaultRow
    self.primaryKey = 0
    self.state = layout.initialState(of: Self.self)
    super.init()
    guard let context else { return }
    context.insert(self)
  }

  /// Inserts a new object of the entity that uses this class.
  ///
  /// Traps when the context's model has no entity, or more than one, for the class. No statement.
  public required convenience init(context: NSManagedObjectContext) {
    self.init(entity: context.entity(forClass: Self.self), insertInto: context)
  }

  deinit {
    row.release()
  }

  // MARK: Identity

  /// The object's identity, temporary until it has been saved.
  public final var objectID: NSManagedObjectID {
    let handle =
      primaryKey > 0 ? context?.store(for: self)?.handle ?? values?.formerStore : nil
    return NSManagedObjectID(layout: layout, primaryKey: primaryKey, handle: handle)
  }

  /// Has the object ID stay the same once the object has no context.
  final func keepStore(_ store: CachingStore?) {
    if primaryKey > 0 { storage.formerStore = store?.handle }
  }

  /// The object's own entity, which may be a subentity of the one that was fetched.
  public final var entity: NSEntityDescription {
    layout.entity
  }

  /// The context the object lives in; nil once the context is gone or has been reset.
  public final var managedObjectContext: NSManagedObjectContext? {
    context
  }

  // MARK: State

  /// Whether the values have not been loaded yet; asking does not load them.
  public final var isFault: Bool {
    state.contains(.fault)
  }

  /// Whether the object is new and has never been saved.
  public final var isInserted: Bool {
    state.contains(.inserted)
  }

  /// Whether a property was set since the last save, even to the value it had.
  public final var isUpdated: Bool {
    state.contains(.updated)
  }

  /// Whether the next save will remove the object's row, or it has found its row gone.
  public final var isDeleted: Bool {
    !state.isDisjoint(with: [.deleted, .inaccessible])
  }

  /// Whether the object is inserted, updated or deleted.
  public final var hasChanges: Bool {
    !state.isDisjoint(with: .changed)
  }

  /// 0 when the object is filled, above 0 while it is a fault.
  ///
  /// Apple's counterpart says the same.
  public final var faultingState: Int {
    isFault ? 1 : 0
  }

  // MARK: For subclasses

  /// Called once in an object's life, right after it was inserted.
  ///
  /// `changedValues()` includes what is set here until the object is saved, whether it was set through
  /// primitive accessors or not. Call `super`.
  open func awakeFromInsert() {}

  /// Called each time the object has been filled from its row.
  ///
  /// What is set here changes neither object nor context, and a relationship set here does not reach
  /// its other side. Call `super`.
  open func awakeFromFetch() {}

  /// Called after several values were put back at once: by a refresh that merged, a rollback, undo or redo.
  ///
  /// - Parameter flags: What put them back.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called before the object is written; changing properties here starts another round.
  open func willSave() {}

  /// Called after the object was written, with its changes already cleared.
  open func didSave() {}

  /// Called by `delete(_:)`, before delete rules are applied; `isDeleted` is already true.
  ///
  /// Each call of `delete(_:)` calls it, also for an object that is already marked for deletion, but
  /// not one that this method makes for the object itself.
  open func prepareForDeletion() {}

  /// Called before the values are dropped: at a refault, and when the context lets a filled object
  /// of a subclass go.
  open func willTurnIntoFault() {}

  /// Called after the values were dropped; the place to drop what was derived from them.
  open func didTurnIntoFault() {}

  // MARK: Key-value coding

  /// The properties that key-value coding reads and sets through the class's own accessors; none by
  /// default.
  ///
  /// Read once, when the model is first used. Include `super`'s. No Apple counterpart: there the
  /// Objective-C runtime knows them.
  open class var keyedAccessors: [KeyedAccessor] { [] }

  /// Called by `value(forKey:)` for a key that the object doesn't have.
  ///
  /// An override may return a value; this method stops with a precondition failure that names the key.
  open func value(forUndefinedKey key: String) -> Any? {
    read(place(of: key))
  }

  /// Called by `setValue(_:forKey:)` for a key that the object doesn't have.
  ///
  /// An override may take the value; this method stops with a precondition failure that names the key.
  open func setValue(_ value: Any?, forUndefinedKey key: String) {
    write(value, to: place(of: key))
  }

  /// Ends what `willChangeValue(forKey:)` began: a relationship's other sides follow what was set.
  ///
  /// An override is also called after each property that is set through generated accessors, `@Managed`,
  /// or key-value coding, and must call `super`. Primitive accessors don't call it.
  open func didChangeValue(forKey key: String) {
    finishChange(forKey: key)
  }

  /// Checks one value against the model: whether it must be there, its bounds, length and pattern, the
  /// number of destinations.
  ///
  /// Runs for each property at save, and when called. Override it where Apple's code has
  /// `validateName(_:)`, and call `super` for the model's rules. An override may put a valid value in
  /// the place of the one it was given; saving sets the property to it. Fires nothing.
  /// - Throws: an error of `NSCocoaErrorDomain` with a code from 1550 to 1680.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    try layout.rules.check(value, forKey: key, of: self)
  }

  /// Checks a new object before saving; calls `validateValue` for each property.
  open func validateForInsert() throws {
    try validateProperties()
  }

  /// Checks a changed object before saving; calls `validateValue` for each property.
  open func validateForUpdate() throws {
    try validateProperties()
  }

  /// Checks before the object's row is removed; throws 1600 for a deny rule that holds.
  open func validateForDelete() throws {
    try validateDenyRules()
  }

  /// The object's entity, identity and, when filled, its values.
  ///
  /// Fires nothing.
  open override var description: String {
    let values = isFault ? "<fault>" : describedValues
    return "<\(type(of: self)): \(address)> (entity: \(layout.entity.name ?? ""); "
      + "id: \(objectID.uriRepresentation().absoluteString); data: \(values))"
  }

  private var address: String {
    "\(Unmanaged.passUnretained(self).toOpaque())"
  }

  private var describedValues: String {
    let pairs = layout.slots.map { slot -> String in
      let value = heldValue(.slot(slot.index)).map { "\($0)" } ?? row.value(slot).map { "\($0)" }
      return "\(slot.name) = \(value ?? "nil")"
    }
    return "{" + pairs.joined(separator: "; ") + "}"
  }
}

extension NSManagedObject {
  /// The entity whose objects get this class, in the model that was put to use last.
  ///
  /// A model is put to use by its first coordinator. Traps where no such model, or more than one of its
  /// entities, has the class.
  public class func entity() -> NSEntityDescription {
    let found = ManagedObjectClasses.entities(of: self)
    guard let entity = found.first, found.count == 1 else {
      preconditionFailure(
        found.isEmpty
          ? "no model in use has an entity with the class \(self): make a coordinator first"
          : "\(found.count) entities have the class \(self); name one in the request")
    }
    return entity
  }

  /// A request for the objects of this class's entity; see `entity()`.
  ///
  /// Generated classes have one of their own, whose results are of the class.
  @_disfavoredOverload
  public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity()
    return request
  }
}

extension NSManagedObject: ManagedObjectReference {
  /// The object's ID: to a predicate, an object and its ID are the same.
  package final var referenceIdentity: AnyHashable { AnyHashable(objectID) }

  /// False until the object has been saved.
  package final var hasStableIdentity: Bool { primaryKey > 0 }
}

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
  /// `awakeFromInsert` or `awakeFromFetch` is running: what is set isn't a change.
  static let awaking = ObjectState(rawValue: 64)
  /// The row is gone: the object says that it is deleted and has nil values.
  ///
  /// Nothing is left to save, so this isn't a change.
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
  /// The next save writes a row again that is gone from the store.
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
