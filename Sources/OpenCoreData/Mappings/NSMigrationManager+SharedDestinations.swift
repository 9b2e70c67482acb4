import ManagedModel

extension NSMigrationManager {
  /// Checks that destination instances aren't taken from another object that refers to them.
  ///
  /// Does nothing unless the mapping is inferred. **Cost:** the faults of the instances.
  /// - Parameters:
  ///   - others: The instances that a relationship is about to get.
  ///   - relationship: A relationship; only one with a to-one inverse has such instances.
  ///   - owner: The object of the relationship.
  /// - Throws: 134110, as a migration in place does.
  final func checkOwners(
    of others: [NSManagedObject], _ relationship: NSRelationshipDescription,
    _ owner: NSManagedObject
  ) throws {
    guard refusesSharedDestinations, let inverse = relationship.inverseRelationship,
      !inverse.isToMany
    else { return }
    for other in others {
      let known = other.value(forKey: inverse.name) as? NSManagedObject
      guard let known, known !== owner else { continue }
      let failure = MigrationFailure(
        problem: .sharedDestination, entity: owner.entity.name ?? "", property: relationship.name,
        rows: 1)
      throw NSError.coreData(
        NSMigrationError, failure.reason,
        ["entity": failure.entity, "property": failure.property, "reason": failure.reason])
    }
  }
}
