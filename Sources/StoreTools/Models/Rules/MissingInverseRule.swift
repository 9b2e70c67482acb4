import OpenCoreData
import WorkbenchText

/// Finds relationships without an inverse: nothing keeps the two sides in step.
struct MissingInverseRule: ModelRule {
  static let name = "missing-inverse"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    guard !checked.isGuessed else { return [] }
    return checked.model.entityTree.flatMap { _, entity in
      entity.ownRelationships.compactMap { relationship in
        guard relationship.inverseRelationship == nil, !relationship.isTransient,
          let destination = relationship.destinationEntity
        else { return nil }
        let effect =
          relationship.isToMany
          ? "a \(destination) can be in one object's \(relationship.name) only, and when it is "
            + "deleted nobody is told"
          : "when the \(destination) is deleted, its key stays and leads to a row that is gone"
        return finding(
          "The relationship has no inverse: \(effect).",
          "Add a relationship to \(destination) that leads back, and set both as inverses.",
          entity, relationship.name)
      }
    }
  }
}
