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

/// Collects the superentities of entities in order to connect a complete hierarchy at once.
struct EntityHierarchy {
  private var parents: [ObjectIdentifier: NSEntityDescription] = [:]
  private var entities: [NSEntityDescription] = []

  /// Records the superentity of an entity.
  ///
  /// Only the first one is used.
  mutating func put(_ entity: NSEntityDescription, below parent: NSEntityDescription) {
    parents[ObjectIdentifier(entity)] = parent
    entities.append(entity)
  }

  /// Sets the subentities of every superentity.
  ///
  /// Returns the entities whose superentities form a cycle or are too many; they get no
  /// superentity.
  func link() -> [NSEntityDescription] {
    var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
    var order: [NSEntityDescription] = []
    var refused: [NSEntityDescription] = []
    for entity in entities {
      guard hasRoot(entity), let parent = parents[ObjectIdentifier(entity)] else {
        refused.append(entity)
        continue
      }
      let key = ObjectIdentifier(parent)
      if children[key] == nil { order.append(parent) }
      children[key, default: []].append(entity)
    }
    for parent in order { parent.subentities = children[ObjectIdentifier(parent)] ?? [] }
    return refused
  }

  private func hasRoot(_ entity: NSEntityDescription) -> Bool {
    var ancestor = entity
    for _ in 0..<ModelLimits.ancestors {
      guard let parent = parents[ObjectIdentifier(ancestor)] else { return true }
      ancestor = parent
    }
    return false
  }
}

/// The layout of an entity's values in a row, for the framework and for generated code.
///
/// From the root entity to this one, each level has its stored attributes by name, followed by its
/// to-one relationships by name. A subentity's slots begin with those of its superentity.
package struct SlotGeometry {
  /// The size in bytes of a row's header, before the bits for `nil`.
  package static let headerSize = 24

  /// The properties that have a slot, in the order of the slots.
  package let properties: [NSPropertyDescription]
  /// The offset of each slot, in bytes from the start of the row.
  package let offsets: [Int]
  /// The size in bytes of a row before its strings and binary data.
  package let fixedSize: Int

  /// Creates the layout of an entity.
  package init(_ entity: NSEntityDescription) {
    properties = entity.slotProperties
    var offsets: [Int] = []
    var offset = SlotGeometry.headerSize + (properties.count + 63) / 64 * 8
    for property in properties {
      offsets.append(offset)
      offset += SlotGeometry.needsEntity(property) ? 16 : 8
    }
    self.offsets = offsets
    fixedSize = offset
  }

  /// Returns whether a slot stores the destination's entity next to its primary key, as that of a
  /// to-one relationship does if the destination has subentities.
  package static func needsEntity(_ property: NSPropertyDescription) -> Bool {
    (property as? NSRelationshipDescription)?.destinationEntity?.subentities.isEmpty == false
  }
}
