import OpenCoreData

/// A model with each kind of relationship: to-one, to-many, one-to-one, many-to-many, reflexive,
/// to an entity with subentities, with and without a cascade.
enum WorkshopModel {
  static func make() -> NSManagedObjectModel {
    let names = ["Worker", "Person", "Robot", "Team", "Gadget", "Tag"]
    let entities = Dictionary(
      uniqueKeysWithValues: names.map { name -> (String, NSEntityDescription) in
        let entity = NSEntityDescription()
        entity.name = name
        return (name, entity)
      })
    var properties: [String: [NSPropertyDescription]] = [:]
    for link in Link.all {
      let there = relationship(link.name, to: entities[link.destination], link.isToMany)
      let back = relationship(link.inverse, to: entities[link.source], link.isInverseToMany)
      there.inverseRelationship = back
      back.inverseRelationship = there
      if link.cascades { back.deleteRule = .cascadeDeleteRule }
      properties[link.source, default: []].append(there)
      properties[link.destination, default: []].append(back)
    }
    for name in names where name != "Person" && name != "Robot" {
      properties[name, default: []] += [
        attribute("serial", .integer64AttributeType), attribute("number", .integer64AttributeType),
        attribute("name", .stringAttributeType),
      ]
    }
    properties["Person"] = [attribute("birthday", .dateAttributeType)]
    properties["Robot"] = [attribute("firmware", .binaryDataAttributeType)]
    for (name, entity) in entities { entity.properties = properties[name] ?? [] }
    entities["Worker"]?.isAbstract = true
    entities["Worker"]?.subentities = ["Person", "Robot"].compactMap { entities[$0] }
    let model = NSManagedObjectModel()
    model.entities = names.compactMap { entities[$0] }
    return model
  }

  /// A relationship and its inverse; the reference stores the former.
  struct Link: Sendable {
    let name: String
    let source: String
    let inverse: String
    let destination: String
    var isToMany = false
    var isInverseToMany = true
    /// Whether deleting the destination deletes the sources.
    var cascades = false

    static let all = [
      Link(name: "boss", source: "Worker", inverse: "minions", destination: "Worker"),
      Link(
        name: "mentor", source: "Worker", inverse: "pupil", destination: "Worker",
        isInverseToMany: false),
      Link(name: "team", source: "Worker", inverse: "members", destination: "Team"),
      Link(
        name: "owner", source: "Gadget", inverse: "gadgets", destination: "Worker", cascades: true),
      Link(name: "tags", source: "Worker", inverse: "workers", destination: "Tag", isToMany: true),
    ]
  }

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  private static func relationship(
    _ name: String, to destination: NSEntityDescription?, _ isToMany: Bool
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.minCount = 0
    relationship.maxCount = isToMany ? 0 : 1
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }
}
