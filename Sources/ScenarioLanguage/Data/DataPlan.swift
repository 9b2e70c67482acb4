package import OpenCoreData
package import WorkbenchText

/// The data a scenario runs on.
package struct DataPlan: Sendable {
  /// Where the rows come from.
  package enum Source: Sendable {
    /// Made again, entity by entity, in the order of writing.
    case generated([EntityPlan])
    /// Copied from a store, which is not changed.
    case copied(URL)
  }

  package var source: Source
  /// The same seed gives the same values.
  package var seed: UInt64

  package init(source: Source, seed: UInt64 = 1) {
    self.source = source
    self.seed = seed
  }

  /// Own rows of each planned entity, in the order of writing; empty for a copied store.
  ///
  /// A count may use the entities written before it.
  /// - Throws: `CountExpressionError` when a count has no whole value, or a negative one, and when there are more rows
  ///   than `InputLimits.rows` in all.
  package func counts(scale: Int) throws(CountExpressionError) -> [EntityCount] {
    guard case .generated(let plans) = source else { return [] }
    var scope = CountExpressionScope(scale: scale)
    var counts = [EntityCount]()
    for plan in plans {
      let count = try plan.count.value(in: scope)
      let total = counts.reduce(count) { $0 + $1.count }
      guard count >= 0, total <= InputLimits.rows else {
        let rows = total == count ? "\(count) rows of \(plan.entity) are" : "\(total) rows are"
        throw CountExpressionError(
          text: plan.count.text,
          message: count < 0
            ? "\(plan.entity) cannot have \(count) rows"
            : "\(rows) above the limit of all data, \(NumberText.grouped(InputLimits.rows))",
          place: plan.count.place)
      }
      scope.rows[plan.entity] = count
      counts.append(EntityCount(name: plan.entity, count: count))
    }
    return counts
  }
}

/// How many objects of an entity a data set has, and how their properties are made.
package struct EntityPlan: Sendable {
  /// A property with the generator named for it.
  package struct Property: Sendable {
    package var name: String
    package var generator: Generator

    package init(name: String, generator: Generator) {
      self.name = name
      self.generator = generator
    }
  }

  package var entity: String
  package var count: CountExpression
  /// Properties that are not named here get a valid value by their type.
  package var properties: [Property]

  package init(entity: String, count: CountExpression, properties: [Property] = []) {
    self.entity = entity
    self.count = count
    self.properties = properties
  }
}

/// Finds relationships that must have a destination and can get none from the planned rows.
struct DestinationCheck {
  let plans: [EntityPlan]
  /// Rows of each planned entity itself.
  let counts: [EntityCount]
  let model: NSManagedObjectModel

  /// One problem a relationship, at its entity's count.
  var problems: [LanguageProblem] {
    let rows = Dictionary(counts.map { ($0.name, $0.count) }, uniquingKeysWith: { $1 })
    let late = BuildOrder(plans: plans, model: model).late
    return plans.flatMap { plan -> [LanguageProblem] in
      guard rows[plan.entity] ?? 0 > 0, let entity = model.entitiesByName[plan.entity] else {
        return []
      }
      return EntityFill.relationships(of: entity, plan: plan).compactMap { relationship in
        guard !relationship.isOptional else { return nil }
        let name = "\(plan.entity).\(relationship.name)"
        let destination = relationship.destinationEntity
        let targets = destination?.concreteEntityNames ?? []
        guard targets.contains(where: { rows[$0] ?? 0 > 0 }) else {
          return LanguageProblem(
            "`\(name)` must have a value, and `data` has no \(destination?.name ?? "destination")",
            at: plan.count.place,
            nextStep: "give \(ModelNames.list(targets)) a count above 0")
        }
        guard late[plan.entity]?.contains(relationship.name) != true else {
          return LanguageProblem(
            "`\(name)` must have a value, and what it points to needs \(plan.entity) first",
            at: plan.count.place,
            nextStep: "make one of the relationships of the circle optional in the model")
        }
        return nil
      }
    }
  }
}

/// The order in which entities are made: after those that their to-one relationships point to.
struct BuildOrder {
  private(set) var plans: [EntityPlan] = []
  /// By entity: the relationships that can only be set when everything is made, as they point to an
  /// entity that comes later, or back to their own.
  private(set) var late: [String: Set<String>] = [:]

  init(plans written: [EntityPlan], model: NSManagedObjectModel) {
    var waiting = written
    while !waiting.isEmpty {
      let names = Set(waiting.map(\.entity))
      // With a cycle the first in the order of writing goes ahead, and the others' way back is late.
      let ready = waiting.firstIndex { plan in
        !Self.targets(of: plan, in: model).contains { !$0.entities.isDisjoint(with: names) }
      }
      let plan = waiting.remove(at: ready ?? 0)
      if ready == nil {
        for target in Self.targets(of: plan, in: model)
        where !target.entities.isDisjoint(with: names) {
          late[plan.entity, default: []].insert(target.relationship)
        }
      }
      plans.append(plan)
    }
  }

  private struct Target {
    var relationship: String
    var entities: Set<String>
  }

  private static func targets(of plan: EntityPlan, in model: NSManagedObjectModel) -> [Target] {
    guard let entity = model.entitiesByName[plan.entity] else { return [] }
    return EntityFill.relationships(of: entity, plan: plan).map { relationship in
      Target(
        relationship: relationship.name,
        entities: Set(relationship.destinationEntity?.concreteEntityNames ?? []))
    }
  }
}

/// The data file of a scenario, made or copied.
package enum ScenarioData {
  /// What the file holds.
  package struct Contents: Sendable {
    /// Rows of each entity itself, in the order of the plan, or of the model for a copied store.
    package var counts: [EntityCount]
    /// What formulas and `scale` mean on this data.
    package var scope: CountExpressionScope
  }

  /// Makes the data file.
  ///
  /// - Parameters:
  ///   - url: replaced when it exists.
  ///   - progress: told how many rows were made, and of how many.
  /// - Throws: `CountExpressionError` for a count without a value, the framework's `NSError` otherwise.
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
        scope: CountExpressionScope(rows: EntityCount.totals(counts, in: model), scale: scale))
    case .copied(let store):
      try StoreFile.copy(from: store, to: url)
      let counts = try self.counts(in: url, model: model)
      return Contents(
        counts: counts,
        scope: CountExpressionScope(rows: EntityCount.totals(counts, in: model), scale: scale))
    }
  }

  /// Own rows of each entity of a store, in alphabetical order.
  ///
  /// Cost: one COUNT an entity; the store is opened read-only.
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
