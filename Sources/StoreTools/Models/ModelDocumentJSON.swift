package import Foundation
import OpenCoreData
import WorkbenchText

/// The JSON structure of a model, whose property names are the JSON keys.
struct ModelDocumentJSON: Encodable {
  struct Configuration: Encodable {
    let name: String
    let entities: [String]
  }

  struct Request: Encodable {
    let name: String
    let entity: String
    let predicate: String?
    let fetchLimit: Int
    let fetchBatchSize: Int

    init(_ request: FetchRequestTemplate) {
      name = request.name
      entity = request.entityName
      predicate = request.predicateFormat
      fetchLimit = request.fetchLimit
      fetchBatchSize = request.fetchBatchSize
    }
  }

  let file: String
  let source: String
  /// Whether names and types of properties are inferred.
  let guessed: Bool
  let problem: String?
  let version: String?
  let versions: [String]
  let identifiers: [String]
  let entities: [EntityJSON]
  let configurations: [Configuration]
  let fetchRequests: [Request]

  init(_ found: FoundModel) {
    let model = found.model
    file = found.url.path
    source = found.origin.rawValue
    guessed = found.origin == .tables
    problem = found.storeProblem
    version = found.version
    versions = found.versions
    identifiers = model.versionIdentifiers.map { "\($0)" }.sorted()
    entities = model.entityTree.map { EntityJSON($0.entity) }
    configurations = model.configurations.map { name in
      let members = model.entities(forConfigurationName: name) ?? []
      return Configuration(name: name, entities: members.compactMap(\.name).sorted())
    }
    fetchRequests = model.fetchRequestTemplates.map(Request.init)
  }
}

/// The JSON structure of an attribute.
struct AttributeJSON: Encodable {
  let name: String
  let type: String
  let isOptional: Bool
  let isTransient: Bool
  let isIndexed: Bool
  let isDerived: Bool
  let derivation: String?
  let defaultValue: String?
  let validation: [String]
  let allowsExternalStorage: Bool
  let transformer: String?
  let renamingIdentifier: String?
  let versionHashModifier: String?
  let userInfo: [String: String]
  /// The elements of a composite attribute.
  let elements: [AttributeJSON]

  init(_ attribute: NSAttributeDescription) {
    name = attribute.name
    type = attribute.attributeType.documentName
    isOptional = attribute.isOptional
    isTransient = attribute.isTransient
    isIndexed = attribute.isIndexed
    isDerived = attribute.isDerived
    derivation = attribute.derivationText
    defaultValue = attribute.defaultValue.map { "\(attribute.typedDefaultValue ?? $0)" }
    validation = attribute.validationPredicates.map(\.predicateFormat)
    allowsExternalStorage = attribute.allowsExternalBinaryDataStorage
    transformer = attribute.valueTransformerName
    renamingIdentifier = attribute.renamingIdentifier
    versionHashModifier = attribute.versionHashModifier
    userInfo = EntityJSON.texts(attribute.userInfo)
    elements = ((attribute as? NSCompositeAttributeDescription)?.elements ?? [])
      .map(AttributeJSON.init)
  }
}

/// The JSON structure of an entity, without inherited properties.
struct EntityJSON: Encodable {
  struct Index: Encodable {
    struct Element: Encodable {
      let property: String?
      let isAscending: Bool
      let type: String
    }

    let name: String
    let elements: [Element]
    let condition: String?

    init(_ index: NSFetchIndexDescription) {
      name = index.name
      condition = index.partialIndexPredicate?.predicateFormat
      elements = index.elements.map { element in
        Element(
          property: element.propertyName, isAscending: element.isAscending,
          type: element.collationType == .rTree ? "RTree" : "Binary")
      }
    }
  }

  let name: String
  let className: String?
  let superentity: String?
  let subentities: [String]
  let isAbstract: Bool
  let renamingIdentifier: String?
  let versionHashModifier: String?
  let userInfo: [String: String]
  let attributes: [AttributeJSON]
  let relationships: [RelationshipJSON]
  let fetchedProperties: [FetchedPropertyJSON]
  let indexes: [Index]
  let compoundIndexes: [[String]]
  let uniquenessConstraints: [[String]]

  init(_ entity: NSEntityDescription) {
    name = entity.name ?? ""
    className = entity.managedObjectClassName
    superentity = entity.superentity?.name
    subentities = entity.subentities.compactMap(\.name).sorted()
    isAbstract = entity.isAbstract
    renamingIdentifier = entity.renamingIdentifier
    versionHashModifier = entity.versionHashModifier
    userInfo = Self.texts(entity.userInfo)
    attributes = entity.ownAttributes.map(AttributeJSON.init)
    relationships = entity.ownRelationships.map(RelationshipJSON.init)
    fetchedProperties = entity.properties.compactMap { $0 as? NSFetchedPropertyDescription }
      .filter { $0.entity === entity }.sortedByName().map(FetchedPropertyJSON.init)
    indexes = entity.indexes.map(Index.init)
    compoundIndexes = entity.compoundIndexNames
    uniquenessConstraints = entity.uniquenessConstraintNames
  }

  /// Returns a user info dictionary with all keys and values as strings.
  static func texts(_ info: [AnyHashable: Any]?) -> [String: String] {
    Dictionary(
      (info ?? [:]).map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { first, _ in first })
  }
}

/// The JSON structure of a fetched property.
struct FetchedPropertyJSON: Encodable {
  let name: String
  let request: ModelDocumentJSON.Request?
  let userInfo: [String: String]

  init(_ property: NSFetchedPropertyDescription) {
    name = property.name
    request = property.template.map(ModelDocumentJSON.Request.init)
    userInfo = EntityJSON.texts(property.userInfo)
  }
}

/// The JSON structure of a relationship.
struct RelationshipJSON: Encodable {
  let name: String
  let destination: String?
  let inverse: String?
  let isToMany: Bool
  let isOrdered: Bool
  let isOptional: Bool
  let isTransient: Bool
  let minCount: Int
  let maxCount: Int
  let deleteRule: String
  let renamingIdentifier: String?
  let versionHashModifier: String?
  let userInfo: [String: String]

  init(_ relationship: NSRelationshipDescription) {
    name = relationship.name
    destination = relationship.destinationEntity?.name
    inverse = relationship.inverseRelationship?.name
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    isOptional = relationship.isOptional
    isTransient = relationship.isTransient
    minCount = relationship.minCount
    maxCount = relationship.maxCount
    deleteRule = relationship.deleteRule.documentName
    renamingIdentifier = relationship.renamingIdentifier
    versionHashModifier = relationship.versionHashModifier
    userInfo = EntityJSON.texts(relationship.userInfo)
  }
}

/// The JSON format of a model.
package enum ModelJSON {
  /// Returns a model as one JSON object with sorted keys, followed by a newline.
  package static func data(_ found: FoundModel) throws -> Data {
    try JSONOutput.lines(ModelDocumentJSON(found))
  }
}
