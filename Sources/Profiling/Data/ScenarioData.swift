package import Foundation
package import OpenCoreData
package import ScenarioLanguage
package import WorkbenchText

/// Creates the data file of a scenario.
package enum ScenarioData {
  /// The contents of the file.
  package struct Contents: Sendable {
    /// The row count of each entity, without subentities, in the order of the plan or, for a copied
    /// store, of the model.
    package var counts: [EntityCount]
    /// The values of the names in formulas.
    package var scope: CountExpressionScope
    /// The configuration of the model that a copied store was made with; `nil` for all entities.
    package var configuration: String?
  }

  /// Creates the data file.
  ///
  /// - Parameters:
  ///   - plan: The data to create.
  ///   - model: The model of the data.
  ///   - scale: The value of `scale`.
  ///   - url: The location of the file, which is replaced if it exists, or of the new store of
  ///     another type.
  ///   - type: The type of the store.
  ///   - options: The store's options.
  ///   - progress: A closure that receives the number of rows created so far and the total.
  /// - Throws: A `CountExpressionError` if a count has no value; a `GeneratedRowsError` if the
  ///   model doesn't allow the rows; otherwise, the framework's `NSError`.
  package static func make(
    _ plan: DataPlan, model: NSManagedObjectModel, scale: Int, at url: URL,
    type: NSPersistentStore.StoreType = .sqlite, options: [String: any Sendable] = [:],
    progress: (_ rows: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> Contents {
    switch plan.source {
    case .generated(let plans):
      let counts = try plan.counts(scale: scale)
      let total = counts.reduce(0) { $0 + $1.count }
      if type == .sqlite { try StoreFile.remove(at: url) }
      let builder = StoreBuilder(model: model, plans: plans, counts: counts, seed: plan.seed)
      try builder.build(at: url, type: type, options: options) { progress($0, total) }
      return Contents(
        counts: counts,
        scope: CountExpressionScope(rows: EntityCount.totals(counts, in: model), scale: scale))
    case .copied(let store):
      try StoreFile.copy(from: store, to: url, isSynced: false)
      let configuration = try model.configuration(ofStoreAt: url)
      let counts = try self.counts(in: url, model: model, configuration: configuration)
      return Contents(
        counts: counts,
        scope: CountExpressionScope(rows: EntityCount.totals(counts, in: model), scale: scale),
        configuration: configuration)
    }
  }

  /// Returns the row count of each entity that a store can contain, without subentities, in
  /// alphabetical order.
  ///
  /// **Cost**: one COUNT for each concrete entity. The store is opened read-only.
  package static func counts(
    in store: URL, model: NSManagedObjectModel, configuration: String? = nil,
    ignoringVersions: Bool = false
  ) throws -> [EntityCount] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: store,
      options: [
        NSReadOnlyPersistentStoreOption: true,
        NSIgnorePersistentStoreVersioningOption: ignoringVersions,
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try ModelNames(model, configuration: configuration).entities.compactMap { name in
        guard model.entitiesByName[name]?.isAbstract == false else { return nil }
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.includesSubentities = false
        return EntityCount(name: name, count: try context.count(for: request))
      }
    }
  }
}

/// The error of generated rows that the model doesn't allow, such as equal values of a uniqueness
/// constraint.
package struct GeneratedRowsError: Error, Sendable, CustomStringConvertible {
  private let entity: String
  private let reason: String
  /// The source range of the entity's count.
  private let range: SourceRange

  /// Creates the error of a save, or returns `nil` if the cause isn't the values of the rows.
  init?(_ plan: EntityPlan, _ error: NSError) {
    guard error.domain == NSCocoaErrorDomain else { return nil }
    switch error.code {
    case NSManagedObjectConstraintMergeError:
      let conflicts =
        error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
      let names = conflicts.first?.constraint.joined(separator: ", ") ?? "values"
      reason = "several have the same \(names)"
    case NSValidationMultipleErrorsError...NSValidationInvalidURIError:
      let details = ErrorText.details(of: error)
      reason = (details.isEmpty ? [ErrorText.of(error)] : details).joined(separator: " ")
    default:
      return nil
    }
    entity = plan.entity
    range = plan.count.range
  }

  /// A message with the entity and the reason.
  package var description: String { "the rows of `\(entity)` aren't valid: \(reason)" }

  /// Returns the error at the count of the entity in a scenario.
  package func diagnostics(in scenario: Scenario) -> ScenarioDiagnostics {
    let lines = Scenario.lines(of: scenario.text)
    let index = range.line - 1
    return ScenarioDiagnostics([
      ScenarioDiagnostic(
        file: scenario.path, keyPath: "data.\(entity)",
        problem: LanguageProblem(
          description, at: range,
          nextStep: "change the generators or the count, or what the model requires"),
        sourceLine: lines.indices.contains(index) ? lines[index] : nil)
    ])
  }
}
