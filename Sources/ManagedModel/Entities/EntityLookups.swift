/// The lists and dictionaries of an entity that cost work to make and are asked for often.
final class EntityLookups {
  /// Inherited and own properties, the parents' first.
  let properties: [NSPropertyDescription]
  /// All properties by name.
  let propertiesByName: [String: NSPropertyDescription]
  /// All attributes by name.
  let attributesByName: [String: NSAttributeDescription]
  /// All relationships by name.
  let relationshipsByName: [String: NSRelationshipDescription]
  /// The children by name.
  let subentitiesByName: [String: NSEntityDescription]
  /// The entity and its ancestors, the root first.
  let lineage: [ObjectIdentifier]

  /// Makes the lookups of an entity.
  ///
  /// Where a name occurs twice the nearer property wins.
  init(of entity: NSEntityDescription) {
    let parent = entity.superentity
    var properties = parent?.properties ?? []
    var propertiesByName = parent?.propertiesByName ?? [:]
    for property in entity.ownProperties {
      if let hidden = propertiesByName.updateValue(property, forKey: property.name) {
        properties.removeAll { $0 === hidden }
      }
      properties.append(property)
    }
    self.properties = properties
    self.propertiesByName = propertiesByName
    attributesByName = propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    relationshipsByName = propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    subentitiesByName = Dictionary(
      entity.subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    lineage = (parent?.lookups.lineage ?? []) + [ObjectIdentifier(entity)]
  }
}
