import OpenCoreData

extension NSEntityDescription {
  /// The names of the entity and of all below it.
  var namesWithSubentities: [String] {
    [name ?? ""] + subentities.flatMap(\.namesWithSubentities)
  }

  /// The names of the entities whose objects are of this entity: itself and all below it, abstract ones
  /// left out.
  var concreteEntityNames: [String] {
    (isAbstract ? [] : [name ?? ""]) + subentities.flatMap(\.concreteEntityNames)
  }
}
