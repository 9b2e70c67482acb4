/// What attributes, relationships and fetched properties have in common.
///
/// Use one of the subclasses. A property belongs to one entity: the one that declares it. Sub-entities
/// share the description of their parent. Counterpart: `NSPropertyDescription`.
///
/// Unchecked sendable because a description is built by one thread and changes no more once its
/// model is in use; every setter traps from then on. `userInfo` is guarded by a lock.
public class NSPropertyDescription: NSObject, @unchecked Sendable {
  /// Whether the model is in use, so that the description may not change.
  package private(set) final var isFrozen = false

  /// The key of the property.
  ///
  /// Names are unique in an entity and its parents.
  public final var name = "" {
    willSet { requireMutable() }
    didSet { entity?.invalidateLookups() }
  }

  /// Whether the property may be nil, or empty for a to-many relationship.
  ///
  /// True at first.
  public final var isOptional = true { willSet { requireMutable() } }

  /// Whether the property is kept in memory only, never in a store.
  public final var isTransient = false { willSet { requireMutable() } }

  /// Values that the application attaches to the property.
  ///
  /// They aren't part of the version hash. They can be set even if the model is in use, from any
  /// thread.
  public final var userInfo: [AnyHashable: Any]? {
    get { ModelNotes.lock.withLock { storedUserInfo } }
    set {
      var value = newValue
      ModelNotes.lock.withLock { swap(&storedUserInfo, &value) }
    }
  }

  private final var storedUserInfo: [AnyHashable: Any]?

  /// The entity that declares the property, or nil before the property belongs to one.
  ///
  /// For an inherited property this is the ancestor that declares it. Apple's returns an
  /// unowned reference that is never nil.
  public package(set) final weak var entity: NSEntityDescription?

  /// Whether the property asks for an index of its own (the form of older models).
  public final var isIndexed = false { willSet { requireMutable() } }

  /// Whether the property takes part in the system's search.
  ///
  /// Kept, without effect here.
  public final var isIndexedBySpotlight = false { willSet { requireMutable() } }

  /// A text that makes the version hash differ where nothing else does.
  public final var versionHashModifier: String? { willSet { requireMutable() } }

  /// The name that links the property to its former self.
  ///
  /// It is the own name unless set.
  public final var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? (name.isEmpty ? nil : name) }
    set { explicitRenamingIdentifier = newValue }
  }

  /// The renaming identifier where one was set.
  package final var explicitRenamingIdentifier: String? { willSet { requireMutable() } }

  /// The validation predicates and warnings where they were set.
  final var explicitValidation: (predicates: [NSPredicate], warnings: [Any])? {
    willSet { requireMutable() }
  }

  /// The limits that the model document puts on values.
  package final var valueRule = ValueRule() { willSet { requireMutable() } }

  /// Whether the property takes part in syncing, as the model document says.
  ///
  /// True at first.
  package final var isSyncable = true { willSet { requireMutable() } }

  /// What the document says of the property and could not be read, by the attribute of its tag.
  ///
  /// Written back as it stands where the property says nothing else.
  package final var unreadTexts: [String: String] = [:] { willSet { requireMutable() } }

  /// Makes a property without a name.
  public override init() {
    super.init()
  }

  /// Reads a property; nil, which the unarchiver reports as an error, for bytes that aren't one of
  /// this class.
  ///
  /// A relationship retains the entities that it was archived with. Other properties belong to no
  /// entity.
  public required init?(coder: NSCoder) {
    super.init()
    guard takeValues(from: coder) else { return nil }
  }

  /// Traps when the model is in use already.
  final func requireMutable() {
    if isFrozen {
      preconditionFailure(
        "The property \(name) belongs to a model that is in use. Change a copy of the model.")
    }
  }

  /// Makes every later change trap.
  func freeze() {
    isFrozen = true
  }

  /// Whether another object is a property of the same class with the same values.
  ///
  /// The entity that declares it isn't compared. Takes time in proportion to the property's values
  /// unless the names or the classes differ, or it's the same object.
  public final override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription else { return false }
    if self === other { return true }
    return name == other.name && Swift.type(of: self) == Swift.type(of: other)
      && outline == other.outline
  }

  /// The hash of the name.
  public final override var hash: Int { name.hashValue }

  /// The entity and the name, as in `Mood.country`.
  public override var description: String {
    "\(entity?.name ?? "?").\(name)"
  }
}
