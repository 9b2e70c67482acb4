import OpenCoreData

/// A version of a model as plain values, in which every part keeps its identity when it's renamed
/// or moved.
struct ModelSketch {
  struct Attribute {
    let id: Int
    var name: String
    /// The name in the first version that has it, which is its renaming identifier in all later
    /// ones.
    let firstName: String
    var type: NSAttributeType
    var isOptional = true
    /// The default value of a number or string.
    var defaultValue: Int?
    var isIndexed = false

    init(id: Int, name: String, type: NSAttributeType) {
      (self.id, self.name, self.type) = (id, name, type)
      firstName = name
    }
  }

  struct Relationship {
    let id: Int
    var name: String
    let firstName: String
    /// The identity of the destination entity.
    var destination: Int
    /// The identity of the inverse relationship.
    var inverse: Int?
    var isToMany: Bool
    var isOrdered = false

    init(id: Int, name: String, destination: Int, inverse: Int?, isToMany: Bool) {
      (self.id, self.name, self.destination) = (id, name, destination)
      (self.inverse, self.isToMany) = (inverse, isToMany)
      firstName = name
    }
  }

  struct Entity {
    let id: Int
    var name: String
    let firstName: String
    /// The identity of the parent entity.
    var parent: Int?
    var isAbstract = false
    /// A hash modifier, for changes that aren't part of the version hash.
    var modifier: String?
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []

    init(id: Int, name: String, parent: Int? = nil) {
      (self.id, self.name, self.parent) = (id, name, parent)
      firstName = name
    }
  }

  var entities: [Entity] = []
  var last = 0

  mutating func newID() -> Int {
    last += 1
    return last
  }

  func entity(_ id: Int) -> Entity? { entities.first { $0.id == id } }

  /// The entity and its ancestors, from the root.
  func lineage(of id: Int) -> [Entity] {
    guard let entity = entity(id) else { return [] }
    return (entity.parent.map { lineage(of: $0) } ?? []) + [entity]
  }

  /// The entity and its descendants.
  func family(of id: Int) -> [Entity] {
    guard let entity = entity(id) else { return [] }
    return [entity] + entities.filter { $0.parent == id }.flatMap { family(of: $0.id) }
  }

  func isLeaf(_ id: Int) -> Bool { !entities.contains { $0.parent == id } }

  /// The model, with a renaming identifier for each part that was renamed.
  func model() -> NSManagedObjectModel {
    var descriptions: [Int: NSEntityDescription] = [:]
    var relationships: [Int: NSRelationshipDescription] = [:]
    for entity in entities {
      let description = NSEntityDescription()
      description.name = entity.name
      description.isAbstract = entity.isAbstract
      description.versionHashModifier = entity.modifier
      if entity.firstName != entity.name { description.renamingIdentifier = entity.firstName }
      descriptions[entity.id] = description
    }
    for entity in entities {
      var properties: [NSPropertyDescription] = entity.attributes.map { $0.description }
      for relationship in entity.relationships {
        let description = NSRelationshipDescription()
        description.name = relationship.name
        if relationship.firstName != relationship.name {
          description.renamingIdentifier = relationship.firstName
        }
        description.destinationEntity = descriptions[relationship.destination]
        description.maxCount = relationship.isToMany ? 0 : 1
        description.isOrdered = relationship.isOrdered
        description.isOptional = true
        relationships[relationship.id] = description
        properties.append(description)
      }
      descriptions[entity.id]?.properties = properties
      descriptions[entity.id]?.indexes = entity.attributes.filter(\.isIndexed).compactMap {
        attribute in
        properties.first { $0.name == attribute.name }.map { property in
          NSFetchIndexDescription(
            name: "by_\(attribute.id)",
            elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
        }
      }
    }
    for relationship in entities.flatMap(\.relationships) {
      relationships[relationship.id]?.inverseRelationship =
        relationship.inverse.flatMap { relationships[$0] }
    }
    for entity in entities {
      descriptions[entity.id]?.subentities =
        entities.filter { $0.parent == entity.id }.compactMap { descriptions[$0.id] }
    }
    let model = NSManagedObjectModel()
    model.entities = entities.compactMap { descriptions[$0.id] }
    return model
  }
}

extension ModelSketch.Attribute {
  fileprivate var description: NSAttributeDescription {
    let description = NSAttributeDescription()
    description.name = name
    if firstName != name { description.renamingIdentifier = firstName }
    description.attributeType = type
    description.isOptional = isOptional
    description.defaultValue = defaultValue.map { value($0) }
    return description
  }

  /// The value of the attribute's type for a number.
  func value(_ number: Int) -> Any {
    switch type {
    case .stringAttributeType: "text \(number)"
    case .doubleAttributeType, .floatAttributeType: Double(number)
    case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number))
    case .booleanAttributeType: !number.isMultiple(of: 2)
    default: number
    }
  }
}
