/// Describes an entity: a kind of objects, its properties, its place in the hierarchy.
///
/// Counterpart: `NSEntityDescription`.
///
/// Unchecked sendable because a description is built by one thread and changes no more once its
/// model is in use: all lookups are made by then and every setter traps. `userInfo` is guarded by a
/// lock.
public final class NSEntityDescription: NSObject, @unchecked Sendable {
  /// Whether the model is in use, so that the description may not change.
  package private(set) var isFrozen = false
  /// How the runtime lays out rows of this entity; set once, by OpenCoreData, when the model freezes.
  package final var runtimeLayout: AnyObject? {
    get { storedLayout }
    set { storedLayout = newValue }
  }

  /// Read for each object that is made: another module's access would be checked for exclusivity.
  @exclusivity(unchecked) private final var storedLayout: AnyObject?

  /// The name of the entity, unique in its model.
  public var name: String? {
    willSet { requireMutable() }
    didSet {
      managedObjectModel?.invalidateLookups()
      superentity?.invalidateLookups()
    }
  }

  /// The name of the class of the objects.
  ///
  /// `NSManagedObject` at first.
  public var managedObjectClassName: String! = "NSManagedObject" {
    willSet { requireMutable() }
  }

  /// Whether no object is of this entity itself, only of its sub-entities.
  public var isAbstract = false { willSet { requireMutable() } }

  /// Values that the application attaches to the entity.
  ///
  /// They aren't part of the version hash. They can be set even if the model is in use, from any
  /// thread.
  public var userInfo: [AnyHashable: Any]? {
    get { ModelNotes.lock.withLock { storedUserInfo } }
    set {
      var value = newValue
      ModelNotes.lock.withLock { swap(&storedUserInfo, &value) }
    }
  }

  private var storedUserInfo: [AnyHashable: Any]?

  /// A text that makes the version hash differ where nothing else does.
  public var versionHashModifier: String? { willSet { requireMutable() } }

  /// Core Data's version hash of the entity, and what it belongs to.
  package var recordedVersionHash: RecordedVersionHash? { willSet { requireMutable() } }

  /// The name that links the entity to its former self.
  ///
  /// It is the own name unless set.
  public var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set { explicitRenamingIdentifier = newValue }
  }

  /// The renaming identifier where one was set.
  package var explicitRenamingIdentifier: String? { willSet { requireMutable() } }

  /// The parent.
  ///
  /// Held weakly: a parent holds its children. Set through `subentities`.
  public package(set) weak var superentity: NSEntityDescription? { willSet { requireMutable() } }

  /// The model that holds the entity.
  ///
  /// Nil before the entity is in a model. Apple's returns an unowned reference.
  public package(set) weak var managedObjectModel: NSManagedObjectModel?

  /// The children, in the order in which they were given.
  ///
  /// Setting them makes this entity their parent and takes them away from a former one. Traps
  /// when an entity would come below itself.
  public var subentities: [NSEntityDescription] = [] {
    willSet { requireMutable() }
    didSet { adoptSubentities(instead: oldValue) }
  }

  /// The properties that the entity declares itself, in the order in which they were given.
  package private(set) var ownProperties: [NSPropertyDescription] = []

  /// The properties of the entity, those of its parents first.
  ///
  /// Setting replaces the own properties; those in the list that a parent declares stay there.
  public var properties: [NSPropertyDescription] {
    get { lookups.properties }
    set { replaceOwnProperties(with: newValue) }
  }

  /// The indexes that the entity declares itself.
  public var indexes: [NSFetchIndexDescription] = [] {
    willSet { requireMutable() }
    didSet { for index in indexes { index.entity = self } }
  }

  /// Groups of properties whose values must be unique together.
  ///
  /// Each group is an array of property names or of `NSAttributeDescription`s. The own groups
  /// only.
  public var uniquenessConstraints: [[Any]] = [] { willSet { requireMutable() } }

  /// Groups of properties that are indexed together (the form of older models).
  ///
  /// Each group is an array of property names or descriptions.
  public var compoundIndexes: [[Any]] = [] { willSet { requireMutable() } }

  /// How Xcode writes the class: `class`, `category`, or nil for not at all.
  package var codeGenerationType: String? { willSet { requireMutable() } }

  /// Whether the entity takes part in syncing, as the model document says.
  ///
  /// True at first.
  package var isSyncable = true { willSet { requireMutable() } }

  /// What the document says of the entity and could not be read, by the attribute of its tag.
  ///
  /// Written back as it stands where the entity says nothing else.
  package var unreadTexts: [String: String] = [:] { willSet { requireMutable() } }

  /// What the system's search shows for an object of the entity.
  ///
  /// Kept, without effect here.
  public var coreSpotlightDisplayNameExpression: NSExpression? { willSet { requireMutable() } }

  var cachedLookups: EntityLookups?

  /// The entities that the entity was archived with, so that its parent and its destinations stay.
  var archivedEntities: [NSEntityDescription] = []

  /// Makes an entity without a name.
  public override init() {
    super.init()
  }

  /// Whether another object is an entity with the same values, properties, indexes, and name of the
  /// parent entity.
  ///
  /// Takes time in proportion to the entity unless the names differ, or it's the same object.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    return self === other || (name == other.name && outline == other.outline)
  }

  /// The hash of the name.
  public override var hash: Int { name.hashValue }

  /// The name of the entity.
  public override var description: String { name ?? "entity without a name" }

  /// Traps when the model is in use already.
  func requireMutable() {
    if isFrozen {
      preconditionFailure(
        "The entity \(name ?? "") belongs to a model that is in use. Change a copy of the model.")
    }
  }

  private func replaceOwnProperties(with list: [NSPropertyDescription]) {
    requireMutable()
    let own = list.filter { property in
      guard let declarer = property.entity, declarer !== self else { return true }
      return !isKind(of: declarer)
    }
    for property in ownProperties where property.entity === self { property.entity = nil }
    ownProperties = own
    for property in own { property.entity = self }
    invalidateLookups()
  }

  private func adoptSubentities(instead former: [NSEntityDescription]) {
    for entity in former where entity.superentity === self {
      entity.superentity = nil
      entity.invalidateLookups()
    }
    for entity in subentities {
      if let parent = entity.superentity, parent !== self {
        parent.subentities.removeAll { $0 === entity }
      }
      entity.superentity = self
      if isInCircle {
        preconditionFailure("The entity \(entity) cannot be below itself. Take one parent away.")
      }
    }
    invalidateLookups()
  }

  /// Whether following the parents never ends.
  private var isInCircle: Bool {
    var next = superentity
    while let entity = next {
      if entity === self { return true }
      next = entity.superentity
    }
    return false
  }

  /// Makes all lookups and lets every later change trap.
  func freeze() {
    _ = lookups
    for property in ownProperties { property.freeze() }
    for index in indexes { index.freeze() }
    isFrozen = true
  }
}
