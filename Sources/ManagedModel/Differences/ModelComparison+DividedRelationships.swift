extension ModelComparison {
  /// Adds each to-many relationship whose objects would be divided between several relationships.
  ///
  /// This is the case if an entity leaves a hierarchy and declares an inherited relationship again,
  /// while the inherited one or its inverse stays. The destinations of both are in the same column
  /// or join table.
  mutating func compareDividedRelationships() {
    let heirs = laterRelationships
    for entity in old.entities.sortedByName() {
      for property in entity.ownProperties.sortedByName() {
        guard let former = property as? NSRelationshipDescription, former.isToMany,
          former.isStored
        else { continue }
        let later = heirs[ObjectIdentifier(former)] ?? []
        let inverses =
          former.inverseRelationship.flatMap { heirs[ObjectIdentifier($0)] } ?? []
        let parts = later.filter { hasLeft(former, for: $0) }
        let successor = laterEntities[ObjectIdentifier(entity)]
        guard let part = parts.first(where: { $0.entity !== successor }) ?? parts.first,
          let other = (later + inverses).first(where: {
            $0 !== part && $0 !== part.inverseRelationship
          })
        else { continue }
        add(
          .changed, .relationship, of: part.entity, part.name,
          detail: "continues \(former)", .custom,
          "An inferred mapping can't divide the objects of \(former) between \(part) and \(other).")
      }
    }
  }

  /// The stored relationships of the later model, by the one of the earlier model that each
  /// continues.
  private var laterRelationships: [ObjectIdentifier: [NSRelationshipDescription]] {
    var later: [ObjectIdentifier: [NSRelationshipDescription]] = [:]
    for entity in new.entities.sortedByName() {
      let formers = formerProperties[ObjectIdentifier(entity)] ?? [:]
      for relationship in entity.relationshipsByName.values.sortedByName()
      where relationship.isStored {
        guard let former = formers[ObjectIdentifier(relationship)] else { continue }
        let known = later[ObjectIdentifier(former)] ?? []
        guard !known.contains(where: { $0 === relationship }) else { continue }
        later[ObjectIdentifier(former)] = known + [relationship]
      }
    }
    return later
  }

  /// Returns whether objects that have a relationship stay, but don't have the later one.
  private func hasLeft(
    _ former: NSRelationshipDescription, for later: NSRelationshipDescription
  ) -> Bool {
    guard let owner = former.entity, let heir = later.entity else { return false }
    var family = [owner]
    while let entity = family.popLast() {
      if !entity.isAbstract, let kept = laterEntities[ObjectIdentifier(entity)],
        !kept.isKind(of: heir)
      {
        return true
      }
      family += entity.subentities
    }
    return false
  }
}
