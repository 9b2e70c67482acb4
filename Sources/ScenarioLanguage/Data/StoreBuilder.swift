package import OpenCoreData
package import WorkbenchText

/// Fills a new store by a plan, through the framework itself.
///
/// Entities are made after those their to-one relationships point to; the rows of an entity in their
/// order, so that row n has primary key n of its table's own count. The same seed gives the same values.
package struct StoreBuilder {
  /// Objects saved at a time, then let go: memory stays the same whatever the scale.
  private static let batch = 1_000

  private let model: NSManagedObjectModel
  private let seed: UInt64
  private let plans: [EntityPlan]
  private let counts: [String: Int]

  /// - Parameter counts: rows of each planned entity (`DataPlan.counts`).
  package init(
    model: NSManagedObjectModel, plans: [EntityPlan], counts: [EntityCount], seed: UInt64
  ) {
    self.model = model
    self.seed = seed
    self.plans = plans
    self.counts = Dictionary(counts.map { ($0.name, $0.count) }, uniquingKeysWith: { $1 })
  }

  /// Makes the store.
  ///
  /// - Parameters:
  ///   - url: a file that does not exist.
  ///   - progress: told after each save how many rows there are.
  /// - Throws: the framework's `NSError`, for instance when a named generator gives values the model
  ///   refuses.
  package func build(at url: URL, progress: (Int) -> Void = { _ in }) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    // Nobody needs a half-made file after a crash, so that nothing waits for the disk.
    try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    var made: [String: [NSManagedObjectID]] = [:]
    var rows = 0
    let order = BuildOrder(plans: plans, model: model)
    for plan in order.plans {
      var fill = EntityFill(
        plan: plan, model: model, seed: seed, late: order.late[plan.entity] ?? [])
      let count = counts[plan.entity] ?? 0
      for start in stride(from: 0, to: count, by: StoreBuilder.batch) {
        let range = start..<min(count, start + StoreBuilder.batch)
        try context.performAndWait {
          let ids = try fill.insert(rows: range, into: context, made: made)
          made[plan.entity, default: []] += ids
        }
        rows += range.count
        progress(rows)
      }
    }
    for plan in order.plans where !(order.late[plan.entity] ?? []).isEmpty {
      try relate(plan, late: order.late[plan.entity] ?? [], made: made, in: context)
    }
  }

  /// Sets the relationships that point to entities made later.
  private func relate(
    _ plan: EntityPlan, late: Set<String>, made: [String: [NSManagedObjectID]],
    in context: NSManagedObjectContext
  ) throws {
    var fill = EntityFill(plan: plan, model: model, seed: seed, late: [])
    let ids = made[plan.entity] ?? []
    let targets = fill.targets(among: made)
    for start in stride(from: 0, to: ids.count, by: StoreBuilder.batch) {
      let end = min(ids.count, start + StoreBuilder.batch)
      try context.performAndWait {
        for row in start..<end {
          let object = context.object(with: ids[row])
          fill.relate(object, row: row, only: late, to: targets, in: context)
        }
        try context.save()
        context.reset()
      }
    }
  }
}
