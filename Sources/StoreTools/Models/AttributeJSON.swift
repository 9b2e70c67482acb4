import OpenCoreData

/// The shape of an attribute in a model's JSON.
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
  /// Those of a composite attribute.
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
