extension ModelComparison {
  /// Compares an entity with its earlier version.
  mutating func compare(
    _ old: NSEntityDescription, _ new: NSEntityDescription,
    inMergedHierarchy merged: [ObjectIdentifier: [NSEntityDescription]]
  ) {
    if old.name != new.name {
      add(.renamed, .entity, of: new, former: old.name, .lightweight)
    }
    compareParents(old, new, merged)
    change(new, "class", old.managedObjectClassName, new.managedObjectClassName, .none)
    if old.isAbstract != new.isAbstract {
      add(
        .changed, .entity, of: new,
        detail: new.isAbstract ? "abstract now" : "no longer abstract", .lightweight,
        new.isAbstract ? "Migration fails if it has objects that aren't of a subentity." : nil)
    }
    change(
      new, "hash modifier", old.versionHashModifier, new.versionHashModifier, .lightweight,
      "It causes stores to be migrated, which also creates new indexes.")
    if old.name == new.name {
      change(new, "renaming identifier", old.renamingIdentifier, new.renamingIdentifier, .none)
    }
    change(
      new, "display name in Spotlight", old.coreSpotlightDisplayNameExpression?.description,
      new.coreSpotlightDisplayNameExpression?.description, .none)
    change(
      new, "user info", Self.text(ofUserInfo: old.userInfo),
      Self.text(ofUserInfo: new.userInfo), .none)
    compareIndexes(old, new)
    compareProperties(old, new)
  }

  private mutating func change(
    _ entity: NSEntityDescription, _ what: String, _ before: String?, _ after: String?,
    _ effect: MigrationEffect, _ reason: String? = nil
  ) {
    guard before != after else { return }
    add(
      .changed, .entity, of: entity,
      detail: "\(what) from \(before ?? "none") to \(after ?? "none")", effect, reason)
  }

  private mutating func compareParents(
    _ old: NSEntityDescription, _ new: NSEntityDescription,
    _ merged: [ObjectIdentifier: [NSEntityDescription]]
  ) {
    let former = old.superentity.flatMap { laterEntities[ObjectIdentifier($0)] ?? $0 }
    guard former !== new.superentity else { return }
    let stranger = merged[ObjectIdentifier(new.rootEntity)]?.first {
      $0.rootEntity !== old.rootEntity
    }
    add(
      .changed, .entity, of: new,
      detail: "parent from \(old.superentity?.name ?? "none") to "
        + "\(new.superentity?.name ?? "none")",
      stranger == nil ? .lightweight : .custom,
      stranger.map { stranger in
        "\(old.name ?? "") and \(stranger.name ?? "") have no common parent in the earlier version, so an "
          + "inferred mapping can't give them one."
      })
  }

  private mutating func compareIndexes(_ old: NSEntityDescription, _ new: NSEntityDescription) {
    let hint =
      "Stores that exist open as they are, without it; a hash modifier makes them migrate."
    for name in Set(old.indexTexts.keys).union(new.indexTexts.keys).sorted() {
      let (before, after) = (old.indexTexts[name], new.indexTexts[name])
      guard before != after else { continue }
      let kind = Self.kind(before, after)
      add(
        kind, .index, of: new, name,
        detail: kind == .changed ? "from (\(before ?? "")) to (\(after ?? ""))" : nil, .none,
        kind == .removed ? nil : hint)
    }
    compareConstraints(old, new)
  }

  /// Compares uniqueness constraints by the later names of their properties.
  private mutating func compareConstraints(
    _ old: NSEntityDescription, _ new: NSEntityDescription
  ) {
    let formers = formerProperties[ObjectIdentifier(new)] ?? [:]
    let laterNames = Dictionary(
      new.propertiesByName.values.compactMap { property in
        formers[ObjectIdentifier(property)].map { ($0.name, property.name) }
      }, uniquingKeysWith: { first, _ in first })
    let before = Dictionary(
      old.uniquenessConstraintNames.map { names in
        (
          names.joined(separator: ", "),
          names.map { laterNames[$0] ?? $0 }.joined(separator: ", ")
        )
      }, uniquingKeysWith: { first, _ in first })
    noteConstraints(of: new, besides: Set(before.values))
    let after = Set(new.uniquenessConstraintNames.map { $0.joined(separator: ", ") })
    for (names, later) in before.sorted(by: { $0.key < $1.key }) where !after.contains(later) {
      add(.removed, .constraint, of: new, names, .lightweight)
    }
  }

  /// Records the constraints that rows have to meet in addition to known ones.
  private mutating func noteConstraints(
    of entity: NSEntityDescription, besides known: Set<String> = []
  ) {
    let names = Set(entity.uniquenessConstraintNames.map { $0.joined(separator: ", ") })
    for names in names.subtracting(known).sorted() {
      add(
        .added, .constraint, of: entity, names, .lightweight,
        "Migration fails if rows have the same values.")
    }
  }

  // MARK: Properties

  private mutating func compareProperties(_ old: NSEntityDescription, _ new: NSEntityDescription) {
    let formers = formerProperties[ObjectIdentifier(new)] ?? [:]
    let kept = Set(formers.values.map { ObjectIdentifier($0) })
    for property in new.ownProperties.sortedByName() {
      let known = formers[ObjectIdentifier(property)]
      let former = known ?? declarer(before: property, of: new)
      if let former, former.entity === old {
        compare(former, property, of: new)
      } else if let former {
        noteMove(of: property, to: new, from: former)
      } else {
        noteAddition(of: property, to: new)
      }
      compareOthers(before: property, of: new, besides: former)
    }
    for property in old.ownProperties.sortedByName()
    where !kept.contains(ObjectIdentifier(property)) && !isDeclaredElsewhere(property, of: old) {
      add(
        .removed, property.subject, of: new, property.name,
        .lightweight,
        property.isStored ? "Its values aren't carried over." : nil)
    }
    noteLostProperties(ofParentOf: old, new, kept)
  }

  /// Records the inherited properties that an entity loses because it has another parent, or none.
  ///
  /// - Parameter kept: The properties that it keeps, whichever entity declares them.
  private mutating func noteLostProperties(
    ofParentOf old: NSEntityDescription, _ new: NSEntityDescription, _ kept: Set<ObjectIdentifier>
  ) {
    guard let parent = old.superentity else { return }
    let later = laterEntities[ObjectIdentifier(parent)]
    // What the same parent loses is a difference of the parent.
    guard later == nil || later !== new.superentity else { return }
    for property in parent.propertiesByName.values.sortedByName()
    where !kept.contains(ObjectIdentifier(property)) {
      let declarer = property.entity.flatMap { laterEntities[ObjectIdentifier($0)] }
      guard old.propertiesByName[property.name] === property,
        declarer.map({ !new.isKind(of: $0) }) ?? true
      else { continue }
      add(
        .removed, property.subject, of: new, property.name, .lightweight,
        property.isStored ? "Its values aren't carried over." : nil)
    }
  }

  /// Records which properties of a new entity its subentities declared before, and which properties
  /// and constraints they get from it.
  mutating func noteMovedProperties(to entity: NSEntityDescription) {
    let hasFormer = entity.withSubentities.contains { formerEntities[ObjectIdentifier($0)] != nil }
    if hasFormer { noteConstraints(of: entity) }
    for property in entity.ownProperties.sortedByName() {
      let former = declarer(before: property, of: entity)
      if let former {
        noteMove(of: property, to: entity, from: former)
      } else if hasFormer {
        noteAddition(of: property, to: entity)
      }
      compareOthers(before: property, of: entity, besides: former)
    }
  }

  /// Compares a property with those that descendants of its entity declared before.
  private mutating func compareOthers(
    before property: NSPropertyDescription, of entity: NSEntityDescription,
    besides former: NSPropertyDescription?
  ) {
    var compared = Set([former].compactMap { $0.map { ObjectIdentifier($0) } })
    for member in entity.withSubentities.dropFirst() {
      let former = formerProperties[ObjectIdentifier(member)]?[ObjectIdentifier(property)]
      guard let former, compared.insert(ObjectIdentifier(former)).inserted else { continue }
      compare(former, property, of: member)
    }
  }

  private mutating func noteMove(
    of property: NSPropertyDescription, to entity: NSEntityDescription,
    from former: NSPropertyDescription
  ) {
    add(
      .moved, property.subject, of: entity, property.name, former: former.entity?.name,
      .lightweight)
    compare(former, property, of: entity)
  }

  /// Returns the property of the earlier model that an entity and all its descendants had before.
  private func declarer(
    before property: NSPropertyDescription, of entity: NSEntityDescription
  ) -> NSPropertyDescription? {
    let found = entity.withSubentities.compactMap { entity in
      formerProperties[ObjectIdentifier(entity)].map { $0[ObjectIdentifier(property)] }
    }
    guard !found.isEmpty, !found.contains(where: { $0 == nil }) else { return nil }
    return found[0]
  }

  /// Returns whether a property that an entity declared before is now declared by all its
  /// subentities.
  private func isDeclaredElsewhere(
    _ property: NSPropertyDescription, of old: NSEntityDescription
  ) -> Bool {
    guard let entity = laterEntities[ObjectIdentifier(old)] else { return false }
    let inherited = entity.propertiesByName
    func has(_ subentity: NSEntityDescription) -> Bool {
      subentity.propertiesByName.values.contains { own in
        inherited[own.name] !== own
          && (own.name == property.name || own.renamingIdentifier == property.renamingIdentifier)
      }
    }
    return !entity.subentities.isEmpty && entity.subentities.allSatisfy(has)
  }

  private mutating func noteAddition(
    of property: NSPropertyDescription, to entity: NSEntityDescription
  ) {
    guard property.isStored else {
      return add(.added, property.subject, of: entity, property.name, .lightweight)
    }
    var isFilled = property.isOptional
    var missing = "Migration fails if there are rows: it's required and has no default value."
    switch property {
    case let attribute as NSAttributeDescription:
      isFilled = isFilled || attribute.hasDefaultValue || attribute.isDerived
    case let relationship as NSRelationshipDescription where relationship.isToMany:
      isFilled = isFilled || relationship.minCount == 0
      missing = Self.checkedBySaves
    case is NSRelationshipDescription:
      missing = "Migration fails if there are rows: it's required, and they have no destination."
    default: break
    }
    add(
      .added, property.subject, of: entity, property.name, .lightweight, isFilled ? nil : missing)
  }
}

extension NSEntityDescription {
  /// A description of each index by its name, including indexes in the form of older models.
  fileprivate var indexTexts: [String: String] {
    var texts: [String: String] = [:]
    for property in ownProperties where property.isIndexed {
      texts["indexed \(property.name)"] = property.name
    }
    for names in compoundIndexNames {
      let text = names.joined(separator: ", ")
      texts["compound \(text)"] = text
    }
    for index in indexes { texts[index.name] = index.parts }
    return texts
  }
}
