import ManagedModel
import ModelCode
import WorkbenchText

/// A model as Swift code that creates it, using only API of Core Data.
struct ExportedModel {
  private let model: NSManagedObjectModel
  private var identifiers = SwiftIdentifiers(reserved: [
    "model", "entity", "attribute", "relationship", "index",
  ])
  private var entities: [String: String] = [:]
  /// The identifiers of relationships, by entity and relationship, such as `Mood.country`.
  private var relationships: [String: String] = [:]

  init(_ model: NSManagedObjectModel) {
    self.model = model
    for entity in sorted {
      entities[entity.name ?? ""] = identifiers.name(entity.name ?? "", "entity")
    }
    for entity in sorted {
      for relationship in entity.ownRelationships {
        relationships[key(relationship)] = identifiers.name(entity.name ?? "", relationship.name)
      }
    }
  }

  /// Writes the function `makeModel`.
  func write(to lines: inout SwiftLines) {
    lines.block("static func makeModel() -> NSManagedObjectModel") { lines in
      for entity in sorted {
        lines.line("let \(name(of: entity)) = entity(\(SwiftNames.literal(entity.name ?? "")))")
      }
      for entity in sorted {
        for relationship in entity.ownRelationships { write(relationship, to: &lines) }
      }
      for entity in sorted { write(entity, to: &lines) }
      // An index can refer to a parent entity's property, so set subentities first.
      for entity in sorted where !entity.subentities.isEmpty {
        let children = entity.subentities.map(name).joined(separator: ", ")
        lines.line("\(name(of: entity)).subentities = [\(children)]")
      }
      for entity in sorted { writeIndexes(of: entity, to: &lines) }
      lines.line("let model = NSManagedObjectModel()")
      lines.line("model.entities = [\(sorted.map(name).joined(separator: ", "))]")
      lines.line("return model")
    }
  }

  /// Returns the parts of a model that can't be expressed in code, a sentence for each.
  static func problems(of model: NSManagedObjectModel) -> [String] {
    model.entitiesByName.sorted { $0.key < $1.key }.flatMap { name, entity in
      entity.ownProperties.compactMap { property in
        switch property {
        case is NSCompositeAttributeDescription:
          "`\(name).\(property.name)` is a composite attribute"
        case is NSFetchedPropertyDescription: "`\(name).\(property.name)` is a fetched property"
        default: nil
        }
      }
    }
  }

  private var sorted: [NSEntityDescription] {
    model.entities.sortedByName()
  }

  private func name(of entity: NSEntityDescription) -> String {
    entities[entity.name ?? ""] ?? ""
  }

  private func key(_ relationship: NSRelationshipDescription) -> String {
    "\(relationship.entity?.name ?? "").\(relationship.name)"
  }

  private func write(_ relationship: NSRelationshipDescription, to lines: inout SwiftLines) {
    guard let destination = relationship.destinationEntity,
      let identifier = relationships[key(relationship)]
    else { return }
    let rule =
      switch relationship.deleteRule {
      case .noActionDeleteRule: ".noActionDeleteRule"
      case .nullifyDeleteRule: ".nullifyDeleteRule"
      case .cascadeDeleteRule: ".cascadeDeleteRule"
      case .denyDeleteRule: ".denyDeleteRule"
      }
    var arguments = [
      SwiftNames.literal(relationship.name), "to: \(name(of: destination))",
      "most: \(relationship.maxCount)", rule,
    ]
    if relationship.minCount != 0 { arguments.append("least: \(relationship.minCount)") }
    if !relationship.isOptional { arguments.append("isOptional: false") }
    if relationship.isOrdered { arguments.append("isOrdered: true") }
    lines.line("let \(identifier) = relationship(\(arguments.joined(separator: ", ")))")
  }

  private func write(_ entity: NSEntityDescription, to lines: inout SwiftLines) {
    let own = entity.ownProperties
    lines.line("\(name(of: entity)).properties = [")
    for property in own {
      if let relationship = property as? NSRelationshipDescription {
        lines.line("  \(relationships[key(relationship)] ?? ""),")
      } else if let attribute = property as? NSAttributeDescription {
        lines.line("  \(ExportedModel.attribute(attribute)),")
      }
    }
    lines.line("]")
    if entity.isAbstract { lines.line("\(name(of: entity)).isAbstract = true") }
    for relationship in entity.ownRelationships {
      guard let inverse = relationship.inverseRelationship,
        let other = relationships[key(inverse)], let identifier = relationships[key(relationship)]
      else { continue }
      lines.line("\(identifier).inverseRelationship = \(other)")
    }
    let unique = entity.uniquenessConstraintNames
    if !unique.isEmpty {
      lines.line(
        "\(name(of: entity)).uniquenessConstraints = "
          + "[\(unique.map(SwiftLiteral.texts).joined(separator: ", "))]")
    }
  }

  private func writeIndexes(of entity: NSEntityDescription, to lines: inout SwiftLines) {
    guard !entity.indexes.isEmpty else { return }
    lines.line("\(name(of: entity)).indexes = [")
    for index in entity.indexes {
      let keys = index.elements.map { element in
        "(\(SwiftNames.literal(element.propertyName ?? "")), \(element.isAscending))"
      }
      var arguments = [
        SwiftNames.literal(index.name), "of: \(name(of: entity))",
        "[\(keys.joined(separator: ", "))]",
      ]
      let computed = index.elements.compactMap { element -> String? in
        guard let property = element.property as? NSExpressionDescription,
          property.expression?.expressionType != .keyPath
        else { return nil }
        return "\(SwiftNames.literal(property.name)): .\(property.expressionResultType)"
      }
      if !computed.isEmpty { arguments.append("computed: [\(computed.joined(separator: ", "))]") }
      if index.elements.contains(where: { $0.collationType == .rTree }) {
        arguments.append("as: .rTree")
      }
      if let predicate = index.partialIndexPredicate {
        arguments.append("where: \(SwiftNames.literal(predicate.predicateFormat))")
      }
      lines.line("  index(\(arguments.joined(separator: ", "))),")
    }
    lines.line("]")
  }

  /// The transformers that Foundation registers for Core Data.
  private static let foundationTransformers = [
    "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData",
  ]

  private static func attribute(_ attribute: NSAttributeDescription) -> String {
    var arguments = [SwiftNames.literal(attribute.name), ".\(attribute.attributeType)"]
    if !attribute.isOptional { arguments.append("isOptional: false") }
    if attribute.isTransient { arguments.append("isTransient: true") }
    if let value = attribute.typedDefaultValue ?? attribute.defaultValue {
      arguments.append("initially: \(SwiftLiteral.value(value, of: attribute.attributeType))")
    }
    if attribute.allowsExternalBinaryDataStorage { arguments.append("isExternal: true") }
    // A program's own transformer isn't part of the export.
    if let name = attribute.valueTransformerName, foundationTransformers.contains(name) {
      arguments.append("transformer: \(SwiftNames.literal(name))")
    }
    if let text = attribute.derivationText {
      arguments.append("derived: \(SwiftNames.literal(text))")
    }
    let rules = attribute.validationPredicates.map(\.predicateFormat)
    if !rules.isEmpty { arguments.append("where: \(SwiftLiteral.texts(rules))") }
    return "attribute(\(arguments.joined(separator: ", ")))"
  }
}
