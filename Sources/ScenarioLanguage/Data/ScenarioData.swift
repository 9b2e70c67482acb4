package import OpenCoreData
package import WorkbenchText

/// The data file of a scenario, made or copied.
package enum ScenarioData {
  /// What the file holds.
  package struct Contents: Sendable {
    /// Rows of each entity itself, in the order of the plan, or of the model for a copied store.
    package var counts: [EntityCount]
    /// What laws and `scale` mean on this data.
    package var scope: LawScope
  }

  /// Makes the data file.
  ///
  /// - Parameters:
  ///   - url: replaced when it exists.
  ///   - progress: told how many rows were made, and of how many.
  /// - Throws: `LawError` for a count without a value, the framework's `NSError` otherwise.
  package static func make(
    _ plan: DataPlan, model: NSManagedObjectModel, scale: Int, at url: URL,
    progress: (_ rows: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> Contents {
    switch plan.source {
    case .generated(let plans):
      let counts = try plan.counts(scale: scale)
      let total = counts.reduce(0) { $0 + $1.count }
      try StoreFile.remove(at: url)
      let builder = StoreBuilder(model: model, plans: plans, counts: counts, seed: plan.seed)
      try builder.build(at: url) { progress($0, total) }
      return Contents(
        counts: counts,
        scope: LawScope(rows: EntityCount.totals(counts, in: model), scale: scale))
    case .copied(let store):
      try StoreFile.copy(from: store, to: url)
      let counts = try self.counts(in: url, model: model)
      return Contents(
        counts: counts,
        scope: LawScope(rows: EntityCount.totals(counts, in: model), scale: scale))
    }
  }

  /// Own rows of each entity of a store, in alphabetical order.
  ///
  /// Cost: one COUNT an entity; the store is only looked at.
  package static func counts(
    in store: URL, model: NSManagedObjectModel, ignoringVersions: Bool = false
  ) throws -> [EntityCount] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: .sqlite, at: store,
      options: [
        NSReadOnlyPersistentStoreOption: true,
        NSIgnorePersistentStoreVersioningOption: ignoringVersions,
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try model.entitiesByName.keys.sorted().compactMap { name in
        guard model.entitiesByName[name]?.isAbstract == false else { return nil }
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.includesSubentities = false
        return EntityCount(name: name, count: try context.count(for: request))
      }
    }
  }
}
