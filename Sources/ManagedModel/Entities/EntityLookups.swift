/// The frequently used collections of an entity that are expensive to compute.
final class EntityLookups {
  /// The inherited properties, followed by the entity's own.
  let properties: [NSPropertyDescription]
  /// All properties by name.
  let propertiesByName: [String: NSPropertyDescription]
  /// All attributes by name.
  let attributesByName: [String: NSAttributeDescription]
  /// All relationships by name.
  let relationshipsByName: [String: NSRelationshipDescription]
  /// The subentities by name.
  let subentitiesByName: [String: NSEntityDescription]
  /// The IDs of the entity and its ancestors, beginning with the root entity.
  let lineage: [ObjectIdentifier]

  /// Creates the lookups of an entity.
  ///
  /// If a name occurs twice, the property of the nearer entity takes precedence.
  init(of entity: NSEntityDescription) {
    let parent = entity.superentity
    var properties = parent?.properties ?? []
    var propertiesByName = parent?.propertiesByName ?? [:]
    var hidden: Set<ObjectIdentifier> = []
    for property in entity.ownProperties {
      let former = propertiesByName.updateValue(property, forKey: property.name)
      if former === property { continue }
      if let former { hidden.insert(ObjectIdentifier(former)) }
      properties.append(property)
    }
    if !hidden.isEmpty { properties.removeAll { hidden.contains(ObjectIdentifier($0)) } }
    self.properties = properties
    self.propertiesByName = propertiesByName
    attributesByName = propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    relationshipsByName = propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    subentitiesByName = Dictionary(
      entity.subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    lineage = (parent?.lookups.lineage ?? []) + [ObjectIdentifier(entity)]
  }
}
