package import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Checks a store for corruption and inconsistencies.
///
/// It doesn't modify any file in the store's folder, and doesn't repair anything.
package enum StoreDoctor {
  /// The rules that need the store's structure.
  private static let rules: [any DoctorRule] = [
    EntityListRule(),
    EntityIDRule(),
    PrimaryKeyCounterRule(),
    ValueTypeRule(),
    MissingValueRule(),
    DanglingKeyRule(),
    OrphanedJoinRule(),
    OrderKeyRule(),
    OneSidedInverseRule(),
    ExternalFileRule(),
    ExternalPrefixRule(),
    MissingIndexRule(),
    MissingTriggerRule(),
    RedundantIndexRule(),
    DuplicateValuesRule(),
    DerivedValueRule(),
    HistoryRule(),
  ]

  /// Checks a store and returns a report.
  ///
  /// **Cost:** reads the whole file once for SQLite's integrity check, and each table several
  /// times; twice as much if the file is corrupt.
  ///
  /// - Throws: An `InvalidInputError` if the file doesn't exist, can't be read, or isn't a Core
  ///   Data store.
  package static func examine(_ url: URL) throws -> DoctorReport {
    do {
      var result = try Corruption.confirming(
        url, by: { IntegrityCheck.isCorrupt($0.findings) }, { _ in try report(on: url) })
      guard IntegrityCheck.isCorrupt(result.findings),
        try StoreFileInspection(path: url.path).method == .writeAheadLog
      else { return result }
      // A WAL doesn't state its database: SQLite applies any that's valid.
      for index in result.findings.indices where result.findings[index].rule == .integrity {
        result.findings[index].nextStep +=
          "; if \(url.lastPathComponent)-wal belongs to another database, move it away, and check again"
      }
      return result
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: url.relativePath)
    }
  }

  private static func report(on url: URL) throws -> DoctorReport {
    var findings: [DoctorFinding] = []
    if let problem = StoreFileProblem.examine(path: url.relativePath) {
      switch problem {
      case .truncated, .corrupt:
        findings.append(IntegrityCheck.finding(["\(problem)"]))
        return DoctorReport(url: url, isInferred: false, findings: findings)
      default: try InvalidInputError.check(url)
      }
    }
    do {
      let connection = try Connection(path: url.path, access: .inspecting)
      defer { connection.close() }
      try StoreFunctions.register(on: connection)
      let tables = try connection.tableNames()
      try InvalidInputError.checkHousekeeping(on: connection, path: url.relativePath)
      try InvalidInputError.checkTables(tables, path: url.relativePath)
      return try examine(url, connection, tables)
    } catch let error as SQLiteError {
      guard error.code.isOfCorruptFile else { throw error }
      findings.append(IntegrityCheck.finding([error.message]))
      return DoctorReport(url: url, isInferred: false, findings: findings)
    }
  }

  private static func examine(
    _ url: URL, _ connection: Connection, _ tables: Set<String>
  ) throws -> DoctorReport {
    var findings = try IntegrityCheck.findings(on: connection)
    let missing = try HousekeepingTables.missingColumns(on: connection)
    guard missing.isEmpty else {
      // Nothing else can be read without them.
      findings += missing.map { MetadataCheck.finding(missing: $0.column, in: $0.table) }
      return DoctorReport(url: url, isInferred: false, findings: findings)
    }
    let metadata = try MetadataCheck(reading: connection)
    findings += metadata.findings
    let anatomy: StoreAnatomy
    do {
      anatomy = try StoreAnatomy(reading: connection)
    } catch let error as SQLiteError {
      guard error.code.isOfCorruptFile else { throw error }
      findings.append(IntegrityCheck.finding([error.message]))
      return DoctorReport(url: url, isInferred: false, findings: findings)
    } catch {
      findings.append(ModelCheck.finding(mismatch: "\(error)"))
      return DoctorReport(url: url, isInferred: false, findings: findings)
    }
    if let problem = anatomy.source.problem { findings.append(ModelCheck.finding(unread: problem)) }
    let store = ExaminedStore(
      url: url, connection: connection, anatomy: anatomy, tables: tables,
      uuid: metadata.uuid ?? "?", isMadeHere: metadata.isMadeHere)
    for rule in rules {
      do {
        findings += try rule.findings(in: store)
      } catch let error as SQLiteError where error.code.isOfCorruptFile {
        // Other rules might not need the corrupt part.
        if !IntegrityCheck.isCorrupt(findings) {
          findings.append(IntegrityCheck.finding([error.message]))
        }
      }
    }
    return DoctorReport(url: url, isInferred: anatomy.source.isInferred, findings: findings)
  }
}

/// A store to check: its file, opened read-only, and its structure.
struct ExaminedStore: Sendable {
  let url: URL
  let connection: Connection
  let anatomy: StoreAnatomy
  /// The names of the tables, in uppercase.
  let tables: Set<String>
  /// The store's UUID in URIs, or `?` if it can't be read.
  let uuid: String
  /// Whether OpenCoreData created the file, so that names of triggers are known.
  let isMadeHere: Bool

  var mapping: SQLModel { anatomy.mapping }

  /// The root entities, one for each table.
  var roots: [SQLEntity] { mapping.roots }

  /// The columns of attributes and to-one relationships, each with the entity that declares it.
  var columns: [(entity: SQLEntity, column: SQLColumn)] {
    mapping.entities.flatMap { entity in entity.ownColumns.map { (entity, $0) } }
  }

  /// The to-many relationships, each with the entity that declares it.
  var toMany: [(entity: SQLEntity, relationship: SQLToMany)] {
    mapping.entities.flatMap { entity in
      entity.toMany.values
        .filter { $0.relationship.entity === entity.description }
        .sorted { $0.relationship.name < $1.relationship.name }
        .map { (entity, $0) }
    }
  }

  /// Returns up to five primary keys that a SELECT returns, and its total number of rows.
  ///
  /// - Parameter select: A SELECT whose first column is a primary key.
  func keys(_ select: String) throws -> (count: Int, keys: [Int64]) {
    let count = try number("SELECT COUNT(*) FROM (\(select))")
    guard count > 0 else { return (0, []) }
    let rows = try connection.values("\(select) LIMIT 5")
    return (
      count,
      rows.compactMap { row in
        if case .integer(let key)? = row.first { key } else { nil }
      }
    )
  }

  /// Returns the URIs of rows of an entity.
  func uris(_ keys: [Int64], of entity: String) -> [String] {
    keys.map { "x-coredata://\(uuid)/\(entity)/p\($0)" }
  }

  /// Returns the integer that a SELECT returns, or 0 if there's none.
  func number(_ select: String) throws -> Int {
    guard case .integer(let number)? = try connection.values(select).first?.first else { return 0 }
    return Int(clamping: number)
  }
}

extension SQLEntity {
  /// The entity IDs of the entity and its descendants, as a list for `Z_ENT IN`.
  var numberList: String {
    "(\(concreteNumbers.map(String.init).joined(separator: ", ")))"
  }
}
