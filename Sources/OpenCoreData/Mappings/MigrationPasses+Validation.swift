import ManagedModel

// The rules of the destination model.

extension MigrationPasses {
  private static let maximumErrors = 1_000

  /// Checks the instances of all entities against the rules of the destination model.
  ///
  /// - Throws: 1560 with the first 1,000 errors, or the only error.
  func validate(_ report: MigrationProgress) throws {
    let context = manager.destinationContext
    var failures: [NSError] = []
    for entity in context.coordinator?.managedObjectModel.entities ?? [] {
      guard !entity.isAbstract, !EntityLayout.of(entity).rules.isEmpty,
        isStored(entity, in: context)
      else { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.fetchBatchSize = manager.batchSize
      for (index, object) in try context.fetchBatched(request).enumerated() {
        try report.check()
        do {
          try object.validateForInsert()
        } catch {
          // A value that can't be read isn't invalid.
          try checkReading()
          failures.append(error as NSError)
          if failures.count == Self.maximumErrors { try NSError.throwValidation(failures) }
        }
        if (index + 1).isMultiple(of: manager.batchSize) { try saveBatch(report) }
      }
      if manager.checksCounts { try validateCounts(of: entity, &failures) }
    }
    try NSError.throwValidation(failures)
  }

  /// Checks the numbers of destinations of the instances of an entity, of which only those with a
  /// wrong number are loaded.
  private func validateCounts(
    of entity: NSEntityDescription, _ failures: inout [NSError]
  ) throws {
    let (context, layout) = (manager.destinationContext, EntityLayout.of(entity))
    for (index, relationship) in layout.toMany.enumerated() {
      guard let condition = layout.rules.invalidCounts(of: index, relationship.name),
        let destination = relationship.destinationEntity, isStored(destination, in: context)
      else { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.predicate = condition
      request.fetchLimit = Self.maximumErrors - failures.count
      for object in try context.fetch(request) {
        var value = object.value(forKey: relationship.name)
        do {
          try object.validateValue(&value, forKey: relationship.name)
        } catch {
          try checkReading()
          failures.append(error as NSError)
        }
      }
      if failures.count == Self.maximumErrors { try NSError.throwValidation(failures) }
    }
  }
}
