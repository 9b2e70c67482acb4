import Synchronization

/// Describes an entity: the properties of a kind of object, and its position in the hierarchy.
///
/// Counterpart: `NSEntityDescription`.
///
/// Unchecked sendable because one thread builds a description, which is immutable once its model is
/// in use: all lookups have been computed, and every setter traps. A lock guards `userInfo`.
public final class NSEntityDescription: NSObject, @unchecked Sendable {
  /// Whether the model is in use, so that the description can't be changed.
  package private(set) var isFrozen = false
  /// The row layout of the entity, which OpenCoreData sets when the model is frozen.
  package final var runtimeLayout: AnyObject? {
    get { storedLayout }
    set { storedLayout = newValue }
  }

  /// The storage of `runtimeLayout`, which is read for each new object.
  ///
  /// Access from another module would be checked for exclusivity.
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
  /// The default is `NSManagedObject`.
  public var managedObjectClassName: String! = "NSManagedObject" {
    willSet { requireMutable() }
  }

  /// Whether only subentities have objects, and not the entity itself.
  public var isAbstract = false { willSet { requireMutable() } }

  /// Values that the application attaches to the entity.
  ///
  /// They aren't part of the version hash. They can be set even if the model is in use, from any
  /// thread. Numbers that were read from an archive are `NSNumber`s.
  public var userInfo: [AnyHashable: Any]? {
    get { ModelNotes.lock.withLock { storedUserInfo } }
    set {
      var value = newValue
      ModelNotes.lock.withLock { swap(&storedUserInfo, &value) }
    }
  }

  private var storedUserInfo: [AnyHashable: Any]?

  /// A string that changes the version hash even if nothing else differs.
  public var versionHashModifier: String? { willSet { requireMutable() } }

  /// The digest of the entity by the current formula, or `nil` before its first use.
  ///
  /// It can no longer change once the entity is frozen.
  let frozenDigest = Mutex<[UInt8]?>(nil)

  /// Core Data's version hash of the entity, and the state that it's valid for.
  package var recordedVersionHash: RecordedVersionHash? { willSet { requireMutable() } }

  /// The name that identifies the entity in earlier versions of the model.
  ///
  /// It's the entity's name unless it's set.
  public var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set { explicitRenamingIdentifier = newValue }
  }

  /// The renaming identifier, if one was set.
  package var explicitRenamingIdentifier: String? { willSet { requireMutable() } }

  /// The superentity.
  ///
  /// The reference is weak because an entity retains its subentities. Set it through `subentities`.
  public package(set) weak var superentity: NSEntityDescription? { willSet { requireMutable() } }

  /// The model that contains the entity.
  ///
  /// `nil` before the entity is added to a model. Core Data's property is an unowned reference.
  public package(set) weak var managedObjectModel: NSManagedObjectModel?

  /// The subentities, in the order in which they were set.
  ///
  /// Setting them makes this entity their superentity and removes them from an earlier one. Traps
  /// if an entity would become its own ancestor.
  public var subentities: [NSEntityDescription] = [] {
    willSet { requireMutable() }
    didSet { adoptSubentities(instead: oldValue) }
  }

  /// The properties that the entity declares, in the order in which they were set.
  package private(set) var ownProperties: [NSPropertyDescription] = []

  /// The properties of the entity, beginning with inherited ones.
  ///
  /// Setting this property replaces the entity's own properties; properties in the list that a
  /// superentity declares remain there.
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
  /// Each group is an array of property names or `NSAttributeDescription`s. Those of superentities
  /// aren't included.
  public var uniquenessConstraints: [[Any]] = [] { willSet { requireMutable() } }

  /// Groups of properties that are indexed together (the form of older models).
  ///
  /// Each group is an array of property names or descriptions.
  public var compoundIndexes: [[Any]] = [] { willSet { requireMutable() } }

  /// The class code that Xcode generates: `class`, `category`, or `nil` for none.
  package var codeGenerationType: String? { willSet { requireMutable() } }

  /// Whether the model document marks the entity as syncable.
  ///
  /// The default is true.
  package var isSyncable = true { willSet { requireMutable() } }

  /// The values of the document's tag that couldn't be read, by attribute.
  ///
  /// They're written back unchanged unless the entity has another value.
  package var unreadTexts: [String: String] = [:] { willSet { requireMutable() } }

  /// The expression for an object's display name in Spotlight.
  ///
  /// OpenCoreData stores the value and doesn't use it.
  public var coreSpotlightDisplayNameExpression: NSExpression? { willSet { requireMutable() } }

  var cachedLookups: EntityLookups?

  /// The entities that the entity was archived with, retained for its superentity and its
  /// relationships' destinations.
  var archivedEntities: [NSEntityDescription] = []

  /// Creates an entity without a name.
  public override init() {
    super.init()
  }

  /// Returns whether another object is an entity with the same values, properties, indexes, and
  /// name of the superentity.
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

  /// Traps if the model is in use.
  func requireMutable() {
    if isFrozen {
      fatalError(
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
        fatalError("The entity \(entity) can't be its own ancestor. Remove one parent.")
      }
    }
    invalidateLookups()
  }

  /// Whether the superentities form a cycle.
  private var isInCircle: Bool {
    var next = superentity
    while let entity = next {
      if entity === self { return true }
      next = entity.superentity
    }
    return false
  }

  /// Computes all lookups, and makes every later change trap.
  func freeze() {
    _ = lookups
    for property in ownProperties { property.freeze() }
    for index in indexes { index.freeze() }
    isFrozen = true
  }
}

extension NSEntityDescription {
  /// The lookups, computed at the first use after a change.
  var lookups: EntityLookups {
    if let cachedLookups { return cachedLookups }
    let made = EntityLookups(of: self)
    cachedLookups = made
    return made
  }

  /// Removes the lookups of the entity and of all its descendants.
  ///
  /// Does nothing if the model is in use: a copy of one of its entities has a superentity there.
  func invalidateLookups() {
    if isFrozen { return }
    cachedLookups = nil
    for entity in subentities { entity.invalidateLookups() }
  }

  /// All properties by name, including inherited ones.
  ///
  /// The value is cached until the entity changes.
  public var propertiesByName: [String: NSPropertyDescription] { lookups.propertiesByName }

  /// All attributes by name, including inherited ones.
  ///
  /// The value is cached until the entity changes.
  public var attributesByName: [String: NSAttributeDescription] { lookups.attributesByName }

  /// All relationships by name, including inherited ones.
  ///
  /// The value is cached until the entity changes.
  public var relationshipsByName: [String: NSRelationshipDescription] {
    lookups.relationshipsByName
  }

  /// The subentities by name.
  ///
  /// The value is cached until the entity changes.
  public var subentitiesByName: [String: NSEntityDescription] { lookups.subentitiesByName }

  /// Returns whether a name such as `engine.power` is the path of an element of a composite
  /// attribute.
  func hasCompositeElement(at path: String) -> Bool {
    guard let point = path.firstIndex(of: "."),
      let composite = attributesByName[String(path[..<point])] as? NSCompositeAttributeDescription
    else { return false }
    return composite.hasLeaf(at: path[path.index(after: point)...])
  }

  /// Returns whether the entity is another one or a descendant of it.
  ///
  /// **Cost:** constant at any depth.
  ///
  /// - Parameter entity: An entity of the same model.
  public func isKind(of entity: NSEntityDescription) -> Bool {
    if self === entity { return true }
    let depth = entity.lookups.lineage.count - 1
    let lineage = lookups.lineage
    return depth < lineage.count && lineage[depth] == ObjectIdentifier(entity)
  }

  /// Returns whether the entity is another one or a descendant of it.
  ///
  /// The same as `isKind(of:)`, under the name that Core Data has in Swift.
  ///
  /// - Parameter entity: An entity of the same model.
  public func isKindOf(entity: NSEntityDescription) -> Bool { isKind(of: entity) }

  /// Returns the relationships whose destination is an entity or its ancestor, in no particular
  /// order.
  ///
  /// - Parameter entity: The destination.
  public func relationships(forDestination entity: NSEntityDescription)
    -> [NSRelationshipDescription]
  {
    relationshipsByName.values.filter { relationship in
      relationship.destinationEntity.map { entity.isKind(of: $0) } ?? false
    }
  }

  /// The entity and all its descendants, parents before children.
  package var withSubentities: [NSEntityDescription] {
    [self] + subentities.flatMap(\.withSubentities)
  }

  /// The entity at the top of the hierarchy, which may be this one.
  package var rootEntity: NSEntityDescription {
    var root = self
    while let parent = root.superentity { root = parent }
    return root
  }

  /// The uniqueness constraints as names.
  package var uniquenessConstraintNames: [[String]] { Self.names(uniquenessConstraints) }

  /// The compound indexes as names.
  package var compoundIndexNames: [[String]] { Self.names(compoundIndexes) }

  private static func names(_ groups: [[Any]]) -> [[String]] {
    groups.map { group in
      group.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
    }
  }
}

extension NSEntityDescription {
  /// The properties that a row of this entity stores, in the order of its slots.
  ///
  /// From the root entity to this one, each level has its stored attributes by name, followed by
  /// its to-one relationships by name. A subentity's slots begin with those of its superentity.
  package var slotProperties: [NSPropertyDescription] {
    (superentity?.slotProperties ?? []) + ownStoredProperties
  }

  /// The attributes with a column that the entity declares, by name.
  ///
  /// A composite attribute is represented by its leaves.
  package var ownStoredAttributes: [NSAttributeDescription] {
    ownProperties
      .compactMap { $0 as? NSAttributeDescription }
      .filter { !$0.isTransient }
      .flatMap { ($0 as? NSCompositeAttributeDescription)?.leaves ?? [$0] }
      .sortedByName()
  }

  /// The stored relationships that the entity declares, to-one and to-many, by name.
  package var ownStoredRelationships: [NSRelationshipDescription] {
    ownProperties
      .compactMap { $0 as? NSRelationshipDescription }
      .filter { !$0.isTransient && $0.destinationEntity != nil }
      .sortedByName()
  }

  /// The properties that the entity declares and that have columns of their own in its table.
  package var ownStoredProperties: [NSPropertyDescription] {
    ownStoredAttributes + ownStoredRelationships.filter { !$0.isToMany }
  }

  /// The subentities in the order of their entity IDs: by name, ignoring case.
  package var numberedSubentities: [NSEntityDescription] {
    Self.inNumberingOrder(subentities)
  }

  /// Returns entities in the order of their entity IDs: by name, ignoring case.
  package static func inNumberingOrder(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
    entities.sorted { left, right in
      let (leftName, rightName) = (left.name ?? "", right.name ?? "")
      let (leftKey, rightKey) = (leftName.lowercased(), rightName.lowercased())
      return leftKey == rightKey ? leftName < rightName : leftKey < rightKey
    }
  }
}

/// A version hash that was read with an entity, and the entity's digest at that time.
package struct RecordedVersionHash: Hashable, Sendable {
  /// Core Data's hash, 32 bytes.
  package let hash: Data
  /// The digest of the entity that the hash is valid for; an entity with another digest has
  /// changed.
  package let digest: Data
}
