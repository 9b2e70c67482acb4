import ManagedModel
import OpenCoreData

/// The models of the tests.
enum TestModels {
  /// The repository's folder.
  static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func moody() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: root.appendingPathComponent("Scenarios/Models/Moody.xcdatamodel"))
  }

  /// Employees and their departments, built in code.
  static func company() -> NSManagedObjectModel {
    let employee = NSEntityDescription()
    employee.name = "Employee"
    let department = NSEntityDescription()
    department.name = "Department"
    let home = relationship("department", to: department, isToMany: false)
    let staff = relationship("employees", to: employee, isToMany: true)
    home.inverseRelationship = staff
    staff.inverseRelationship = home
    employee.properties = [attribute("name", .stringAttributeType), home]
    department.properties = [attribute("name", .stringAttributeType), staff]
    let model = NSManagedObjectModel()
    model.entities = [employee, department]
    return model
  }

  /// Articles and tags, many to many; one attribute of each type.
  static func library() -> NSManagedObjectModel {
    let article = NSEntityDescription()
    article.name = "Article"
    let tag = NSEntityDescription()
    tag.name = "Tag"
    let tags = relationship("tags", to: tag, isToMany: true)
    let articles = relationship("articles", to: article, isToMany: true)
    tags.inverseRelationship = articles
    articles.inverseRelationship = tags
    let types: [(String, NSAttributeType)] = [
      ("bool", .booleanAttributeType), ("data", .binaryDataAttributeType),
      ("date", .dateAttributeType), ("decimal", .decimalAttributeType),
      ("double", .doubleAttributeType), ("float", .floatAttributeType),
      ("int16", .integer16AttributeType), ("int32", .integer32AttributeType),
      ("int64", .integer64AttributeType), ("string", .stringAttributeType),
      ("uri", .URIAttributeType), ("uuid", .UUIDAttributeType),
    ]
    article.properties = types.map { attribute($0.0, $0.1) } + [tags]
    tag.properties = [attribute("name", .stringAttributeType), articles]
    let model = NSManagedObjectModel()
    model.entities = [article, tag]
    return model
  }

  /// An optional attribute.
  static func attribute(
    _ name: String, _ type: NSAttributeType
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  /// An optional relationship with the nullify rule.
  static func relationship(
    _ name: String, to destination: NSEntityDescription, isToMany: Bool
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.isOptional = true
    relationship.minCount = 0
    relationship.maxCount = isToMany ? 0 : 1
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }
}
