import ManagedModel

extension NSManagedObjectModel {
  /// The entities in the order of their numbers: roots by name, each followed by its descendants.
  ///
  /// The first entity has number 1. A configuration's entities come with those above them, whose
  /// columns their rows have.
  /// - Parameter configuration: Nil for all; one that the model does not have is empty.
  func entitiesInNumberingOrder(of configuration: String? = nil) -> [NSEntityDescription] {
    func withDescendants(_ entity: NSEntityDescription) -> [NSEntityDescription] {
      [entity] + entity.numberedSubentities.flatMap(withDescendants)
    }
    let all = NSEntityDescription.inNumberingOrder(entities.filter { $0.superentity == nil })
      .flatMap(withDescendants)
    guard configuration != nil else { return all }
    var wanted: Set<ObjectIdentifier> = []
    for entity in entities(forConfigurationName: configuration) ?? [] {
      var next: NSEntityDescription? = entity
      while let entity = next {
        wanted.insert(ObjectIdentifier(entity))
        next = entity.superentity
      }
    }
    return all.filter { wanted.contains(ObjectIdentifier($0)) }
  }

  /// The version hashes that a store of a configuration carries, by entity.
  func versionHashes(of configuration: String?) -> [String: Data] {
    guard configuration != nil else { return entityVersionHashesByName }
    let names = Set(entities(forConfigurationName: configuration)?.compactMap(\.name) ?? [])
    return entityVersionHashesByName.filter { names.contains($0.key) }
  }
}
