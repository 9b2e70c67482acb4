/// How an entity mapping creates its destination instances.
///
/// Counterpart: `NSEntityMappingType`, with the same raw values.
public enum NSEntityMappingType: UInt, Sendable {
  /// The developer creates the instances.
  case undefinedEntityMappingType = 0
  /// The mapping's policy class creates the instances.
  case customEntityMappingType
  /// The entity exists only in the destination model.
  case addEntityMappingType
  /// The entity exists only in the source model.
  case removeEntityMappingType
  /// The entity is the same in both models.
  case copyEntityMappingType
  /// The entity is in both models, with differences.
  case transformEntityMappingType
}

/// Describes how the instances of an entity are migrated to an entity of another model.
///
/// Entities are referred to by name, so a mapping is bound to models only when it's used. Use it on
/// one thread, and don't change it while it's used. Counterpart: `NSEntityMapping`; the book's
/// chapter 14.
open class NSEntityMapping: NSObject {
  /// The name of the mapping; by convention `SourceToDestination`.
  ///
  /// Relationship mappings refer to it.
  open var name: String! = ""
  /// How the mapping creates its destination instances.
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType
  /// The name of the entity to migrate; `nil` for an added entity.
  open var sourceEntityName: String?
  /// The name of the entity that source instances become; `nil` for a removed entity.
  open var destinationEntityName: String?
  /// The version hash of the source entity; `nil` if any version matches.
  open var sourceEntityVersionHash: Data?
  /// The version hash of the destination entity; `nil` if any version matches.
  open var destinationEntityVersionHash: Data?
  /// The expression whose value is the collection of source instances.
  ///
  /// It's usually a `FETCH`, whose variable `$manager` is the migration manager. `nil` fetches all
  /// instances of the source entity, and of its subentities without a mapping of their own.
  open var sourceExpression: NSExpression?
  /// The attributes to set when a destination instance is created, in order.
  open var attributeMappings: [NSPropertyMapping]?
  /// The relationships to set when all destination instances exist, in order.
  open var relationshipMappings: [NSPropertyMapping]?
  /// The class of the migration policy, `Module.Class`; `nil` for `NSEntityMigrationPolicy`.
  open var entityMigrationPolicyClassName: String?
  /// Information for the migration policy.
  open var userInfo: [AnyHashable: Any]?

  /// Creates an empty mapping.
  public override init() {
    super.init()
  }

  /// The name, the type, and the names of the entities.
  open override var description: String {
    "<NSEntityMapping \(name ?? ""): \(sourceEntityName ?? "none") to \(destinationEntityName ?? "none")>"
  }
}

/// Describes the value of one property of a destination instance.
///
/// Counterpart: `NSPropertyMapping`.
open class NSPropertyMapping: NSObject {
  /// The name of the destination entity's property.
  open var name: String?
  /// The expression of the value; `nil` leaves the property's default value.
  ///
  /// Its variables are `NSMigrationManagerKey` (`$manager`), `NSMigrationSourceObjectKey`
  /// (`$source`), `NSMigrationDestinationObjectKey` (`$destination`), `NSMigrationEntityMappingKey`
  /// (`$entityMapping`), `NSMigrationPropertyMappingKey` (`$propertyMapping`), and
  /// `NSMigrationEntityPolicyKey` (`$entityPolicy`).
  open var valueExpression: NSExpression? {
    didSet {
      elements = []
      omitsOtherEntities = false
      orders = []
    }
  }
  /// How the elements of a composite attribute get their values from those of the expression's
  /// value; empty if the mapping isn't inferred.
  ///
  /// Setting the expression removes them.
  package final var elements: [InferredMapping.Property] = []
  /// Whether a relationship omits objects of entities that it doesn't take, as an inferred mapping
  /// does.
  ///
  /// Setting the expression makes it `false`.
  package final var omitsOtherEntities = false
  /// The source relationships whose order the objects of an ordered relationship keep that an
  /// inferred mapping leaves to its inverse.
  ///
  /// Setting the expression removes them.
  package final var orders: [String] = []
  /// Information for the migration policy.
  open var userInfo: [AnyHashable: Any]?

  /// Creates an empty mapping.
  public override init() {
    super.init()
  }

  /// Creates the mapping of a property.
  package convenience init(_ name: String, _ expression: NSExpression?) {
    self.init()
    self.name = name
    valueExpression = expression
  }

  /// The name and the expression.
  open override var description: String {
    "<NSPropertyMapping \(name ?? ""): \(valueExpression.map(\.description) ?? "nil")>"
  }
}
