extension ModelComparison {
  /// Compares a property with its earlier version.
  mutating func compare(
    _ old: NSPropertyDescription, _ new: NSPropertyDescription, of entity: NSEntityDescription
  ) {
    guard old.subject == new.subject else {
      let article = old.subject == .attribute ? "an" : "a"
      return add(
        .changed, new.subject, of: entity, new.name,
        detail: "was \(article) \(old.subject.rawValue)", .custom,
        "An inferred mapping can't change the kind of a property.")
    }
    if old.name != new.name {
      add(
        .renamed, new.subject, of: entity, new.name, former: old.name,
        .lightweight)
    }
    if old.isTransient != new.isTransient {
      add(
        .changed, new.subject, of: entity, new.name,
        detail: new.isTransient ? "transient now" : "stored now", .lightweight,
        new.isTransient
          ? "Its values aren't carried over."
          : new.isOptional ? nil : Self.reasonOfRequirement(of: new))
    }
    compareOptionality(old, new, entity)
    compareModifiers(old, new, of: new, entity, "hash modifier")
    compareNotes(old, new, of: new, entity)
    let count = differences.count
    defer { if !old.isStored { relaxDifferences(from: count) } }
    switch (old, new) {
    case (let old as NSAttributeDescription, let new as NSAttributeDescription):
      compare(old, new, entity)
    case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
      compare(old, new, entity)
    case (let old as NSFetchedPropertyDescription, let new as NSFetchedPropertyDescription):
      change(new, entity, "request", old.template?.outline, new.template?.outline, .none)
    default: break
    }
  }

  private mutating func change(
    _ property: NSPropertyDescription, _ entity: NSEntityDescription, _ detail: String,
    _ effect: MigrationEffect, _ reason: String? = nil
  ) {
    add(
      .changed, property.subject, of: entity, property.name, detail: detail,
      property.isStored ? effect : min(effect, .lightweight), property.isStored ? reason : nil)
  }

  private mutating func change(
    _ property: NSPropertyDescription, _ entity: NSEntityDescription, _ what: String,
    _ before: String?, _ after: String?, _ effect: MigrationEffect, _ reason: String? = nil
  ) {
    guard before != after else { return }
    change(
      property, entity, "\(what) from \(before ?? "none") to \(after ?? "none")", effect, reason)
  }

  private mutating func compareOptionality(
    _ old: NSPropertyDescription, _ new: NSPropertyDescription, _ entity: NSEntityDescription
  ) {
    guard old.isOptional != new.isOptional else { return }
    guard !new.isOptional else { return change(new, entity, "optional now", .lightweight) }
    change(new, entity, "required now", .lightweight, Self.reasonOfRequirement(of: new))
  }

  /// Returns what happens to the rows without a value of a property that becomes required.
  private static func reasonOfRequirement(of property: NSPropertyDescription) -> String {
    if let relationship = property as? NSRelationshipDescription {
      return relationship.isToMany
        ? checkedBySaves
        : "Migration fails if rows have no destination: set it in an earlier version, or map it."
    }
    let attribute = property as? NSAttributeDescription
    if attribute?.isDerived == true { return "Its values are computed." }
    return attribute?.hasDefaultValue == true
      ? "Rows without a value get the default value."
      : "Migration fails if rows have no value: give it a default value, or map it."
  }

  /// The reason for a rule that a migration doesn't check.
  static let checkedBySaves = "It is checked when an object is saved."

  /// Compares the hash modifiers of a property, or of an element of a composite attribute.
  private mutating func compareModifiers(
    _ old: NSPropertyDescription, _ new: NSPropertyDescription,
    of property: NSPropertyDescription, _ entity: NSEntityDescription, _ what: String
  ) {
    change(
      property, entity, what, old.versionHashModifier, new.versionHashModifier, .lightweight,
      "It causes stores to be migrated.")
  }

  /// Compares the notes of a property, or of an element of a composite attribute, which no stored
  /// value depends on.
  ///
  /// - Parameter element: The name of the element, or `nil` for the property.
  private mutating func compareNotes(
    _ old: NSPropertyDescription, _ new: NSPropertyDescription,
    of property: NSPropertyDescription, _ entity: NSEntityDescription, element: String? = nil
  ) {
    let suffix = element.map { " of element \($0)" } ?? ""
    if old.name == new.name {
      change(
        property, entity, "renaming identifier" + suffix, old.renamingIdentifier,
        new.renamingIdentifier, .none)
    }
    change(
      property, entity, "Spotlight index" + suffix, old.isIndexedBySpotlight,
      new.isIndexedBySpotlight)
    change(
      property, entity, "user info" + suffix, Self.text(ofUserInfo: old.userInfo),
      Self.text(ofUserInfo: new.userInfo), .none)
  }

  /// Records a setting that's turned on or off and has no effect on a store.
  private mutating func change(
    _ property: NSPropertyDescription, _ entity: NSEntityDescription, _ what: String,
    _ before: Bool, _ after: Bool, _ reason: String? = nil
  ) {
    guard before != after else { return }
    change(property, entity, "\(what) \(after ? "on" : "off")", .none, reason)
  }

  /// Returns the entries of a `userInfo` as a string; `nil` if there are none.
  static func text(ofUserInfo info: [AnyHashable: Any]?) -> String? {
    info.flatMap { $0.isEmpty ? nil : OutlineText.of($0) }
  }

  private mutating func compare(
    _ old: NSAttributeDescription, _ new: NSAttributeDescription, _ entity: NSEntityDescription
  ) {
    compareType(old, new, of: new, entity, "type")
    compareValues(old, new, of: new, entity)
    compareExternalStorage(old, new, of: new, entity, "external storage")
    change(
      new, entity, "derivation", old.derivationText, new.derivationText, .none,
      new.isDerived
        ? "A migration recomputes all values. To require one, change the hash modifier."
        : "Stores compute the values until a migration, which keeps them. To require one, change the hash "
          + "modifier.")
    compareElements(old, new, of: new, entity)
  }

  /// Compares the settings for the values of an attribute, or of an element of one, that a version
  /// hash doesn't contain.
  ///
  /// - Parameter element: The name of the element, or `nil` for the attribute.
  private mutating func compareValues(
    _ old: NSAttributeDescription, _ new: NSAttributeDescription,
    of attribute: NSAttributeDescription, _ entity: NSEntityDescription, element: String? = nil
  ) {
    let suffix = element.map { " of element \($0)" } ?? ""
    change(attribute, entity, "default value" + suffix, old.defaultText, new.defaultText, .none)
    change(
      attribute, entity, "value class" + suffix, old.explicitValueClassName,
      new.explicitValueClassName, .none)
    change(
      attribute, entity, "transformer" + suffix, old.valueTransformerName,
      new.valueTransformerName, .none,
      "The new transformer reads stored bytes; set a hash modifier to migrate stores.")
    change(
      attribute, entity, "validation" + suffix, old.ruleText, new.ruleText, .none,
      Self.checkedBySaves)
    change(
      attribute, entity, "preservation after deletion" + suffix,
      old.preservesValueInHistoryOnDeletion, new.preservesValueInHistoryOnDeletion,
      "It applies to the history of later deletions.")
    change(
      attribute, entity, "cloud encryption" + suffix, old.allowsCloudEncryption,
      new.allowsCloudEncryption)
  }

  /// Compares the elements of a composite attribute, and those of nested ones.
  ///
  /// - Parameter path: The path of `new` in the attribute, with a period at the end; empty for the
  ///   attribute.
  private mutating func compareElements(
    _ old: NSAttributeDescription, _ new: NSAttributeDescription,
    of attribute: NSAttributeDescription, _ entity: NSEntityDescription, _ path: String = ""
  ) {
    guard let old = old as? NSCompositeAttributeDescription,
      let new = new as? NSCompositeAttributeDescription
    else { return }
    let pairs = RenamingMatch.elements(of: old, new)
    let formers = Dictionary(
      pairs.map { (ObjectIdentifier($0.new), $0.old) }, uniquingKeysWith: { first, _ in first })
    for element in new.elements {
      let name = path + element.name
      guard let former = formers[ObjectIdentifier(element)] else {
        change(attribute, entity, "element \(name) added", .lightweight)
        continue
      }
      if former.name != element.name {
        change(
          attribute, entity, "element \(name) renamed from \(former.name)", .lightweight)
      }
      if former.isOptional != element.isOptional {
        // Its column is optional, as the attribute can be nil.
        change(
          attribute, entity, "element \(name) \(element.isOptional ? "optional" : "required") now",
          .lightweight, element.isOptional ? nil : Self.checkedBySaves)
      }
      compareModifiers(
        former, element, of: attribute, entity, "hash modifier of element \(name)")
      compareType(former, element, of: attribute, entity, "type of element \(name)")
      compareNotes(former, element, of: attribute, entity, element: name)
      compareValues(former, element, of: attribute, entity, element: name)
      compareExternalStorage(
        former, element, of: attribute, entity, "external storage of element \(name)")
      compareElements(former, element, of: attribute, entity, "\(name).")
    }
    let kept = Set(pairs.map { ObjectIdentifier($0.old) })
    for element in old.elements where !kept.contains(ObjectIdentifier(element)) {
      change(attribute, entity, "element \(path + element.name) removed", .lightweight)
    }
  }

  /// Compares the types of an attribute, or of an element of one.
  private mutating func compareType(
    _ old: NSAttributeDescription, _ new: NSAttributeDescription,
    of attribute: NSAttributeDescription, _ entity: NSEntityDescription, _ what: String
  ) {
    let isConverted = old.attributeType.isConvertedByInference(to: new.attributeType)
    change(
      attribute, entity, what, old.attributeType.documentName, new.attributeType.documentName,
      isConverted ? .lightweight : .custom,
      isConverted
        ? "Numbers are converted; migration fails if one is too large."
        : "An inferred mapping doesn't convert values.")
  }

  /// Compares the external storage of an attribute, or of an element of one.
  private mutating func compareExternalStorage(
    _ old: NSAttributeDescription, _ new: NSAttributeDescription,
    of attribute: NSAttributeDescription, _ entity: NSEntityDescription, _ what: String
  ) {
    // If the type of an attribute changes as well, there's another obstacle already.
    guard old.hasExternalValues != new.hasExternalValues, old.attributeType == new.attributeType
    else { return }
    change(
      attribute, entity, new.hasExternalValues ? "\(what) on" : "\(what) off",
      new.hasExternalValues ? .lightweight : .custom,
      new.hasExternalValues
        ? "The values stay in their rows, each with a byte that states this."
        : "Copy the externally stored values in code, in a migration between the two versions.")
  }

  private mutating func compare(
    _ old: NSRelationshipDescription, _ new: NSRelationshipDescription,
    _ entity: NSEntityDescription
  ) {
    compareDestinations(old, new, entity)
    if old.isToMany != new.isToMany {
      change(
        new, entity, new.isToMany ? "to many now" : "to one now",
        new.isToMany ? .lightweight : .custom,
        new.isToMany ? nil : "It can't be inferred which of several objects to keep.")
    } else if old.maxCount != new.maxCount {
      change(new, entity, "maximum count", "\(old.maxCount)", "\(new.maxCount)", .lightweight)
    }
    change(new, entity, "minimum count", "\(old.minCount)", "\(new.minCount)", .lightweight)
    if old.isOrdered != new.isOrdered {
      change(
        new, entity, new.isOrdered ? "ordered now" : "no longer ordered", .lightweight,
        new.isOrdered ? nil : "The objects are kept without their order.")
    }
    change(
      new, entity, "delete rule", old.deleteRule.documentName, new.deleteRule.documentName, .none)
    let inverse = old.inverseRelationship.flatMap { former -> NSPropertyDescription? in
      guard let entity = former.entity.flatMap({ laterEntities[ObjectIdentifier($0)] }) else {
        return nil
      }
      let formers = formerProperties[ObjectIdentifier(entity)] ?? [:]
      return entity.ownProperties.first { formers[ObjectIdentifier($0)] === former }
        ?? entity.ownProperties.first {
          $0.name == former.name || $0.renamingIdentifier == former.renamingIdentifier
        }
    }
    // A store has one owner for each destination of a to-many relationship without an inverse.
    let losesOwners =
      old.isToMany && old.inverseRelationship?.isToMany == true
      && new.inverseRelationship?.isToMany != true
    if losesOwners || inverse !== new.inverseRelationship {
      change(
        new, entity, "inverse", old.inverseRelationship?.description,
        new.inverseRelationship?.description, losesOwners ? .custom : .lightweight,
        losesOwners ? "It can't be inferred which of several objects to keep." : nil)
    }
  }

  private mutating func compareDestinations(
    _ old: NSRelationshipDescription, _ new: NSRelationshipDescription,
    _ entity: NSEntityDescription
  ) {
    let later = old.destinationEntity.flatMap { laterEntities[ObjectIdentifier($0)] }
    let had = old.destinationEntity != nil
    guard later !== new.destinationEntity || had && later == nil else { return }
    let isWider = later.flatMap { later in new.destinationEntity.map { later.isKind(of: $0) } }
    var names = [old, new].map { $0.destinationEntity?.name ?? "none" }
    if names[0] == names[1] {
      // Another entity has the earlier entity's name.
      names[0] += later.map { " (now \($0.name ?? ""))" } ?? " (removed)"
    }
    change(
      new, entity, "destination from \(names[0]) to \(names[1])",
      isWider == true ? .lightweight : .custom,
      isWider == true ? nil : Self.reasonOfDestination(later, new.destinationEntity))
  }

  /// Returns why stored keys can't be those of objects of another entity.
  private static func reasonOfDestination(
    _ old: NSEntityDescription?, _ new: NSEntityDescription?
  ) -> String {
    guard let old, let new, new.isKind(of: old) else {
      return "The stored keys would refer to rows of another entity."
    }
    let names = [old, new].map { $0.name ?? "?" }
    return "Stored objects can refer to objects of \(names[0]) that aren't of \(names[1])."
  }
}

extension NSPropertyDescription {
  /// The kind of the property.
  var subject: ModelDifference.Subject {
    switch self {
    case is NSAttributeDescription: .attribute
    case is NSRelationshipDescription: .relationship
    default: .fetchedProperty
    }
  }

  /// Whether stores contain values of the property.
  var isStored: Bool { !isTransient && subject != .fetchedProperty }
}

extension NSAttributeDescription {
  /// The default value as a string; `nil` if there's no default value.
  fileprivate var defaultText: String? {
    defaultValue.map { OutlineText.of(typedDefaultValue ?? $0) }
  }

  /// The validation predicates as a string; `nil` if there are none.
  fileprivate var ruleText: String? {
    let predicates = validationPredicates.map(\.predicateFormat)
    return predicates.isEmpty ? nil : predicates.joined(separator: " and ")
  }
}
