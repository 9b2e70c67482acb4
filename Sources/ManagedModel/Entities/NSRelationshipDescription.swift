/// Describes a relationship: a property that refers to objects of another entity.
///
/// Counterpart: `NSRelationshipDescription`.
public final class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  /// The entity at the other end; nil for a relationship that leads nowhere and is always empty.
  ///
  /// Held weakly: the model holds its entities.
  public weak var destinationEntity: NSEntityDescription? { willSet { requireMutable() } }

  /// The relationship that leads back.
  ///
  /// Held weakly. Set it on both sides.
  public weak var inverseRelationship: NSRelationshipDescription? { willSet { requireMutable() } }

  /// What a deletion does to the other end.
  ///
  /// Nullify at first.
  public var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireMutable() } }

  /// The least number of objects at the other end.
  public var minCount = 0 { willSet { requireMutable() } }

  /// The greatest number of objects at the other end: 1 for a to-one, 0 for no limit.
  public var maxCount = 0 { willSet { requireMutable() } }

  /// Whether the relationship keeps the order of its objects.
  public var isOrdered = false { willSet { requireMutable() } }

  /// The entities that the relationship was archived with, so that its destination stays.
  var archivedEntities: [NSEntityDescription] = []

  /// Whether the relationship may hold more than one object.
  public var isToMany: Bool { maxCount != 1 }
}
