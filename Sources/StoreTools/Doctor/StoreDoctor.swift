package import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Looks for what is wrong with a store.
///
/// Looks only: no byte in the store's folder changes, and nothing is mended.
package enum StoreDoctor {
  /// The rules that need to know how the store is built.
  private static let rules: [any DoctorRule] = [
    EntityListRule(),
    EntityNumberRule(),
    KeyMaximumRule(),
    ValueTypeRule(),
    MissingValueRule(),
    DanglingKeyRule(),
    OrphanedJoinRule(),
    OrderPlaceRule(),
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

  /// Examines a store.
  ///
  /// Cost: reads the whole file once for its integrity, and each table some times.
  /// - Throws: `InputRefusal` when there is no file, or it is no Core Data store at all.
  package static func examine(_ url: URL) throws -> DoctorReport {
    var findings: [DoctorFinding] = []
    if let problem = StoreFileProblem.examine(path: url.relativePath) {
      switch problem {
      case .truncated, .corrupt:
        findings.append(IntegrityCheck.finding(["\(problem)"]))
        return DoctorReport(url: url, isGuessed: false, findings: findings)
      default: try InputRefusal.check(url)
      }
    }
    do {
      let connection = try Connection(path: url.path, access: .looking)
      defer { connection.close() }
      try StoreFunctions.register(on: connection)
      let tables = try connection.tableNames()
      try InputRefusal.checkHousekeeping(on: connection, path: url.relativePath)
      try InputRefusal.checkTables(tables, path: url.relativePath)
      return try examine(url, connection, tables)
    } catch let error as SQLiteError {
      guard error.isDamage else { throw InputRefusal(error, path: url.relativePath) }
      findings.append(IntegrityCheck.finding([error.message]))
      return DoctorReport(url: url, isGuessed: false, findings: findings)
    }
  }

  private static func examine(
    _ url: URL, _ connection: Connection, _ tables: Set<String>
  ) throws -> DoctorReport {
    var findings = try IntegrityCheck.findings(on: connection)
    let metadata = try MetadataCheck(reading: connection)
    findings += metadata.findings
    let anatomy: StoreAnatomy
    do {
      anatomy = try StoreAnatomy(reading: connection)
    } catch let error as SQLiteError {
      guard error.isDamage else { throw error }
      findings.append(IntegrityCheck.finding([error.message]))
      return DoctorReport(url: url, isGuessed: false, findings: findings)
    } catch {
      findings.append(ModelCheck.finding(mismatch: "\(error)"))
      return DoctorReport(url: url, isGuessed: false, findings: findings)
    }
    if let problem = anatomy.source.problem { findings.append(ModelCheck.finding(unread: problem)) }
    let store = ExaminedStore(
      url: url, connection: connection, anatomy: anatomy, tables: tables,
      uuid: metadata.uuid ?? "?", isMadeHere: metadata.isMadeHere)
    for rule in rules {
      do {
        findings += try rule.findings(in: store)
      } catch let error as SQLiteError where error.isDamage {
        // What one rule cannot read, another may not need.
        if !findings.contains(where: { $0.rule == .integrity }) {
          findings.append(IntegrityCheck.finding([error.message]))
        }
      }
    }
    return DoctorReport(url: url, isGuessed: anatomy.source.isGuessed, findings: findings)
  }
}

extension SQLiteError {
  /// Whether the file is to blame.
  fileprivate var isDamage: Bool {
    code.primary == .corrupt || code.primary == .notADatabase
  }
}
