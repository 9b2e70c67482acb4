/// Checks one entity of a model and collects its problems.
struct EntityCheck {
  private let entity: NSEntityDescription
  private let model: NSManagedObjectModel
  private let warns: Bool
  private var warnings = 0
  /// The problems, those of the properties first, in their order.
  private(set) var errors: [ModelError] = []

  /// Checks an entity whose hierarchy has no cycle.
  ///
  /// - Parameter warns: Whether to report warnings as well.
  init(_ entity: NSEntityDescription, in model: NSManagedObjectModel, warns: Bool) {
    self.entity = entity
    self.model = model
    self.warns = warns
    if let parent = entity.superentity, parent.managedObjectModel !== model {
      report("The parent \(parent.name ?? "") isn't in the model.", "Add it to the model.")
    }
    checkNames()
    for property in entity.ownProperties {
      switch property {
      case let attribute as NSAttributeDescription: check(attribute)
      case let relationship as NSRelationshipDescription: check(relationship)
      default: break
      }
      checkTexts(of: property)
    }
    checkConstraints()
    checkIndexes()
  }

  private mutating func report(
    _ message: String, _ nextStep: String, property: NSPropertyDescription? = nil,
    isWarning: Bool = false
  ) {
    guard isWarning || errors.count - warnings < ModelLimits.errors else { return }
    errors.append(
      ModelError(
        message, nextStep: nextStep, entity: entity.name, property: property?.name,
        isWarning: isWarning))
  }

  /// Adds a warning.
  private mutating func warn(
    _ message: String, _ nextStep: String, property: NSPropertyDescription? = nil
  ) {
    guard warns, warnings < ModelLimits.errors else { return }
    warnings += 1
    report(message, nextStep, property: property, isWarning: true)
  }

  /// Names that model editors reject because the properties of `NSManagedObject` would hide the
  /// values.
  private static let reservedNames: Set = [
    "class", "description", "entity", "managedObjectContext", "objectID", "self", "superclass",
  ]

  private mutating func checkNames() {
    var own: Set<String> = []
    let inherited = entity.superentity?.propertiesByName ?? [:]
    for property in entity.ownProperties {
      if property.name.isEmpty {
        report("A property has no name.", "Give it one.")
      } else if !own.insert(property.name).inserted {
        report(
          "There are two properties named \(property.name).", "Rename one of them.",
          property: property)
      } else if Self.reservedNames.contains(property.name) {
        report(
          "Every managed object already has a property \(property.name).",
          "Rename the model's property.",
          property: property)
      } else if let hidden = inherited[property.name] {
        report(
          "The parent \(hidden.entity?.name ?? "") already has a property \(property.name).",
          "Rename one of them.", property: property)
      }
    }
  }

  private mutating func check(_ attribute: NSAttributeDescription) {
    if attribute.attributeType == .undefinedAttributeType, !attribute.isTransient {
      warn(
        "The attribute has no type, so a store saves it as bytes.",
        "Give it a type or make it transient.", property: attribute)
    }
    if let value = attribute.defaultValue, attribute.typedDefaultValue == nil {
      warn(
        "The default value \(value) doesn't fit the type \(attribute.attributeType.documentName).",
        "Change the default value or the type.", property: attribute)
    }
    if let text = attribute.derivationText, DerivedFormula(text) == nil {
      warn(
        text.isEmpty
          ? "The derived attribute has no valid derivation expression, so it stays nil."
          : "The derivation \(text) isn't supported, so the attribute stays nil.",
        text.isEmpty
          ? "Write one."
          : "Use a key path of to-one relationships, @count or @sum of a to-many relationship, "
            + "canonical:, uppercase:, lowercase:, or now().", property: attribute)
    }
    if let composite = attribute as? NSCompositeAttributeDescription {
      check(elementsOf: composite, of: attribute)
    }
  }

  private mutating func check(
    elementsOf composite: NSCompositeAttributeDescription, of attribute: NSAttributeDescription
  ) {
    var names: Set<String> = []
    for element in composite.elements {
      if !names.insert(element.name).inserted {
        report(
          "There are two elements named \(element.name).", "Rename one of them.",
          property: attribute)
      }
      if let inner = element as? NSCompositeAttributeDescription {
        check(elementsOf: inner, of: attribute)
      } else if element.attributeType == .undefinedAttributeType {
        warn(
          "The element \(element.name) has no type.", "Give it a type.", property: attribute)
      }
    }
  }

  private mutating func check(_ relationship: NSRelationshipDescription) {
    if relationship.minCount < 0 || relationship.maxCount < 0
      || (relationship.maxCount > 0 && relationship.minCount > relationship.maxCount)
    {
      warn(
        "The relationship's counts are from \(relationship.minCount) to \(relationship.maxCount) "
          + "objects, which is impossible.",
        "Make the minimum count at most the maximum; 0 means no limit.",
        property: relationship)
    }
    guard let destination = relationship.destinationEntity else {
      return warn(
        "The relationship has no destination.", "Specify its destination entity.",
        property: relationship)
    }
    if destination.managedObjectModel !== model {
      report(
        "The destination \(destination.name ?? "") isn't in the model.", "Add it to the model.",
        property: relationship)
    }
    if let inverse = relationship.inverseRelationship {
      check(inverse, of: relationship, destination: destination)
    }
  }

  private mutating func check(
    _ inverse: NSRelationshipDescription, of relationship: NSRelationshipDescription,
    destination: NSEntityDescription
  ) {
    guard let home = inverse.entity, destination.isKind(of: home) || home.isKind(of: destination)
    else {
      return report(
        "The inverse \(inverse) doesn't belong to the destination \(destination).",
        "Choose a relationship of \(destination).", property: relationship)
    }
    if inverse.inverseRelationship !== relationship {
      let oneSided = OneSidedInverse(relationship, inverse)
      report(oneSided.message, oneSided.nextStep, property: relationship)
    } else if let target = inverse.destinationEntity, !entity.isKind(of: target),
      !target.isKind(of: entity)
    {
      report(
        "The inverse \(inverse) refers to \(target), but doesn't match.",
        "Make \(entity) the destination of \(inverse).", property: relationship)
    }
  }

  /// Adds warnings about attributes of a document that couldn't be read.
  private mutating func checkTexts(of property: NSPropertyDescription) {
    for (key, text) in property.unreadTexts.sorted(by: { $0.key < $1.key }) {
      warn(
        "\(key) is \"\(text)\", which is invalid and is ignored.",
        "Correct it in the model document.", property: property)
    }
  }

  private mutating func checkConstraints() {
    let entity = self.entity
    let known = entity.propertiesByName
    func isKnown(_ name: String) -> Bool {
      known[name] != nil || entity.hasCompositeElement(at: name)
    }
    for name in entity.uniquenessConstraintNames.joined() where !isKnown(name) {
      reportUnknown(name, in: "uniqueness constraint")
    }
    for name in entity.compoundIndexNames.joined() where !isKnown(name) {
      reportUnknown(name, in: "compound index")
    }
  }

  private mutating func checkIndexes() {
    var names: Set<String> = []
    for index in entity.indexes {
      if !names.insert(index.name).inserted {
        warn("There are two indexes named \(index.name).", "Rename one of them.")
      }
      for element in index.elements {
        guard let property = element.property else { continue }
        let isComputed =
          (property as? NSExpressionDescription).map { !$0.isPlainName } ?? false
        if !isComputed, entity.propertiesByName[property.name] !== property,
          !entity.hasCompositeElement(at: property.name)
        {
          reportUnknown(property.name, in: "index \(index.name)")
        }
      }
    }
  }

  private mutating func reportUnknown(_ name: String, in subject: String) {
    guard warns, warnings < ModelLimits.errors else { return }
    let names = entity.propertiesByName.keys
    let isFew = names.count * (warnings + 1) <= ModelLimits.comparisons
    warn(
      "The \(subject) names \(name), which the entity doesn't have.",
      NearestName.nextStep(
        for: name, among: isFew ? names.sorted() : [],
        otherwise: "Add the property, or remove its name."))
  }
}

/// A relationship whose inverse has a different inverse.
///
/// Documents that were merged by hand contain these. The two sides can't be kept consistent, so the
/// relationship is treated as one without an inverse.
struct OneSidedInverse {
  /// The relationship, which no longer has an inverse.
  let relationship: NSRelationshipDescription
  /// The problem.
  let message: String
  /// What to do about it.
  let nextStep: String

  /// Removes mismatched inverses.
  ///
  /// Their names remain in `unreadTexts`.
  ///
  /// - Returns: The removed inverses, in the order of the relationships.
  static func remove(from relationships: [NSRelationshipDescription]) -> [OneSidedInverse] {
    let found = relationships.compactMap { relationship -> OneSidedInverse? in
      guard let inverse = relationship.inverseRelationship,
        inverse.inverseRelationship !== relationship
      else { return nil }
      return OneSidedInverse(relationship, inverse)
    }
    for oneSided in found {
      let relationship = oneSided.relationship
      relationship.unreadTexts["inverseName"] = relationship.inverseRelationship?.name
      relationship.unreadTexts["inverseEntity"] = relationship.inverseRelationship?.entity?.name
      relationship.inverseRelationship = nil
    }
    return found
  }

  /// Creates a description of a mismatched inverse.
  init(_ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription) {
    self.relationship = relationship
    let back = inverse.inverseRelationship.map { "\($0)" } ?? "nothing"
    message = "The inverse \(inverse) has \(back) as its own inverse."
    nextStep = "Set the inverse of \(inverse) to \(relationship)."
  }
}

extension NSManagedObjectModel {
  /// Checks the model for consistency.
  ///
  /// Finds missing and duplicate names, relationships without a destination in the model,
  /// mismatched inverses, impossible counts, missing types, default values that don't match their
  /// types, and unknown names in constraints and indexes. Stops after 200 errors, and reports at
  /// most 200 warnings.
  ///
  /// - Returns: The problems in the order of the entities; empty for a valid model. Warnings don't
  ///   make the model unusable.
  package func validate() -> [ModelError] {
    var errors: [ModelError] = []
    var warnings = 0
    var names: Set<String> = []
    for entity in entities {
      guard errors.count - warnings < ModelLimits.errors else { break }
      guard let name = entity.name, !name.isEmpty else {
        errors.append(ModelError("An entity has no name.", nextStep: "Give it one."))
        continue
      }
      if !names.insert(name).inserted {
        errors.append(
          ModelError(
            "There are two entities named \(name).", nextStep: "Rename one of them.",
            entity: name))
      }
      let found = EntityCheck(entity, in: self, warns: warnings < ModelLimits.errors).errors
      warnings += found.count(where: \.isWarning)
      errors += found
    }
    return errors
  }

  /// The problems of a model that was read: its reader's warnings, and those that only `validate()`
  /// finds.
  package var problems: [ModelError] {
    let others = validate()
    return readerWarnings
      + others.filter { error in !readerWarnings.contains { $0.covers(error) } }
  }
}
