import ManagedModel

extension NSManagedObjectModel {
  /// The entities in the order of their numbers: roots by name, each followed by its descendants.
  ///
  /// The first entity has number 1.
  var entitiesInNumberingOrder: [NSEntityDescription] {
    func withDescendants(_ entity: NSEntityDescription) -> [NSEntityDescription] {
      [entity] + entity.numberedSubentities.flatMap(withDescendants)
    }
    return NSEntityDescription.inNumberingOrder(entities.filter { $0.superentity == nil })
      .flatMap(withDescendants)
  }
}
