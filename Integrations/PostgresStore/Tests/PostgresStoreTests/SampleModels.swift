import OpenCoreData

import class ManagedModel.NSAttributeDescription
import class ManagedModel.NSCompositeAttributeDescription
import class ManagedModel.NSEntityDescription
import class ManagedModel.NSManagedObjectModel
import class ManagedModel.NSRelationshipDescription

/// The models of the tests, built in code.
enum SampleModels {
  /// One entity with an attribute of each type, named after it, and a composite attribute.
  static func everyType() -> NSManagedObjectModel {
    let item = entity("Item", types.map { attribute($0.0, $0.1) })
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    let region = NSCompositeAttributeDescription()
    region.name = "region"
    region.elements = [attribute("country", .stringAttributeType)]
    place.elements = [attribute("latitude", .doubleAttributeType), region]
    item.properties.append(place)
    return model([item])
  }

  static let types: [(String, NSAttributeType)] = [
    ("bool", .booleanAttributeType), ("data", .binaryDataAttributeType),
    ("date", .dateAttributeType), ("decimal", .decimalAttributeType),
    ("double", .doubleAttributeType), ("float", .floatAttributeType),
    ("int16", .integer16AttributeType), ("int32", .integer32AttributeType),
    ("int64", .integer64AttributeType), ("string", .stringAttributeType),
    ("uri", .URIAttributeType), ("uuid", .UUIDAttributeType),
    ("transformable", .transformableAttributeType),
  ]

  /// People of two entities, and a relationship of each kind.
  static func company() -> NSManagedObjectModel {
    let person = entity(
      "Person",
      [
        attribute("name", .stringAttributeType), attribute("age", .integer32AttributeType),
        attribute("score", .doubleAttributeType), attribute("wage", .decimalAttributeType),
        attribute("hired", .dateAttributeType), attribute("active", .booleanAttributeType),
        attribute("code", .UUIDAttributeType), attribute("site", .URIAttributeType),
        attribute("photo", .binaryDataAttributeType), attribute("ratio", .floatAttributeType),
      ])
    let manager = entity("Manager", [attribute("level", .integer16AttributeType)])
    person.subentities = [manager]
    let department = entity("Department", [attribute("name", .stringAttributeType)])
    let task = entity("Task", [attribute("name", .stringAttributeType)])
    let skill = entity("Skill", [attribute("name", .stringAttributeType)])
    let note = entity("Note", [attribute("name", .stringAttributeType)])
    let badge = entity("Badge", [attribute("number", .integer64AttributeType)])
    relate(person, "department", one, department, "people", many)
    relate(person, "skills", many, skill, "people", many)
    relate(department, "tasks", list, task, "department", one)
    relate(person, "favorites", list, task, "fans", many)
    relate(person, "badge", one, badge, "owner", one)
    relate(person, "boss", one, person, "reports", many)
    let friends = relationship("friends", person, many)
    friends.inverseRelationship = friends
    person.properties.append(friends)
    department.properties.append(relationship("notes", note, many))
    department.properties.append(relationship("steps", note, list))
    note.properties.append(relationship("about", person, one))
    return model([person, manager, department, task, skill, note, badge])
  }

  /// Accounts with unique names.
  static func accounts() -> NSManagedObjectModel {
    let account = entity(
      "Account",
      [attribute("name", .stringAttributeType), attribute("balance", .integer64AttributeType)])
    account.uniquenessConstraints = [["name"]]
    return model([account])
  }

  // MARK: Parts

  enum Kind { case one, many, list }
  static let (one, many, list) = (Kind.one, Kind.many, Kind.list)

  static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  static func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription
  {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes
    return entity
  }

  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  static func relationship(
    _ name: String, _ destination: NSEntityDescription, _ kind: Kind
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = kind == .one ? 1 : 0
    relationship.isOrdered = kind == .list
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }

  static func relate(
    _ first: NSEntityDescription, _ name: String, _ kind: Kind,
    _ second: NSEntityDescription, _ inverseName: String, _ inverseKind: Kind
  ) {
    let relationship = relationship(name, second, kind)
    let inverse = self.relationship(inverseName, first, inverseKind)
    relationship.inverseRelationship = inverse
    inverse.inverseRelationship = relationship
    first.properties.append(relationship)
    second.properties.append(inverse)
  }
}
