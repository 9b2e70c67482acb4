/// An entity or property that was removed while a similar one was added, without a renaming
/// identifier.
///
/// Lightweight migration then drops the values.
package struct SuspectedRename: Sendable, Hashable {
  /// The entity of the properties in the later model; `nil` if the candidates are entities.
  package let entity: String?
  /// The name in the earlier model.
  package let removed: String
  /// The name in the later model.
  package let added: String
  /// The kind of both, such as `String` or `to-one relationship to Country`.
  package let kind: String
  /// The renaming identifier that makes the change a rename.
  package let identifier: String

  package init(
    entity: String?, removed: String, added: String, kind: String, identifier: String
  ) {
    (self.entity, self.removed, self.added) = (entity, removed, added)
    (self.kind, self.identifier) = (kind, identifier)
  }

  /// The advice, as a sentence.
  package var advice: String {
    "If \(added) is \(removed) under a new name, set its renaming identifier to \(identifier); the values "
      + "are then kept."
  }
}

extension ModelComparison {
  /// The removed and added entities and properties that could be renames.
  ///
  /// Properties are candidates if they're of the same kind and type in the same entity; entities,
  /// if at least half of their properties have the same names. **Cost:** in proportion to the names
  /// that removed and added entities share, and to the removed times the added properties of an
  /// entity, of which the first 500 are compared.
  package var suspectedRenames: [SuspectedRename] {
    renamedEntities + old.entities.sortedByName().flatMap(renames)
  }

  /// The maximum number of candidates for a removed property without a similar name.
  private static let candidateLimit = 3
  /// The maximum number of an entity's properties that are compared with each other.
  private static let comparedLimit = 500

  private var renamedEntities: [SuspectedRename] {
    let removed = old.entities.filter { laterEntities[ObjectIdentifier($0)] == nil }
    let added = new.entities.filter { formerEntities[ObjectIdentifier($0)] == nil }
      .sortedByName()
    var carriers: [String: [Int]] = [:]
    for (position, entity) in added.enumerated() {
      for name in entity.propertiesByName.keys { carriers[name, default: []].append(position) }
    }
    return removed.sortedByName().compactMap { entity in
      let names = entity.propertiesByName.keys
      var common: [Int: Int] = [:]
      for name in names {
        for position in carriers[name] ?? [] { common[position, default: 0] += 1 }
      }
      // The first one of those that share the most names.
      let best = common.max { ($0.value, $1.key) < ($1.value, $0.key) }
      guard let best,
        2 * best.value >= max(names.count, added[best.key].propertiesByName.count)
      else { return nil }
      return SuspectedRename(
        entity: nil, removed: entity.name ?? "", added: added[best.key].name ?? "", kind: "entity",
        identifier: entity.renamingIdentifier ?? entity.name ?? "")
    }
  }

  private func renames(in entity: NSEntityDescription) -> [SuspectedRename] {
    guard let later = laterEntities[ObjectIdentifier(entity)] else { return [] }
    let formers = formerProperties[ObjectIdentifier(later)] ?? [:]
    let kept = Set(formers.values.map { ObjectIdentifier($0) })
    let removed = entity.ownProperties.filter {
      $0.isStored && !kept.contains(ObjectIdentifier($0))
    }
    let added = later.ownProperties.filter {
      $0.isStored && formers[ObjectIdentifier($0)] == nil
    }
    let compared = removed.sortedByName().prefix(Self.comparedLimit)
    return compared.flatMap { property -> [SuspectedRename] in
      let candidates = added.prefix(Self.comparedLimit)
        .filter { $0.name != property.name && isSameKind(property, $0) }.map(\.name).sorted()
      let names =
        NearestName.of(property.name, among: candidates).map { [$0] }
        ?? Array(candidates.prefix(Self.candidateLimit))
      return names.map { name in
        SuspectedRename(
          entity: later.name ?? "", removed: property.name, added: name, kind: kind(of: property),
          identifier: property.renamingIdentifier ?? property.name)
      }
    }
  }

  private func isSameKind(_ old: NSPropertyDescription, _ new: NSPropertyDescription) -> Bool {
    switch (old, new) {
    case (let old as NSAttributeDescription, let new as NSAttributeDescription):
      return old.attributeType == new.attributeType && old.isDerived == new.isDerived
    case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
      let later = old.destinationEntity.flatMap { laterEntities[ObjectIdentifier($0)] }
      return old.isToMany == new.isToMany && later != nil && later === new.destinationEntity
    default: return false
    }
  }

  private func kind(of property: NSPropertyDescription) -> String {
    guard let relationship = property as? NSRelationshipDescription else {
      return (property as? NSAttributeDescription)?.attributeType.documentName ?? ""
    }
    return "\(relationship.isToMany ? "to-many" : "to-one") relationship to "
      + (relationship.destinationEntity?.name ?? "")
  }
}
