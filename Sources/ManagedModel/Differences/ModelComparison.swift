/// Finds the differences between two models, and whether lightweight migration supports them.
///
/// Entities and properties of the two models correspond if they have the same renaming identifier,
/// or else the same name. A property whose identifier isn't in the earlier model is a new one if it
/// can't keep the values of the one with its name. Settings that only code generation and the model
/// editor use aren't compared. **Cost:** linear in the size of the models.
package struct ModelComparison {
  /// The earlier model.
  package let old: NSManagedObjectModel
  /// The later model.
  package let new: NSManagedObjectModel
  /// The differences: those of entities and their properties by name, then all others.
  package private(set) var differences: [ModelDifference] = []

  /// The entities of the earlier model, by the corresponding ones of the later model.
  let formerEntities: [ObjectIdentifier: NSEntityDescription]
  /// The entities of the later model, by the corresponding ones of the earlier model.
  let laterEntities: [ObjectIdentifier: NSEntityDescription]
  /// For each entity of the later model, the properties of the earlier model, by the corresponding
  /// ones of the later model, including inherited properties.
  let formerProperties: [ObjectIdentifier: [ObjectIdentifier: NSPropertyDescription]]

  /// Compares two models.
  ///
  /// - Parameters:
  ///   - old: The earlier model.
  ///   - new: The later model.
  package init(from old: NSManagedObjectModel, to new: NSManagedObjectModel) {
    self.old = old
    self.new = new
    let matches = RenamingMatch.pairs(
      old.entities, new.entities, name: { $0.name ?? "" }, identifier: { $0.renamingIdentifier })
    formerEntities = Dictionary(
      matches.map { (ObjectIdentifier($0.new), $0.old) }, uniquingKeysWith: { first, _ in first })
    laterEntities = Dictionary(
      matches.map { (ObjectIdentifier($0.old), $0.new) }, uniquingKeysWith: { first, _ in first })
    formerProperties = Dictionary(
      matches.map { old, new in
        let pairs = RenamingMatch.properties(of: old, new)
        return (
          ObjectIdentifier(new),
          Dictionary(
            pairs.map { (ObjectIdentifier($0.new), $0.old) },
            uniquingKeysWith: { first, _ in first })
        )
      }, uniquingKeysWith: { first, _ in first })
    compareEntities()
    compareDividedRelationships()
    compareModels()
  }

  /// The strongest effect of all differences, which is the migration that a store of the earlier
  /// model needs.
  package var effect: MigrationEffect { differences.map(\.effect).max() ?? .none }

  /// Adds a difference.
  mutating func add(
    _ kind: ModelDifference.Kind, _ subject: ModelDifference.Subject,
    of entity: NSEntityDescription? = nil, _ name: String? = nil, former: String? = nil,
    detail: String? = nil, _ effect: MigrationEffect, _ reason: String? = nil
  ) {
    differences.append(
      ModelDifference(
        kind: kind, subject: subject, entity: entity?.name, name: name, former: former,
        detail: detail, effect: effect, reason: reason))
  }

  /// Changes the effect of the last differences to lightweight: those of a property that wasn't
  /// stored, so there are no values to convert.
  ///
  /// - Parameter count: The number of differences before them.
  mutating func relaxDifferences(from count: Int) {
    for index in count..<differences.count where differences[index].effect == .custom {
      (differences[index].effect, differences[index].reason) = (.lightweight, nil)
    }
  }

  private mutating func compareEntities() {
    let merged = mergedHierarchies
    for entity in new.entities.sortedByName() {
      if let former = formerEntities[ObjectIdentifier(entity)] {
        compare(former, entity, inMergedHierarchy: merged)
      } else {
        add(.added, .entity, of: entity, nil, .lightweight)
        noteMovedProperties(to: entity)
      }
    }
    for entity in old.entities.sortedByName()
    where laterEntities[ObjectIdentifier(entity)] == nil {
      add(
        .removed, .entity, of: entity, nil, .lightweight,
        entity.isAbstract ? nil : "Its rows aren't carried over.")
    }
  }

  /// The entities of the earlier model, by name, that had no common ancestor but have one in the
  /// later model, by the root of their later hierarchy.
  private var mergedHierarchies: [ObjectIdentifier: [NSEntityDescription]] {
    var formers: [ObjectIdentifier: [NSEntityDescription]] = [:]
    for entity in new.entities.sortedByName() {
      guard let former = formerEntities[ObjectIdentifier(entity)] else { continue }
      formers[ObjectIdentifier(entity.rootEntity), default: []].append(former)
    }
    return formers.filter { Set($0.value.map { ObjectIdentifier($0.rootEntity) }).count > 1 }
  }

  private mutating func compareModels() {
    if old.versionIdentifiers != new.versionIdentifiers {
      add(
        .changed, .model,
        detail: "version identifiers from \(Self.names(old)) to \(Self.names(new))", .none)
    }
    for name in Set(old.configurations).union(new.configurations).sorted() {
      let members = [old, new].map { model in
        model.entities(forConfigurationName: name)?.compactMap(\.name).sorted()
      }
      guard members[0] != members[1] else { continue }
      let texts = members.map { $0?.joined(separator: ", ") }
      let kind = Self.kind(texts[0], texts[1])
      add(
        kind, .configuration, of: nil, name,
        detail: kind == .changed ? "entities from \(texts[0] ?? "") to \(texts[1] ?? "")" : nil,
        .none)
    }
    let requests = [old, new].map { model in
      Dictionary(
        model.fetchRequestTemplates.map { ($0.name, $0.outline) },
        uniquingKeysWith: { first, _ in first })
    }
    for name in Set(requests[0].keys).union(requests[1].keys).sorted() {
      let (before, after) = (requests[0][name], requests[1][name])
      guard before != after else { continue }
      let kind = Self.kind(before, after)
      add(
        kind, .fetchRequest, of: nil, name,
        detail: kind == .changed ? "from (\(before ?? "")) to (\(after ?? ""))" : nil, .none)
    }
  }

  /// Returns whether something was added, removed, or changed, from its earlier and later
  /// description.
  static func kind(_ before: String?, _ after: String?) -> ModelDifference.Kind {
    before == nil ? .added : after == nil ? .removed : .changed
  }

  private static func names(_ model: NSManagedObjectModel) -> String {
    let names = model.versionIdentifiers.map { "\"\($0)\"" }.sorted()
    return names.isEmpty ? "none" : names.joined(separator: ", ")
  }
}

/// A difference between a model and an earlier one.
package struct ModelDifference: Sendable, Hashable {
  /// The kind of change.
  package enum Kind: String, Sendable {
    case added
    case removed
    case renamed
    /// Another entity of the hierarchy now declares the property.
    case moved
    case changed
  }

  /// The kind of element that changed.
  package enum Subject: String, Sendable {
    case model
    case entity
    case attribute
    case relationship
    case fetchedProperty = "fetched property"
    case index
    case constraint = "uniqueness constraint"
    case configuration
    case fetchRequest = "fetch request"
  }

  package var kind: Kind
  package var subject: Subject
  /// The name of the entity in the later model, or in the earlier one if it was removed.
  package var entity: String?
  /// The name of the property, index, constraint, configuration, or fetch request.
  package var name: String?
  /// The earlier name, or the entity that declared it before.
  package var former: String?
  /// What changed, such as `type from Integer 16 to String`.
  package var detail: String?
  /// The effect on a store created with the earlier model.
  package var effect: MigrationEffect
  /// The reason for the effect, or advice, as a sentence.
  package var reason: String?

  /// Whether the expression of a derived attribute changed, which isn't part of a version hash.
  package var isOfDerivation: Bool { detail?.hasPrefix("derivation from ") == true }

  /// The path of the subject, such as `Animal` or `Animal.name`, or only its name.
  package var path: String {
    [entity, name].compactMap { $0 }.joined(separator: ".")
  }
}

/// The effect of a difference between two models on a store created with the earlier one.
///
/// The cases are in ascending order.
package enum MigrationEffect: String, Sendable, Comparable, CaseIterable {
  /// The store opens without migration: the version hashes are equal.
  case none
  /// The store is migrated with an inferred mapping.
  case lightweight
  /// No mapping can be inferred; a custom mapping model is needed.
  case custom

  package static func < (left: MigrationEffect, right: MigrationEffect) -> Bool {
    (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
  }
}

/// Matches entities and properties of a later model with those of an earlier one.
enum RenamingMatch {
  /// Returns the pairs of corresponding properties of two versions of an entity, including
  /// inherited ones, in the order of the later names.
  static func properties(
    of old: NSEntityDescription, _ new: NSEntityDescription
  ) -> [(old: NSPropertyDescription, new: NSPropertyDescription)] {
    let properties = [old, new].map { entity in
      entity.propertiesByName.values.sortedByName()
    }
    return pairs(
      properties[0], properties[1], name: \.name, identifier: { $0.renamingIdentifier },
      unless: losesValues)
  }

  /// Returns the pairs of corresponding elements of two versions of a composite attribute.
  static func elements(
    of old: NSCompositeAttributeDescription, _ new: NSCompositeAttributeDescription
  ) -> [(old: NSAttributeDescription, new: NSAttributeDescription)] {
    let elements = [old, new].map { composite in composite.elements.sortedByName() }
    return pairs(
      elements[0], elements[1], name: \.name, identifier: { $0.renamingIdentifier },
      unless: losesValues)
  }

  /// Returns whether a stored property can't continue another one, so that no mapping could be
  /// inferred if they corresponded.
  private static func losesValues(
    _ old: NSPropertyDescription, _ new: NSPropertyDescription
  ) -> Bool {
    guard old.subject == new.subject else { return true }
    guard old.isStored, new.isStored else { return false }
    switch (old, new) {
    case (let old as NSAttributeDescription, let new as NSAttributeDescription):
      guard old.attributeType == new.attributeType else {
        return !old.attributeType.isConvertedByInference(to: new.attributeType)
      }
      return old.hasExternalValues && !new.hasExternalValues
    case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
      return old.isToMany && !new.isToMany
    default: return false
    }
  }

  /// Returns the pairs of corresponding members, by renaming identifier or else by name, in the
  /// order of the later ones.
  ///
  /// - Parameter isObstacle: Whether two members can't correspond only because they have the same
  ///   name, if the later one has another identifier.
  static func pairs<Member: AnyObject>(
    _ old: [Member], _ new: [Member], name: (Member) -> String, identifier: (Member) -> String?,
    unless isObstacle: (_ old: Member, _ new: Member) -> Bool = { _, _ in false }
  ) -> [(old: Member, new: Member)] {
    func isExplicit(_ member: Member) -> Bool {
      identifier(member).map { $0 != name(member) } ?? false
    }
    var byName: [String: Member] = [:]
    var byIdentifier: [String: Member] = [:]
    for member in old {
      byName[name(member)] = byName[name(member)] ?? member
      guard isExplicit(member), let identifier = identifier(member) else { continue }
      byIdentifier[identifier] = byIdentifier[identifier] ?? member
    }
    func unrenamed(_ name: String) -> Member? {
      byName[name].flatMap { isExplicit($0) ? nil : $0 }
    }
    var used: Set<ObjectIdentifier> = []
    var found: [ObjectIdentifier: Member] = [:]
    func take(_ candidate: (Member) -> Member?) {
      for member in new where found[ObjectIdentifier(member)] == nil {
        guard let former = candidate(member), used.insert(ObjectIdentifier(former)).inserted else {
          continue
        }
        found[ObjectIdentifier(member)] = former
      }
    }
    // The identifier is the name in the first version; without one, it's the current name. Another
    // member can have the first name of one that was renamed before.
    take { member in
      byName[name(member)].flatMap {
        isExplicit(member) && identifier($0) == identifier(member) ? $0 : nil
      }
    }
    take { isExplicit($0) ? identifier($0).flatMap { byIdentifier[$0] } : nil }
    take { isExplicit($0) ? identifier($0).flatMap { unrenamed($0) } : nil }
    take { isExplicit($0) ? nil : unrenamed(name($0)) ?? byIdentifier[name($0)] }
    // Some models have the name in the previous version as the identifier.
    take { isExplicit($0) ? identifier($0).flatMap { byName[$0] } : nil }
    // The identifier can be a name that a version in between had; what that one replaced may have
    // had the same name, and no values that can be kept.
    take { member in
      byName[name(member)].flatMap { isExplicit(member) && isObstacle($0, member) ? nil : $0 }
    }
    return new.compactMap { member in
      found[ObjectIdentifier(member)].map { (old: $0, new: member) }
    }
  }
}

extension ModelDifference {
  /// The smallest change of the later model that makes the migration lightweight, as a sentence;
  /// `nil` if it's lightweight already.
  package var leastChange: String? {
    guard effect == .custom else { return nil }
    let detail = detail ?? ""
    let property = name ?? ""
    if subject == .entity {
      return "Leave the parent of \(path) as it was, and declare common properties in each entity."
    }
    if detail.hasPrefix("type of element") {
      return "Leave the element as it was, and add one with another name."
    }
    if detail.hasPrefix("type from") {
      return
        "Leave the type of \(property), and add an attribute of the new type with another name, "
        + "which your code fills."
    }
    if detail.hasPrefix("external storage of element") {
      return "Leave external storage of the element on."
    }
    if detail.hasPrefix("external storage") {
      return "Leave external storage of \(property) on."
    }
    if detail.hasPrefix("to one now") {
      return
        "Leave \(property) to-many, and add a to-one relationship with another name, which your code "
        + "sets."
    }
    if detail.hasPrefix("inverse from") {
      return "Leave the inverse of \(property) to-many."
    }
    if detail.hasPrefix("destination from") {
      return
        "Leave the destination of \(property), and add a relationship with another name, which your "
        + "code sets."
    }
    return "Give the new \(property) another name and no renaming identifier."
  }
}
