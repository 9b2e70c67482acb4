package import Foundation
package import OpenCoreData
import SQLiteDriver
package import StoreTools
import WorkbenchText

/// What a migration of a store would do, as rehearsed on a copy.
package struct MigrationRehearsal {
  /// A statement, or a pass over an entity mapping.
  package struct Work: Sendable {
    /// What it does, such as `Mood: add ZRATING`, or `MoodToMood: create instances`.
    package let name: String
    /// The statement; for a pass, its different statements.
    package let sql: String
    /// The number of rows that were inserted, updated, or deleted.
    package let rows: Int
    package let seconds: Double
    /// The number of source instances of a pass; `nil` for a statement.
    package let instances: Int?
  }

  /// The rehearsal of one step.
  package struct Step: Sendable {
    /// The names of the versions.
    package let from: String
    package let to: String
    /// Whether the mapping is inferred.
    package let isInferred: Bool
    /// The names of the entity mappings; empty if the step is inferred.
    package let mappings: [String]
    /// The differences of the versions that are migrated, each with its rule.
    package let differences: [ModelDifference]
    /// The removed and added parts of the model that could be renames.
    package let suspectedRenames: [SuspectedRename]
    /// What isn't carried over.
    package let losses: [MigrationLoss]
    /// What was done, in order.
    package fileprivate(set) var work: [Work] = []
    /// What fails the migration.
    package fileprivate(set) var violations: [MigrationTrial.Violation] = []
    package fileprivate(set) var costs = MigrationCosts()

    /// The number of rows that were written.
    package var rows: Int { work.reduce(0) { $0 + $1.rows } }
  }

  /// The reason why the migration isn't possible here.
  package enum Refusal: Sendable {
    /// The mapping can't be inferred, and there's no mapping model.
    case notInferable(MigrationPlanner.Gap)
    /// The mapping models of a step name policies.
    case policies([MigrationRoute.Policy], from: String, to: String)
  }

  /// What a rehearsal does in addition.
  package struct Options {
    /// A new file for the migrated copy, or for a copy of a store that already has the version;
    /// `nil` to remove it.
    ///
    /// It's also removed if the migration is refused or has violations.
    package var destination: URL?
    /// The factors by which larger copies multiply each object; `nil` for automatic sizes, empty
    /// for none.
    package var factors: [Int]?
    /// Called with what is done next, in a few words.
    package var progress: (String) -> Void

    package init(
      destination: URL? = nil, factors: [Int]? = nil,
      progress: @escaping (String) -> Void = { _ in }
    ) {
      (self.destination, self.factors, self.progress) = (destination, factors, progress)
    }
  }

  /// The way to the version.
  package let route: MigrationRoute
  /// The reason why the migration isn't possible; `nil` if it's possible.
  package private(set) var refusal: Refusal?
  /// The steps that were rehearsed: those before a refused one, and those up to one with
  /// violations.
  package private(set) var steps: [Step] = []
  /// The problems of the migrated copy; `nil` if it isn't migrated or has violations.
  package private(set) var doctor: DoctorReport?
  /// Whether the migrated copy has problems that the store doesn't have, by rule, entity, and
  /// property.
  package private(set) var hasNewFindings = false
  /// Whether the migrated copy has errors, of whatever rule, that the store doesn't have.
  package private(set) var hasNewErrors = false
  /// How the time grows with the rows; `nil` if the migration isn't complete, or no sizes are
  /// wanted.
  package private(set) var growth: MigrationGrowth?
  /// The bytes of the store before and after.
  package private(set) var sizes = (before: 0, after: 0)
  /// What to know before the migration, each in a sentence or two.
  package private(set) var warnings: [String]

  /// The store.
  package var store: URL { route.store }
  /// The name of the version to migrate to.
  package var version: String { route.destination.name }
  /// Whether the store already has the version.
  package var isCurrent: Bool { route.isCurrent }
  /// Whether all steps are inferred, and none is refused.
  package var isInferred: Bool {
    if refusal != nil { return false }
    return route.steps.allSatisfy(\.mappingModels.isEmpty)
  }
  /// What would be lost, step by step.
  package var losses: [MigrationLoss] { steps.flatMap(\.losses) }
  /// What fails the migration.
  package var violations: [MigrationTrial.Violation] { steps.flatMap(\.violations) }
  /// The seconds that all steps took.
  package var seconds: Double { steps.reduce(0) { $0 + $1.costs.seconds } }

  /// Whether the migration succeeds.
  package var isPossible: Bool { refusal == nil && violations.isEmpty }

  /// Whether the migration preserves everything.
  package var isPreserving: Bool {
    isPossible && losses.isEmpty && !hasNewFindings
  }

  /// Copies a store, and migrates the copy.
  ///
  /// No file of the store is modified. **Cost:** the time and space of copying the store and of the
  /// migration; one `SELECT COUNT` for each entity and property that isn't kept; those of `doctor`;
  /// the larger copies. An XML or binary store has no SQL, isn't examined by `doctor`, and has no
  /// larger copies.
  /// - Parameters:
  ///   - route: The way, which may be refused.
  ///   - options: What to do in addition.
  /// - Throws: SQLite's errors, and those of the file system.
  package init(_ route: MigrationRoute, _ options: Options = Options()) throws {
    self.route = route
    warnings = route.warnings
    refusal = route.gap.map { .notInferable($0) }
    guard refusal == nil else { return }
    guard !route.isCurrent else {
      if let destination = options.destination { try place(store, at: destination) }
      return
    }
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let copy = folder.appendingPathComponent(isDatabase ? "Store.sqlite" : "Store.document")
    options.progress("copying the store")
    try copyFiles(from: store, to: copy)
    sizes.before = Self.size(copy)
    let former = try isDatabase ? StoreDoctor.examine(copy).findings : []
    // The migration reports a schema that can't be read.
    let costly = isDatabase ? (try? Self.costlyIndexes(of: copy)) ?? [] : []
    let limits = RehearsalLimits(seconds: costly.isEmpty ? nil : StoreLimits.rehearsalTime)
    for step in route.steps {
      let policies = MigrationRoute.policies(of: step)
      guard policies.isEmpty else {
        refusal = .policies(policies, from: step.from, to: step.to)
        break
      }
      options.progress("migrating the copy to \(step.to)")
      let begin = ContinuousClock.now
      do {
        steps.append(try rehearse(step, on: copy, in: folder, limits))
      } catch {
        throw explained(error, since: begin, costly)
      }
      if !violations.isEmpty { break }
    }
    sizes.after = Self.size(copy)
    guard isPossible else { return }
    if isDatabase {
      options.progress("checking the migrated copy")
      let report = try StoreDoctor.examine(copy)
      doctor = report
      let mappings = route.steps.map { InferredMapping(from: $0.source, to: $0.destination) }
      hasNewFindings = FindingSubject.hasNew(report.findings, since: former, mappings)
      hasNewErrors = FindingSubject.hasNew(
        report.findings.filter { $0.severity == .error },
        since: former.filter { $0.severity == .error }, mappings)
    }
    if isDatabase, options.factors?.isEmpty != true {
      growth = try MigrationGrowth.rehearse(
        store, route.steps, seconds: seconds, factors: options.factors, limits: limits,
        progress: options.progress)
    }
    addWarnings()
    // Last, so that nothing is left behind if something else fails.
    if let destination = options.destination { try place(copy, at: destination) }
  }

  /// Whether the store is a SQLite database, and not a document.
  private var isDatabase: Bool { route.type == .sqlite }

  /// Copies a file, which appears at the destination when it's complete and synced to disk.
  ///
  /// It's copied to that volume first, which can be another one.
  func place(_ source: URL, at destination: URL) throws {
    try OutputFile.making(destination) { copy in
      try copyFiles(from: source, to: copy)
      // A document has no other files.
      try OutputFile.placing(at: destination) { try StoreFile.place(copy, at: destination) }
    }
  }

  private func copyFiles(from source: URL, to destination: URL) throws {
    if isDatabase {
      try StoreFile.copy(from: source, to: destination)
    } else {
      try FileManager.default.copyItem(at: source, to: destination)
    }
  }

  private mutating func addWarnings() {
    if !losses.isEmpty, route.hasMappedDetour {
      warnings.append(
        "The versions in between have mapping models, which the direct migration doesn't use; "
          + "--progressive migrates version by version.")
    }
    guard let growth, growth.isTooSlow else { return }
    let limit = Int(MigrationGrowth.launchLimit)
    warnings.append(
      "With \(MigrationGrowth.outlook) times the rows, the migration takes longer than \(limit) s on this "
        + "machine. iOS ends an app that takes that long to launch, and the migration starts over at the "
        + "next launch. Migrate off the main thread (shouldAddStoreAsynchronously), and show progress."
    )
  }

  private static func size(_ url: URL) -> Int {
    ["", "-wal"].reduce(0) { total, suffix in
      let file = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
      return total + ((file?[.size] as? Int) ?? 0)
    }
  }

  // MARK: Steps

  private func rehearse(
    _ step: ProgressiveMigration.Step, on copy: URL, in folder: URL, _ limits: RehearsalLimits
  ) throws -> Step {
    let comparison = ModelComparison(from: step.source, to: step.destination)
    let isInferred = step.mappingModels.isEmpty
    var report = Step(
      from: step.from, to: step.to, isInferred: isInferred,
      mappings: step.mappingModels.flatMap { ($0.entityMappings ?? []).map { $0.name ?? "" } },
      differences: comparison.differences.filter {
        ($0.effect != .none || $0.isOfDerivation) && route.concerns($0)
      },
      suspectedRenames: isInferred ? comparison.suspectedRenames.filter(route.concerns) : [],
      losses: try MigrationLosses.of(step, in: copy, route.type))
    let meter = MigrationMeter(watching: folder)
    do {
      if isInferred, isDatabase {
        let trial = try MigrationTrial(
          ofCopyAt: copy, mapping: InferredMapping(from: step.source, to: step.destination),
          configuration: step.configuration, limits: limits, observer: meter.sample)
        report.costs = meter.stop()
        report.violations = trial.violations
        report.work = trial.steps.map {
          Work(name: $0.name, sql: $0.sql, rows: $0.rows, seconds: $0.seconds, instances: nil)
        }
      } else {
        let trial = try MappedMigrationTrial(
          ofCopyAt: copy, route.type, step: step, observer: meter.sample)
        report.costs = meter.stop()
        report.violations = trial.violations
        report.work = trial.parts.map { Work($0, isDatabase: isDatabase) }
      }
    } catch {
      _ = meter.stop()
      throw error
    }
    return report
  }
}

extension MigrationRehearsal.Work {
  /// Creates the work of a pass.
  ///
  /// - Parameter isDatabase: Whether rows are counted by statements. In a document, each instance
  ///   that's created is a row.
  fileprivate init(_ part: MappedMigrationTrial.Part, isDatabase: Bool) {
    name = "\(part.mapping ?? "all instances"): \(part.pass.rawValue)"
    sql = part.statements.map(\.sql).joined(separator: "\n")
    rows = isDatabase ? part.rows : part.pass == .instances ? part.instances ?? 0 : 0
    seconds = part.seconds
    instances = part.instances
  }
}

// Indexes whose functions can take arbitrarily long.

extension MigrationRehearsal {
  private static let namedIndexes = 3

  private static func costlyIndexes(of copy: URL) throws -> [String] {
    let connection = try Connection(path: copy.path, access: .inspecting)
    defer { connection.close() }
    return try IntegrityCheck.costlyIndexes(on: connection)
  }

  /// Returns the error of a step, or if it took too long, one that names the costly indexes.
  private func explained(
    _ error: any Error, since begin: ContinuousClock.Instant, _ costly: [String]
  ) -> any Error {
    let limit = StoreLimits.rehearsalTime
    guard !costly.isEmpty, ContinuousClock.now - begin >= .seconds(limit) else { return error }
    let names = costly.prefix(Self.namedIndexes).joined(separator: ", ")
    let others = costly.count - Self.namedIndexes
    let more = others > 0 ? " and \(PluralForm.counted(others, "other"))" : ""
    let indexes = PluralForm.of(costly.count, "the index", "the indexes")
    return InvalidInputError(
      kind: .unusable,
      message: "\(store.relativePath): the rehearsal takes longer than \(limit) s; functions that "
        + "can take arbitrarily long are called by \(indexes) \(names)\(more)",
      nextStep: "drop \(PluralForm.of(costly.count, "it", "them")) in a copy of the store, and "
        + "rehearse the migration of the copy")
  }
}
