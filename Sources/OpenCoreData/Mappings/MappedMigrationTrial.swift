import ManagedModel
import ProfileEvents
import Synchronization

/// A migration with mapping models of a store that's a copy, with what each pass did and what
/// didn't fit.
package struct MappedMigrationTrial: Sendable {
  /// A pass over the instances of an entity mapping.
  package enum Pass: String, Sendable {
    case instances = "create instances"
    case relationships = "set relationships"
    /// The validation of all instances, which isn't by mapping.
    case validation = "validate"
  }

  /// A statement that ran in a pass, once or several times.
  package struct Statement: Sendable {
    package let sql: String
    /// Whether it reads rows.
    package let isSelect: Bool
    package fileprivate(set) var count = 0
    /// The rows that it read or wrote in all executions.
    package fileprivate(set) var rows = 0
    package fileprivate(set) var seconds = 0.0
  }

  /// One pass over the instances of one entity mapping.
  package struct Part: Sendable {
    /// The name of the mapping; `nil` for the validation.
    package let mapping: String?
    package let pass: Pass
    /// The number of source instances that were migrated or related; `nil` for the validation.
    package fileprivate(set) var instances: Int?
    package fileprivate(set) var seconds = 0.0
    /// The statements, in the order of their first execution.
    package fileprivate(set) var statements: [Statement] = []

    /// The number of rows that were inserted or updated.
    package var rows: Int { statements.reduce(0) { $0 + ($1.isSelect ? 0 : $1.rows) } }
  }

  /// The passes, in the order in which they ran.
  package private(set) var parts: [Part] = []
  /// Everything that fails the migration of the original, grouped by property or rule; the copy may
  /// have a state then that no migration leaves.
  package private(set) var violations: [MigrationTrial.Violation] = []

  /// Migrates a copy; unlike a migration, it continues after instances that don't fit.
  ///
  /// **Cost:** that of the migration, and an event for each statement.
  /// - Parameters:
  ///   - url: The copy.
  ///   - type: SQLite, XML, or binary.
  ///   - step: A step; the mapping is inferred if it has no mapping models.
  ///   - observer: Called at moments at which files are large: after batches, and before the copy
  ///     is replaced.
  /// - Throws: Errors that aren't about the data, as `ProgressiveMigration.run(options:)`.
  package init(
    ofCopyAt url: URL, _ type: NSPersistentStore.StoreType, step: ProgressiveMigration.Step,
    observer: @escaping () -> Void = {}
  ) throws {
    let recorder = PassRecorder()
    var migration = MappedMigration(
      url: url, source: step.source, destination: step.destination,
      mappings: step.mappings, configuration: step.configuration, options: nil, type: type,
      report: { _ in observer() })
    migration.isInferred = step.mappingModels.isEmpty
    migration.keepsOldStore = false
    var failures = InstanceFailures()
    migration.prepare = { manager in
      recorder.observe(manager)
      manager.failed = { failures.add($0) }
    }
    do {
      try migration.run()
      violations = failures.violations
    } catch {
      let error = NSError.migrating(error, url) as NSError
      guard let found = Self.violations(in: error, besides: failures) else { throw error }
      violations = failures.violations + found
    }
    parts = recorder.finish()
  }

  /// Returns what an error reports about the data; `nil` for an error of another kind.
  private static func violations(
    in error: NSError, besides failures: InstanceFailures
  ) -> [MigrationTrial.Violation]? {
    let isValidation = (NSManagedObjectValidationError...1_690).contains(error.code)
    guard error.domain == NSCocoaErrorDomain else { return nil }
    if isValidation {
      return grouped(
        error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error], besides: failures)
    }
    let isAboutData =
      error.code == NSMigrationConstraintViolationError
      || error.code == NSMigrationError && error.userInfo["entity"] != nil
    guard isAboutData else { return nil }
    return [
      MigrationTrial.Violation(
        entity: error.userInfo["entity"] as? String ?? "",
        property: error.userInfo["property"] as? String ?? "", rows: nil,
        reason: error.localizedDescription)
    ]
  }

  /// Returns a violation for each rule, in the order of their first errors, without the values that
  /// are missing because others didn't fit.
  private static func grouped(
    _ errors: [NSError], besides failures: InstanceFailures
  ) -> [MigrationTrial.Violation] {
    struct Rule: Hashable {
      let entity: String
      let property: String
      let text: String
      let isOfMissingValues: Bool
    }
    var order: [Rule] = []
    var counts: [Rule: Int] = [:]
    for error in errors {
      let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
      let rule = Rule(
        entity: object?.entity.name ?? "",
        property: error.userInfo[NSValidationKeyErrorKey] as? String ?? "",
        text: error.brokenRule, isOfMissingValues: error.isOfMissingValue)
      if counts[rule] == nil { order.append(rule) }
      counts[rule, default: 0] += 1
    }
    return order.compactMap { rule in
      let others = rule.isOfMissingValues ? failures.count(of: rule.entity, rule.property) : 0
      let count = (counts[rule] ?? 0) - others
      guard count > 0 else { return nil }
      return MigrationTrial.Violation(
        entity: rule.entity, property: rule.property, rows: count,
        reason: "\(PluralForm.counted(count, "migrated object")) of \(rule.entity) "
          + "\(PluralForm.of(count, "breaks", "break")) the rule of \(rule.property): \(rule.text). "
          + "Map a valid value, or change the rule.")
    }
  }
}

/// The instances whose values don't fit the destination, counted by entity and property.
private struct InstanceFailures {
  private struct Subject: Hashable {
    let entity: String
    /// The property; the names of several for a uniqueness constraint.
    let property: String
  }

  private var order: [Subject] = []
  /// The first error of each subject.
  private var errors: [Subject: NSError] = [:]
  private var counts: [Subject: Int] = [:]

  mutating func add(_ error: NSError) {
    let subject = Subject(
      entity: error.userInfo["entity"] as? String ?? "",
      property: error.userInfo["property"] as? String ?? "")
    if errors[subject] == nil {
      order.append(subject)
      errors[subject] = error
    }
    counts[subject, default: 0] += 1
  }

  /// Returns the number of instances that lack a value of a property because it doesn't fit.
  func count(of entity: String, _ property: String) -> Int {
    let root = property.prefix { $0 != "." }
    return counts.reduce(0) { sum, count in
      let names = count.key.property.components(separatedBy: ", ")
      let isSame =
        count.key.entity == entity && names.contains { $0.prefix { $0 != "." } == root }
      return isSame ? sum + count.value : sum
    }
  }

  /// A violation for each subject, in the order of their first errors.
  var violations: [MigrationTrial.Violation] {
    order.map { subject in
      let count = counts[subject] ?? 0
      return MigrationTrial.Violation(
        entity: subject.entity, property: subject.property, rows: count,
        reason: reason(subject, count))
    }
  }

  private func reason(_ subject: Subject, _ count: Int) -> String {
    guard errors[subject]?.code == NSMigrationConstraintViolationError else {
      let first = errors[subject]?.localizedDescription ?? ""
      return count == 1 ? first : "\(first) There are \(count) such objects."
    }
    return "\(PluralForm.counted(count, "migrated object")) of \(subject.entity) "
      + "\(PluralForm.of(count, "has", "have")) the same values for \(subject.property) as another one, "
      + "which must be unique. Map unique values, or remove duplicates in a version without the "
      + "constraint."
  }
}

extension NSError {
  /// Whether a validation error is about a value or destination that isn't there.
  fileprivate var isOfMissingValue: Bool {
    code == NSValidationMissingMandatoryPropertyError
      || code == NSValidationRelationshipLacksMinimumCountError
  }

  /// The rule that a validation error is about, without the value.
  fileprivate var brokenRule: String {
    if let predicate = userInfo[NSValidationPredicateErrorKey] as? NSPredicate {
      return predicate.predicateFormat
    }
    return switch code {
    case NSValidationMissingMandatoryPropertyError: "a value is required"
    case NSValidationRelationshipLacksMinimumCountError: "too few objects"
    case NSValidationRelationshipExceedsMaximumCountError: "too many objects"
    default: "error \(code)"
    }
  }
}

/// Records the passes of migration managers, with their statements.
///
/// Used on the migration's thread.
final class PassRecorder {
  private let statements = StatementTally()
  private var parts: [MappedMigrationTrial.Part] = []
  private var begin = MonotonicClock.now()
  /// How many mappings of the current mapping model have begun, in all passes.
  private var began = 0
  private var model: NSMappingModel?
  private var count: () -> Int? = { nil }
  private let ended: (MappedMigrationTrial.Part, _ begin: UInt64) -> Void

  /// - Parameter ended: Called with each part when it ends, and with when it began.
  init(_ ended: @escaping (MappedMigrationTrial.Part, _ begin: UInt64) -> Void = { _, _ in }) {
    self.ended = ended
  }

  func observe(_ manager: NSMigrationManager) {
    for hub in manager.eventHubs { hub.add(statements) }
    manager.beganMapping = { [unowned self, unowned manager] mapping in
      began(mapping, manager)
    }
  }

  private func began(_ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
    if model !== manager.mappingModel { (model, began) = (manager.mappingModel, 0) }
    let mappings = max(manager.mappingModel.entityMappings.count, 1)
    let passes: [MappedMigrationTrial.Pass] = [.instances, .relationships, .validation]
    let pass = passes[min(began / mappings, 2)]
    began += 1
    // All validation is one part.
    guard pass != .validation || began == 2 * mappings + 1 else { return }
    endPart()
    parts.append(
      MappedMigrationTrial.Part(
        mapping: pass == .validation ? nil : mapping.name ?? "", pass: pass))
    let setsRelationships = (try? manager.plan(for: mapping))?.setsRelationships ?? false
    guard pass != .validation else {
      count = { nil }
      return
    }
    count = { [unowned manager] in
      pass == .instances || setsRelationships ? manager.associations(of: mapping).count : 0
    }
  }

  private func endPart() {
    let now = MonotonicClock.now()
    defer { begin = now }
    let found = statements.take()
    guard let last = parts.indices.last else { return }
    parts[last].seconds = Double(now - begin) / 1e9
    parts[last].statements = found
    parts[last].instances = count()
    ended(parts[last], begin)
  }

  /// Ends the last part, and returns all.
  @discardableResult
  func finish() -> [MappedMigrationTrial.Part] {
    // The managers are released, so that nothing can be counted.
    count = { nil }
    endPart()
    return parts
  }
}

/// Adds up the executions of each statement.
private final class StatementTally: EventSink {
  private struct State {
    var statements: [MappedMigrationTrial.Statement] = []
    var positions: [String: Int] = [:]
  }

  let detail: EventDetail = []
  private let state = Mutex(State())
  /// More different statements than any pass has.
  private static let limit = 1_000

  func record(_ event: Event) {
    guard event.kind == .statement, let statement = event.statement,
      [.select, .insert, .update, .delete].contains(statement.kind)
    else { return }
    let isSelect = statement.kind == .select
    state.withLock { state in
      if state.positions[statement.sql] == nil, state.statements.count < Self.limit {
        state.positions[statement.sql] = state.statements.count
        state.statements.append(
          MappedMigrationTrial.Statement(sql: statement.sql, isSelect: isSelect))
      }
      guard let position = state.positions[statement.sql] else { return }
      state.statements[position].count += 1
      // A save writes one row with each statement.
      state.statements[position].rows += isSelect ? event.rows : max(event.rows, 1)
      state.statements[position].seconds += Double(event.duration) / 1e9
    }
  }

  /// Returns the statements since the last call.
  func take() -> [MappedMigrationTrial.Statement] {
    state.withLock { state in
      defer { state = State() }
      return state.statements
    }
  }
}
