import ManagedModel
import ProfileEvents
import Synchronization

/// The three passes of a migration over the entity mappings of one mapping model.
///
/// Used on the migration's thread, on the queues of both contexts.
final class MigrationPasses {
  /// The mapping that is being processed.
  private(set) var current = NSEntityMapping()
  unowned let manager: NSMigrationManager
  private var observer: (Double) -> Void = { _ in }
  private let plans: [EntityMappingPlan]
  private let policies: [NSEntityMigrationPolicy]
  private let positions: [ObjectIdentifier: Int]
  /// The names of the source entities that have a mapping.
  private let mapped: Set<String>

  /// The step that is running, for the log.
  private var step: (name: String, mapping: NSEntityMapping, begin: UInt64)?
  /// The number of steps that have begun: each mapping is one in each pass.
  private var stepCount = 0

  /// Resolves the mappings.
  ///
  /// - Throws: 134170 if there's no class for a policy.
  init(
    _ manager: NSMigrationManager, _ mapping: NSMappingModel,
    _ models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)
  ) throws {
    self.manager = manager
    let mappings = mapping.entityMappings ?? []
    let entities = mappings.map { mapping in
      (mapping.name ?? "", mapping.sourceEntityName.flatMap { models.source.entitiesByName[$0] })
    }
    // Those of mapping models that were used before may have created related instances.
    let earlier: [(String, NSEntityDescription?)] =
      manager.knownNames.dropFirst(mappings.count).map { ($0, nil) }
    let plans = zip(mappings, entities).map { mapping, entity in
      EntityMappingPlan(
        mapping, entity.1,
        mapping.destinationEntityName.flatMap { models.destination.entitiesByName[$0] },
        among: entities + earlier)
    }
    let policies = try mappings.map { try NSEntityMigrationPolicy.make(for: $0) }
    let sources = plans.compactMap(\.source?.name)
    let arePlain = policies.map { type(of: $0) == NSEntityMigrationPolicy.self }
    let isPlain = arePlain.allSatisfy { $0 } && Set(sources).count == sources.count
    self.plans = zip(plans, arePlain).map { plan, isPlainPolicy in
      let plan = isPlain ? plan.withoutRedundantSteps(among: plans) : plan
      return isPlainPolicy ? plan.settingOneSide() : plan
    }
    self.policies = policies
    positions = Dictionary(
      mappings.enumerated().map { (ObjectIdentifier($1), $0) },
      uniquingKeysWith: { first, _ in first })
    mapped = manager.mappedEntities.union(mappings.compactMap(\.sourceEntityName))
  }

  /// Returns the resolved form of a mapping; `nil` for one of another model.
  func plan(for mapping: NSEntityMapping) -> EntityMappingPlan? {
    positions[ObjectIdentifier(mapping)].map { plans[$0] }
  }

  /// Runs the passes and saves the destination.
  ///
  /// - Parameter observer: Called with how much is complete, from 0 to 1.
  func run(_ report: MigrationProgress, _ observer: @escaping (Double) -> Void) throws {
    self.observer = observer
    manager.sourceContext.faultError = nil
    manager.destinationContext.faultError = nil
    report.expect(3 * plans.count)
    for (plan, policy) in zip(plans, policies) {
      try begin(plan, report)
      try policy.begin(plan.mapping, with: manager)
      try createInstances(plan, policy, report)
      try policy.endInstanceCreation(forMapping: plan.mapping, manager: manager)
      try saveBatch(report)
    }
    for (plan, policy) in zip(plans, policies) {
      try begin(plan, report)
      try createRelationships(plan, policy, report)
      try policy.endRelationshipCreation(forMapping: plan.mapping, manager: manager)
      try saveBatch(report)
    }
    for (plan, policy) in zip(plans, policies)
    where type(of: policy) == NSEntityMigrationPolicy.self {
      try orderRelationships(plan, report)
    }
    for (plan, policy) in zip(plans, policies) {
      try begin(plan, report)
      try policy.performCustomValidation(forMapping: plan.mapping, manager: manager)
    }
    try saveBatch(report)
    endStep()
    if manager.validatesInstances { try validate(report) }
    for (plan, policy) in zip(plans, policies) { try policy.end(plan.mapping, manager: manager) }
    try saveBatch(report)
    manager.completeDestination()
    try manager.destinationContext.saveMetadata()
  }

  /// Throws the error of a value or a batch that couldn't be read and would be lost.
  ///
  /// An external data file that doesn't exist is lost already.
  func checkReading() throws {
    try checkReading(in: manager.sourceContext)
    try checkReading(in: manager.destinationContext)
  }

  private func checkReading(in context: NSManagedObjectContext) throws {
    guard let error = context.faultError else { return }
    context.faultError = nil
    if FileErrorText.errno(of: error) != ENOENT { throw error }
  }

  private func begin(_ plan: EntityMappingPlan, _ report: MigrationProgress) throws {
    current = plan.mapping
    manager.beganMapping(plan.mapping)
    beginStep(plan)
    report.beginPart()
    observer(Double(report.fraction))
    try report.check()
  }

  private func beginStep(_ plan: EntityMappingPlan) {
    guard manager.log != nil else { return }
    endStep()
    let passes = ["create instances", "create relationships", "validate"]
    let pass = passes[min(stepCount / max(plans.count, 1), passes.count - 1)]
    step = ("\(plan.name): \(pass)", plan.mapping, MonotonicClock.now())
    stepCount += 1
  }

  /// Writes the step that was running to the log.
  private func endStep() {
    guard let step else { return }
    let seconds = Double(MonotonicClock.now() - step.begin) / 1e9
    manager.log?.step(
      step.name, rows: manager.associations(of: step.mapping).count, seconds: seconds)
    self.step = nil
  }

  private func createInstances(
    _ plan: EntityMappingPlan, _ policy: NSEntityMigrationPolicy, _ report: MigrationProgress
  ) throws {
    guard let instances = try sources(of: plan, policy) else { return }
    for (index, source) in instances.enumerated() {
      try report.check()
      if plan.source.map({ plan.mapping.migrates(source.entity, $0, unless: mapped) }) ?? true {
        try policy.createDestinationInstances(
          forSource: source, in: plan.mapping, manager: manager)
        try checkReading()
      }
      // Instances that another mapping migrates are released, too.
      if (index + 1).isMultiple(of: manager.batchSize) {
        try saveBatch(report)
        report.complete(index + 1, of: instances.count)
        observer(Double(report.fraction))
      }
    }
  }

  /// Returns the source instances of a mapping, loaded in batches; `nil` for an added or removed
  /// entity.
  private func sources(
    of plan: EntityMappingPlan, _ policy: NSEntityMigrationPolicy
  ) throws -> AnyRandomAccessCollection<NSManagedObject>? {
    let mapping = plan.mapping
    guard mapping.mappingType != .removeEntityMappingType else { return nil }
    // Entities of other configurations are in other stores.
    if let source = plan.source, !isStored(source, in: manager.sourceContext) { return nil }
    if let destination = plan.destination, type(of: policy) == NSEntityMigrationPolicy.self,
      !isStored(destination, in: manager.destinationContext)
    {
      return nil
    }
    guard
      let expression = mapping.sourceExpression
        ?? plan.source?.name.map({ MappingExpression.fetch($0) })
    else { return nil }
    if case .fetch(let request, _, countOnly: false) = expression.node,
      let request = try manager.value(of: request, for: mapping, nil, nil, nil, policy).original
        as? NSFetchRequest<NSManagedObject>
    {
      request.fetchBatchSize = manager.batchSize
      request.returnsObjectsAsFaults = false
      return AnyRandomAccessCollection(try manager.sourceContext.fetchBatched(request))
    }
    let value = try manager.value(of: expression, for: mapping, nil, nil, nil, policy).original
    let list = value as? [Any] ?? [value].compactMap { $0 }
    return AnyRandomAccessCollection(list.compactMap { $0 as? NSManagedObject })
  }

  /// Returns whether the store of a context can contain instances of an entity.
  func isStored(
    _ entity: NSEntityDescription, in context: NSManagedObjectContext
  ) -> Bool {
    context.coordinator?.stores(containing: EntityLayout.of(entity)).isEmpty == false
  }

  private func createRelationships(
    _ plan: EntityMappingPlan, _ policy: NSEntityMigrationPolicy, _ report: MigrationProgress
  ) throws {
    // A policy may set relationships of a mapping that has none.
    guard plan.setsRelationships || type(of: policy) != NSEntityMigrationPolicy.self else { return }
    manager.recordAssociations()
    let known = manager.associations(of: plan.mapping)
    var start = 0
    while start < known.count {
      let range = start..<min(start + manager.batchSize, known.count)
      let sources = try manager.sourceContext.load(
        known.sources(in: range), prefetching: plan.prefetchPaths)
      let objects = try manager.loadDestinations(of: known, in: range)
      let related = try manager.destinationContext.load(plan.related(to: sources, manager)[...])
      for object in objects {
        try report.check()
        try policy.createRelationships(
          forDestination: object, in: plan.mapping, manager: manager)
        try checkReading()
      }
      withExtendedLifetime((sources, related)) {}
      try saveBatch(report)
      report.complete(range.upperBound, of: known.count)
      observer(Double(report.fraction))
      start = range.upperBound
    }
  }

  /// Saves what a batch has changed, and releases its instances.
  func saveBatch(_ report: MigrationProgress) throws {
    try report.check()
    try checkReading()
    manager.noteDeletions()
    while manager.destinationContext.hasChanges {
      do {
        try manager.destinationContext.save()
        break
      } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
        try manager.fail(for: error)
      }
    }
    manager.recordAssociations()
    for context in [manager.destinationContext, manager.sourceContext] {
      context.endReadTransaction()
      context.sweep()
      // Instances that a policy retains, or that refer to each other.
      guard context.registry.count > 0 else { continue }
      context.refreshAllObjects()
      // The notification retains the refreshed objects.
      context.processPendingChanges()
      context.endReadTransaction()
      context.sweep()
    }
  }
}

extension NSManagedObjectContext {
  /// Loads the rows of objects of one entity hierarchy or several, and returns the objects.
  ///
  /// **Cost:** one SELECT for each entity among them, and one for each prefetched step.
  final func load(
    _ identities: ArraySlice<FetchedIdentity>, prefetching paths: [String] = []
  ) throws -> [NSManagedObject] {
    let objects = identities.map { registered($0.layout, $0.primaryKey) }
    let needed = paths.isEmpty ? objects.filter(\.isFault) : objects
    let faults = Dictionary(grouping: needed) { ObjectIdentifier($0.entity) }
    for group in faults.values {
      guard let entity = group.first?.entity else { continue }
      let request = NSFetchRequest<NSManagedObject>()
      request.entity = entity
      request.predicate = NSComparisonPredicate(
        leftExpression: .expressionForEvaluatedObject(),
        rightExpression: NSExpression(forConstantValue: group), modifier: .direct, type: .in,
        options: [])
      request.returnsObjectsAsFaults = false
      request.includesSubentities = false
      request.relationshipKeyPathsForPrefetching = paths
      _ = try fetch(request)
    }
    return objects
  }
}

/// How much of a migration is complete, and whether it was cancelled.
///
/// Any thread can read and cancel it.
final class MigrationProgress: Sendable {
  /// The units of a complete migration.
  static let unitCount: Int64 = 10_000

  private struct State {
    var isRunning = false
    var parts = 1
    var part = 0
    var fraction = 1.0
    var cancellation: (any Error)?
  }

  private let state = Mutex(State())
  private let progress: Progress

  init(_ progress: Progress) {
    self.progress = progress
  }

  /// From 0 to 1; 1 if no migration is running.
  var fraction: Float { state.withLock { Float($0.fraction) } }

  /// Starts a migration.
  func begin() {
    state.withLock { $0 = State(isRunning: true, fraction: 0) }
    progress.completedUnitCount = 0
  }

  /// Ends the migration.
  func end() {
    state.withLock { $0 = State() }
    progress.completedUnitCount = Self.unitCount
  }

  /// Sets the number of parts of the migration.
  func expect(_ parts: Int) {
    state.withLock {
      $0.parts = max(parts, 1)
      $0.part = -1
    }
  }

  /// Starts the next part.
  func beginPart() {
    state.withLock { $0.part += 1 }
    complete(0, of: 1)
  }

  /// Records how much of the current part is complete.
  func complete(_ count: Int, of total: Int) {
    let fraction = state.withLock { state in
      let share = total > 0 ? Double(count) / Double(total) : 1
      state.fraction = min((Double(max(state.part, 0)) + share) / Double(state.parts), 1)
      return state.fraction
    }
    progress.completedUnitCount = Int64(fraction * Double(Self.unitCount))
  }

  /// Cancels the running migration.
  func cancel(_ error: any Error) {
    state.withLock { state in
      if state.isRunning, state.cancellation == nil { state.cancellation = error }
    }
  }

  /// Throws if the migration was cancelled.
  func check() throws {
    if let error = state.withLock({ $0.cancellation }) { throw error }
    guard progress.isCancelled else { return }
    throw NSError.coreData(NSMigrationCancelledError, "The migration was cancelled.")
  }
}
