package import Foundation
import WorkbenchText

/// The findings in a store.
///
/// `StoreDoctor` creates a report, and `DoctorText` and `DoctorJSON` print it.
package struct DoctorReport: Sendable {
  package var url: URL
  /// Whether the store has no readable model.
  ///
  /// If so, attributes and relationships are inferred from the tables, and checks that need a model
  /// are skipped.
  package var isInferred: Bool
  /// The findings, in the order of the rules.
  package var findings: [DoctorFinding]

  /// Whether there are no findings.
  package var isIntact: Bool { findings.isEmpty }
}

/// A problem of a store.
package struct DoctorFinding: Sendable, Equatable {
  /// The rule that detected the problem.
  package var rule: DoctorRuleName
  package var severity: DoctorSeverity
  /// The affected entity, or `nil` if the problem affects the file.
  package var entity: String?
  /// The affected property.
  package var property: String?
  /// The affected table.
  package var table: String?
  /// The number of affected rows, files, or indexes.
  package var count: Int
  /// Examples, such as object URIs, file names, or SQLite's messages.
  package var examples: [String]
  /// The description of the problem, without a period.
  package var message: String
  /// The next step for the user, without a period.
  package var nextStep: String

  init(
    _ rule: DoctorRuleName, entity: String? = nil, property: String? = nil, table: String? = nil,
    count: Int = 1, examples: [String] = [], severity: DoctorSeverity? = nil, _ message: String,
    nextStep: String
  ) {
    self.rule = rule
    self.severity = severity ?? rule.severity
    self.entity = entity
    self.property = property
    self.table = table
    self.count = count
    self.examples = Array(examples.prefix(DoctorFinding.exampleLimit))
    self.message = message
    self.nextStep = nextStep
  }

  private static let exampleLimit = 5
}

/// A rule that detects problems of a store.
protocol DoctorRule: Sendable {
  /// Returns the problems that the rule detects; none for a valid store.
  ///
  /// - Throws: A `SQLiteError` if the file can't be read.
  func findings(in store: ExaminedStore) throws -> [DoctorFinding]
}

/// The names of the rules of `cdprof doctor`, in the order in which they're applied.
package enum DoctorRuleName: String, CaseIterable, Sendable {
  /// Corrupt pages, records, and indexes.
  case integrity
  /// Metadata without a column, a row, a UUID, or a readable property list.
  case metadata
  /// A store's model that can't be read or doesn't match the tables.
  case model
  /// A `Z_PRIMARYKEY` table that lacks a column or is inconsistent, also with the model.
  case entityList = "entity-list"
  /// Rows whose `Z_ENT` isn't an entity of their table.
  case entityID = "entity-id"
  /// A `Z_MAX` below the largest primary key, so that new objects would reuse keys.
  case primaryKeyCounter = "primary-key-counter"
  /// Values of a type that their attribute can't have.
  case valueType = "value-type"
  /// Required attributes and to-one relationships that are NULL.
  case missingValue = "missing-value"
  /// To-one values that refer to a missing row or a row of another entity.
  case danglingKey = "dangling-key"
  /// Join rows that refer to a missing object.
  case orphanedJoin = "orphaned-join"
  /// Members of ordered relationships without an order key, or with that of another member.
  case orderKey = "order-key"
  /// Relationships whose inverse doesn't match.
  case oneSidedInverse = "one-sided-inverse"
  /// Externally stored values whose file is missing.
  case externalFileMissing = "external-file-missing"
  /// Externally stored values whose file is too large, or can't be opened.
  case externalFileUnreadable = "external-file-unreadable"
  /// External data files that no value refers to.
  case externalFileUnowned = "external-file-unowned"
  /// Values with an invalid external-storage marker.
  case externalPrefix = "external-prefix"
  /// Missing indexes of the model.
  case indexMissing = "index-missing"
  /// Missing triggers of derived attributes and R-trees.
  case triggerMissing = "trigger-missing"
  /// Redundant indexes that the model doesn't declare.
  case indexRedundant = "index-redundant"
  /// Equal values that violate a uniqueness constraint.
  case duplicateValues = "duplicate-values"
  /// Derived attributes that differ from the result of their formula.
  case derivedValue = "derived-value"
  /// History that's inconsistent with the rows or with itself.
  case history
}

/// The text format of a doctor's report.
package enum DoctorText {
  /// Returns the lines of a report, without newlines.
  package static func lines(_ report: DoctorReport) -> [String] {
    let head =
      report.isIntact
      ? "\(report.url.lastPathComponent)   no problems found"
      : "\(report.url.lastPathComponent)   \(report.severities)"
    let note =
      report.isInferred
      ? [
        "  The store has no readable model. Checks that need one were skipped, and property",
        "  names are inferred from column names.",
      ] : []
    return [head] + note + report.findings.flatMap(lines)
  }

  private static func lines(_ finding: DoctorFinding) -> [String] {
    ["", "\(finding.severity.rawValue): \(finding.rule.rawValue)   \(finding.message)"]
      + finding.examples.map { "    \($0)" }
      + ["  Next: \(finding.nextStep)"]
  }
}

/// The JSON format of a doctor's report.
package enum DoctorJSON {
  /// Returns a report as one JSON object with sorted keys, followed by a newline.
  package static func data(_ report: DoctorReport) throws -> Data {
    try JSONOutput.lines(Document(report))
  }

  private struct Document: Encodable {
    let store: String
    let sound: Bool
    let guessed: Bool
    let rules: [String]
    let findings: [Finding]

    init(_ report: DoctorReport) {
      store = report.url.path
      sound = report.isIntact
      guessed = report.isInferred
      rules = DoctorRuleName.allCases.map(\.rawValue)
      findings = report.findings.map(Finding.init)
    }
  }

  private struct Finding: Encodable {
    let rule: String
    let severity: String
    let entity: String?
    let property: String?
    let table: String?
    let count: Int
    let examples: [String]
    let message: String
    let next: String

    init(_ finding: DoctorFinding) {
      rule = finding.rule.rawValue
      severity = finding.severity.rawValue
      entity = finding.entity
      property = finding.property
      table = finding.table
      count = finding.count
      examples = finding.examples
      message = finding.message
      next = finding.nextStep
    }
  }
}

/// How much a finding of `doctor` matters to the app that uses the store.
package enum DoctorSeverity: String, CaseIterable, Sendable, Comparable {
  /// Space or time is wasted.
  case note
  /// Data is intact, but the store works slower than it should, in an undefined order, or with
  /// wrong history.
  case warning
  /// Data is lost or wrong, or a fetch or a save fails.
  case error

  package static func < (first: DoctorSeverity, second: DoctorSeverity) -> Bool {
    first.rank < second.rank
  }

  private var rank: Int {
    switch self {
    case .note: 0
    case .warning: 1
    case .error: 2
    }
  }
}

extension DoctorRuleName {
  /// The severity of the rule's findings, unless a finding has its own.
  package var severity: DoctorSeverity {
    switch self {
    case .externalFileUnowned, .indexRedundant: .note
    case .indexMissing, .orderKey, .history: .warning
    case .integrity, .metadata, .model, .entityList, .entityID, .primaryKeyCounter, .valueType,
      .missingValue, .danglingKey, .orphanedJoin, .oneSidedInverse, .externalFileMissing,
      .externalFileUnreadable, .externalPrefix, .triggerMissing, .duplicateValues, .derivedValue:
      .error
    }
  }
}

extension DoctorReport {
  /// Returns whether the findings fail the check: errors do, and others only if it's strict.
  package func fails(strictly isStrict: Bool) -> Bool {
    findings.contains { isStrict || $0.severity == .error }
  }

  /// The number of findings of each severity, the most severe first: `1 error, 2 notes`.
  package var severities: String {
    DoctorSeverity.allCases.reversed().compactMap { severity in
      let count = findings.count { $0.severity == severity }
      return count == 0 ? nil : NumberText.counted(count, severity.rawValue)
    }
    .joined(separator: ", ")
  }
}
