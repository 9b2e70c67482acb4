import OpenCoreData

/// The shape of a relationship in a model's JSON.
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
