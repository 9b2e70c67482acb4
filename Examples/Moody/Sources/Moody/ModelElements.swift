import OpenCoreData

// Models in code, without repeating what all of them share.

extension NSEntityDescription {
  /// Creates an entity.
  static func named(
    _ name: String, class className: String? = nil, isAbstract: Bool = false,
    unique constraint: [String] = [], _ properties: [NSPropertyDescription]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = className ?? "NSManagedObject"
    entity.isAbstract = isAbstract
    entity.properties = properties
    if !constraint.isEmpty { entity.uniquenessConstraints = [constraint] }
    return entity
  }
}

extension NSAttributeDescription {
  /// Creates an attribute; one with a default value is required unless it's optional.
  static func named(
    _ name: String, _ type: NSAttributeType, isOptional: Bool = true, default value: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = isOptional
    attribute.defaultValue = value
    return attribute
  }
}

extension NSRelationshipDescription {
  /// Creates a relationship without its destination, which `connect(_:of:to:of:)` sets.
  static func named(
    _ name: String, isToMany: Bool, isOptional: Bool = true,
    deleteRule: NSDeleteRule = .nullifyDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOptional = isOptional
    relationship.deleteRule = deleteRule
    return relationship
  }

  /// Makes two relationships each other's inverse.
  ///
  /// - Parameters:
  ///   - one: The relationship of the entity `owner`.
  ///   - other: The relationship of the entity `destination`.
  static func connect(
    _ one: NSRelationshipDescription, of owner: NSEntityDescription,
    to other: NSRelationshipDescription, of destination: NSEntityDescription
  ) {
    one.destinationEntity = destination
    other.destinationEntity = owner
    one.inverseRelationship = other
    other.inverseRelationship = one
  }
}
