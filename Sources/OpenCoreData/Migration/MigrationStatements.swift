import ProfileEvents
import SQLiteDriver

/// The statements of an in-place migration, in the order in which they run.
struct MigrationStatements: Sendable {
  /// One statement, with what it's for.
  struct Statement: Sendable {
    let phase: Phase
    /// What it does, such as `Mood: add ZRATING`.
    let purpose: String
    let sql: String
    let values: [SQLiteValue]
    /// The table whose rows it reads, changes, or indexes; `nil` if it isn't for the rows of one.
    let table: String?
    /// How it's counted.
    let work: MigrationRecord.Work

    /// Runs the statement, and emits its event.
    ///
    /// - Returns: The number of rows that it changed, and the seconds it took.
    func run(
      on connection: Connection, _ events: MigrationEvents?
    ) throws(SQLiteError) -> (rows: Int, seconds: Double) {
      let begin = MonotonicClock.now()
      let before = connection.totalChanges
      _ = try connection.values(sql, values)
      let seconds = Double(MonotonicClock.now() - begin) / 1e9
      let rows = connection.totalChanges - before
      events?.step(work, purpose, from: begin, rows: rows, sql: sql)
      return (rows, seconds)
    }
  }

  /// A condition that the migrated rows must meet.
  struct Check: Sendable {
    /// A statement that returns the number of rows that don't meet it.
    let sql: String
    /// The entity and the property whose values are checked; an empty property for objects.
    let entity: String
    let property: String
    let problem: MigrationFailure.Problem

    /// The path of the property, or the entity.
    var path: String { property.isEmpty ? entity : "\(entity).\(property)" }
  }

  /// The parts of a migration, in order.
  enum Phase: CaseIterable, Sendable {
    /// Removes triggers, R-trees, and indexes that the new version doesn't have.
    case removeObjects
    /// Copies pairs of keys whose columns are removed, and removes references to removed rows.
    case keepJoinRows
    /// Renames tables that are replaced.
    case renameTables
    /// Creates tables, and copies rows to them.
    case copyRows
    /// Changes tables that stay.
    case alterTables
    /// Changes the tables of many-to-many relationships.
    case joinTables
    /// Drops the renamed tables.
    case dropTables
    case createIndexes
    /// Sets keys and order keys from the pairs that were kept, default values of composite
    /// attributes, and derived attributes.
    case fillColumns
    case createTriggers
    /// Updates entity IDs, history, metadata, and the stored model.
    case housekeeping
  }

  private var phases: [Phase: [Statement]] = [:]
  private(set) var checks: [Check] = []

  /// Adds a statement to a phase, after those that it has.
  ///
  /// - Parameter table: The table whose rows it reads, changes, or indexes.
  mutating func add(
    _ phase: Phase, _ purpose: String, _ sql: String, _ values: [SQLiteValue] = [],
    rowsOf table: String? = nil
  ) {
    phases[phase, default: []].append(
      Statement(
        phase: phase, purpose: purpose, sql: sql, values: values, table: table,
        work: Self.work(phase, sql)))
  }

  private static func work(_ phase: Phase, _ sql: String) -> MigrationRecord.Work {
    if phase == .createIndexes { return .createIndex }
    if sql.hasPrefix("ALTER TABLE ") {
      return sql.contains(" ADD COLUMN ") ? .addColumn : .schema
    }
    if sql.hasPrefix("CREATE ") || sql.hasPrefix("DROP ") { return .schema }
    let isCopy = sql.hasPrefix("INSERT ") && (phase == .copyRows || phase == .joinTables)
    return isCopy ? .copyTable : phase == .housekeeping ? .housekeeping : .changeRows
  }

  /// Adds a check, to run after all statements.
  mutating func add(_ check: Check) { checks.append(check) }

  /// All statements, in order.
  var all: [Statement] { Phase.allCases.flatMap { phases[$0] ?? [] } }
}

/// The reason why rows can't be migrated to a version of a model.
struct MigrationFailure: Error, Sendable {
  /// What's wrong with the rows.
  enum Problem: Sendable {
    case missingValue
    case missingDestination
    /// The rows are those of the destinations.
    case sharedDestination
    /// The rows are those of destinations of a to-many relationship without an inverse.
    case severalOwners
    /// Two relationships became inverses, or one became its own, but objects don't refer to each
    /// other.
    case mismatchedInverse
    case outOfRange
    /// The rows are those of an entity that became abstract.
    case abstractEntity
    case notUnique
    /// Values aren't unique, and rows without a value get a default one.
    case notUniqueByDefault

    /// Whether the rows violate a uniqueness constraint.
    var isConflict: Bool { self == .notUnique || self == .notUniqueByDefault }
  }

  let problem: Problem
  let entity: String
  /// The property; empty if the objects themselves don't fit.
  let property: String
  /// The number of rows; `nil` if they weren't counted.
  let rows: Int64?

  /// The reason in one sentence, and what to do about it.
  var reason: String {
    let path = "\(entity).\(property)"
    let some = rows.map { $0 == 1 ? "1 object has" : "\($0) objects have" } ?? "Objects have"
    return switch problem {
    case .missingValue:
      "\(some) no value for the required attribute \(path). Give it a default value, or make it optional."
    case .missingDestination:
      "\(some) no destination for the required relationship \(path). Make it optional, and set it in a "
        + "later version."
    case .sharedDestination:
      (rows == 1 ? "1 object is" : "\(rows ?? 0) objects are")
        + " the destination of several objects in \(path), whose inverse is to-one now. Make the inverse "
        + "to-many, or remove all but one of them in an earlier version."
    case .severalOwners:
      (rows == 1 ? "1 object is" : "\(rows ?? 0) objects are")
        + " the destination of several objects in \(path), which is to-many without an inverse now, so that "
        + "only one can keep it. Give it a to-many inverse, or remove all but one of them in an earlier "
        + "version."
    case .mismatchedInverse:
      "\(some) a destination in \(path) that doesn't refer back, which the inverse requires now. Make both "
        + "sides match in an earlier version."
    case .outOfRange:
      "\(some) a value of \(path) that its new type can't represent. Keep the wider type."
    case .abstractEntity:
      (rows == 1 ? "1 object is" : "\(rows ?? 0) objects are")
        + " of \(entity) and of no subentity, although it's abstract now. Leave it concrete, or delete them "
        + "in an earlier version."
    case .notUnique:
      "\(some) the same values for \(path), which must be unique. Remove duplicates in a "
        + "version without the constraint."
    case .notUniqueByDefault:
      "\(some) the same values for \(path), which must be unique; objects without a value get a default "
        + "value. Make the attribute optional without one, or set its values in a version without the "
        + "constraint."
    }
  }
}
