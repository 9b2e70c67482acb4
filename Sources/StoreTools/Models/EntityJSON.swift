import OpenCoreData
import WorkbenchText

/// The shape of an entity in a model's JSON: what it declares itself.
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
      .filter { $0.entity === entity }.sorted { $0.name < $1.name }.map(FetchedPropertyJSON.init)
    indexes = entity.indexes.map(Index.init)
    compoundIndexes = entity.compoundIndexNames
    uniquenessConstraints = entity.uniquenessConstraintNames
  }

  /// User info as texts, whatever its values are.
  static func texts(_ info: [AnyHashable: Any]?) -> [String: String] {
    Dictionary(
      (info ?? [:]).map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { first, _ in first })
  }
}
