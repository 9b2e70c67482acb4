package import OpenCoreData

extension NSEntityDescription {
  /// The names of the entity and of all below it.
  package var namesWithSubentities: [String] {
    [name ?? ""] + subentities.flatMap(\.namesWithSubentities)
  }

  /// The names of the entities whose objects are of this entity: itself and all below it, abstract ones
  /// left out.
  package var concreteEntityNames: [String] {
    (isAbstract ? [] : [name ?? ""]) + subentities.flatMap(\.concreteEntityNames)
  }

  /// The relationships that the entity declares itself, by name.
  package var ownRelationships: [NSRelationshipDescription] {
    relationshipsByName.values.filter { $0.entity === self }.sorted { $0.name < $1.name }
  }

  /// The attributes that the entity declares itself, by name.
  package var ownAttributes: [NSAttributeDescription] {
    attributesByName.values.filter { $0.entity === self }.sorted { $0.name < $1.name }
  }
}

extension NSManagedObjectModel {
  /// The entities from the roots down, alphabetically, each with its depth.
  package var entityTree: [(depth: Int, entity: NSEntityDescription)] {
    func branch(
      _ entities: [NSEntityDescription], _ depth: Int
    ) -> [(depth: Int, entity: NSEntityDescription)] {
      entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        .flatMap { [(depth, $0)] + branch($0.subentities, depth + 1) }
    }
    return branch(entities.filter { $0.superentity == nil }, 0)
  }
}
