internal import Foundation

/// The base class of attributes, relationships, and fetched properties.
///
/// Use one of the subclasses. A property belongs to the entity that declares it; subentities share
/// the description. Counterpart: `NSPropertyDescription`.
///
/// Unchecked sendable because one thread builds a description, which is immutable once its model is
/// in use: every setter traps. A lock guards `userInfo`.
public class NSPropertyDescription: NSObject, @unchecked Sendable {
  /// Whether the model is in use, so that the description can't be changed.
  package private(set) final var isFrozen = false

  /// The name of the property.
  ///
  /// Names are unique in an entity and its ancestors.
  public final var name = "" {
    willSet { requireMutable() }
    didSet { entity?.invalidateLookups() }
  }

  /// Whether the property can be `nil`, or empty for a to-many relationship.
  ///
  /// The default is true.
  public final var isOptional = true { willSet { requireMutable() } }

  /// Whether the property isn't stored.
  public final var isTransient = false { willSet { requireMutable() } }

  /// Values that the application attaches to the property.
  ///
  /// They aren't part of the version hash. They can be set even if the model is in use, from any
  /// thread. Numbers that were read from an archive are `NSNumber`s.
  public final var userInfo: [AnyHashable: Any]? {
    get { ModelNotes.lock.withLock { storedUserInfo } }
    set {
      var value = newValue
      ModelNotes.lock.withLock { swap(&storedUserInfo, &value) }
    }
  }

  private final var storedUserInfo: [AnyHashable: Any]?

  /// The entity that declares the property, or `nil` if the property doesn't belong to one yet.
  ///
  /// For an inherited property, it's the ancestor that declares it. Core Data's property is an
  /// unowned reference that is never `nil`.
  public package(set) final weak var entity: NSEntityDescription?

  /// Whether the property has a single-column index, in the form of older models.
  public final var isIndexed = false { willSet { requireMutable() } }

  /// Whether Spotlight indexes the property.
  ///
  /// OpenCoreData stores the value and doesn't use it.
  public final var isIndexedBySpotlight = false { willSet { requireMutable() } }

  /// A string that changes the version hash even if nothing else differs.
  public final var versionHashModifier: String? { willSet { requireMutable() } }

  /// The name that identifies the property in earlier versions of the model.
  ///
  /// It's the property's name unless it's set.
  public final var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? (name.isEmpty ? nil : name) }
    set { explicitRenamingIdentifier = newValue }
  }

  /// The renaming identifier, if one was set.
  package final var explicitRenamingIdentifier: String? { willSet { requireMutable() } }

  /// The validation predicates and warnings, if they were set.
  final var explicitValidation: (predicates: [NSPredicate], warnings: [Any])? {
    willSet { requireMutable() }
  }

  /// The limits of values in the model document.
  package final var valueRule = ValueRule() { willSet { requireMutable() } }

  /// Whether the model document marks the property as syncable.
  ///
  /// The default is true.
  package final var isSyncable = true { willSet { requireMutable() } }

  /// The values of the document's tag that couldn't be read, by attribute.
  ///
  /// They're written back unchanged unless the property has another value.
  package final var unreadTexts: [String: String] = [:] { willSet { requireMutable() } }

  /// Creates a property without a name.
  public override init() {
    super.init()
  }

  /// Decodes a property.
  ///
  /// Returns `nil`, which the unarchiver reports as an error, if the bytes aren't a property of
  /// this class. A relationship retains the entities that it was archived with. Other properties
  /// don't belong to an entity.
  public required init?(coder: NSCoder) {
    super.init()
    guard takeValues(from: coder) else { return nil }
  }

  /// Traps if the model is in use.
  final func requireMutable() {
    if isFrozen {
      fatalError(
        "The property \(name) belongs to a model that is in use. Change a copy of the model.")
    }
  }

  /// Makes every later change trap.
  func freeze() {
    isFrozen = true
  }

  /// Returns whether another object is a property of the same class with the same values.
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

extension NSPropertyDescription: KeyValueReadable {
  /// Returns a value of the description for a predicate, such as
  /// `$FETCHED_PROPERTY.userInfo.color`.
  ///
  /// The keys are `name`, `entity`, and `userInfo`; the value is `nil` for others.
  public func value(forKey key: String) -> Any? {
    switch key {
    case "name": return name
    case "entity": return entity
    case "userInfo":
      let pairs = (userInfo ?? [:]).compactMap { key, value in
        (key.base as? String).map { ($0, value) }
      }
      return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    default: return nil
    }
  }
}

extension NSPropertyDescription {
  /// The predicates that a value must satisfy when an object is saved, where `SELF` is the value.
  ///
  /// They're those that were set, or else those for the limits in the model document: minimum and
  /// maximum value or length, and pattern. Unless they were set, they're created at each call.
  public final var validationPredicates: [NSPredicate] {
    if let explicitValidation { return explicitValidation.predicates }
    let type = (self as? NSAttributeDescription)?.attributeType ?? .undefinedAttributeType
    return valueRule.predicates(for: type)
  }

  /// The warnings for the predicates at the same positions in `validationPredicates`.
  ///
  /// They're strings or error codes. The default is an empty array.
  public final var validationWarnings: [Any] { explicitValidation?.warnings ?? [] }

  /// Sets the predicates that a value must satisfy, and their warnings.
  ///
  /// Traps if the arrays differ in length or the model is in use. Compiled models, and models in
  /// stores, don't contain them.
  ///
  /// - Parameters:
  ///   - predicates: Predicates for `SELF`, or `nil`.
  ///   - warnings: A string or an error code for each predicate.
  public final func setValidationPredicates(
    _ predicates: [NSPredicate]?, withValidationWarnings warnings: [Any]?
  ) {
    let predicates = predicates ?? []
    let warnings = warnings ?? []
    guard predicates.count == warnings.count else {
      fatalError(
        "The property \(name) has "
          + "\(PluralForm.counted(predicates.count, "validation predicate")) and "
          + "\(PluralForm.counted(warnings.count, "warning")). Give a warning for each.")
    }
    explicitValidation = (predicates, warnings)
  }
}

/// Describes a relationship: a property that refers to objects of another entity.
///
/// Counterpart: `NSRelationshipDescription`.
public final class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  /// The destination entity; `nil` for a relationship without one, which is always empty.
  ///
  /// The reference is weak because the model retains its entities.
  public weak var destinationEntity: NSEntityDescription? { willSet { requireMutable() } }

  /// The inverse relationship.
  ///
  /// The reference is weak. Set it on both sides.
  public weak var inverseRelationship: NSRelationshipDescription? { willSet { requireMutable() } }

  /// What a deletion does to the objects at the other end.
  ///
  /// The default is nullify.
  public var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireMutable() } }

  /// The minimum number of objects.
  public var minCount = 0 { willSet { requireMutable() } }

  /// The maximum number of objects: 1 for a to-one relationship, 0 for no limit.
  public var maxCount = 0 { willSet { requireMutable() } }

  /// Whether the relationship is ordered.
  public var isOrdered = false { willSet { requireMutable() } }

  /// The entities that the relationship was archived with, retained for its destination.
  var archivedEntities: [NSEntityDescription] = []

  /// Whether the relationship can contain more than one object.
  public var isToMany: Bool { maxCount != 1 }
}

/// What happens to the objects at the other end of a relationship when an object is deleted.
///
/// Counterpart: `NSDeleteRule`, with its raw values.
public enum NSDeleteRule: UInt, Sendable, CaseIterable {
  /// No action. The other objects still refer to the deleted one.
  case noActionDeleteRule = 0
  /// The inverse relationships of the other objects no longer refer to the deleted object.
  case nullifyDeleteRule = 1
  /// The other objects are also deleted.
  case cascadeDeleteRule = 2
  /// Saving fails while there are other objects.
  case denyDeleteRule = 3

  /// The name of the rule in a model document, such as `No Action`.
  package var documentName: String {
    switch self {
    case .noActionDeleteRule: "No Action"
    case .nullifyDeleteRule: "Nullify"
    case .cascadeDeleteRule: "Cascade"
    case .denyDeleteRule: "Deny"
    }
  }
}

/// Describes a fetched property: an array of the objects that match a fetch request.
///
/// Counterpart: `NSFetchedPropertyDescription`.
public final class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  /// The fetch request as the model specifies it: the entity's name and the predicate's format
  /// string.
  package var template: FetchRequestTemplate? { willSet { requireMutable() } }
}

/// Describes a computed value in a dictionary result.
///
/// It's used in a fetch request's `propertiesToFetch` and `propertiesToGroupBy`, not in an entity.
/// Counterpart: `NSExpressionDescription`; chapter 6 of the book.
public final class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  /// The expression to compute: `average:` over a key path, a key path with an operator, or
  /// arithmetic.
  ///
  /// A function of one key path that crosses no to-many relationship, such as `sum:(age)`, is over
  /// the rows of the result, or of each group. The default is `nil`, for which a fetch fails.
  public var expression: NSExpression? { willSet { requireMutable() } }

  /// The type of the value in the dictionary; if undefined, the type of the expression's result.
  public var expressionResultType = NSAttributeType.undefinedAttributeType {
    willSet { requireMutable() }
  }

  /// The type of the value in the dictionary, in Core Data's newer spelling of
  /// `expressionResultType`.
  public var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(expressionResultType) }
    set { expressionResultType = newValue.attributeType }
  }
}

extension NSExpressionDescription {
  /// Creates a placeholder for a property that an index names and its entity doesn't have.
  convenience init(unknownProperty name: String) {
    self.init()
    self.name = name
    expression = NSExpression(forKeyPath: name)
  }

  /// Whether the expression is only the name of a property.
  var isPlainName: Bool { expression?.expressionType == .keyPath && expression?.keyPath == name }
}
