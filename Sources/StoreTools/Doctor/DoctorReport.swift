package import Foundation
import WorkbenchText

/// What the doctor found.
///
/// Values only; made by `StoreDoctor`, printed by `DoctorText` and `DoctorJSON`.
package struct DoctorReport: Sendable {
  package var url: URL
  /// Whether the store carries no model that can be read: attributes and relationships are then
  /// guessed from the tables, and checks that need a model are skipped.
  package var isGuessed: Bool
  /// In the order of the rules.
  package var findings: [DoctorFinding]

  /// Whether nothing is wrong.
  package var isSound: Bool { findings.isEmpty }
}

/// One thing that is wrong with a store.
package struct DoctorFinding: Sendable, Equatable {
  /// Which rule found it.
  package var rule: DoctorRuleName
  /// The entity it is about; nil when it is about the file.
  package var entity: String?
  /// The property it is about.
  package var property: String?
  /// The table it was seen in.
  package var table: String?
  /// How many rows, files or indexes are concerned.
  package var count: Int
  /// Some of them: object URIs, names of files, SQLite's own words.
  package var examples: [String]
  /// What is wrong, in a sentence without a full stop.
  package var message: String
  /// What to do now, in a sentence without a full stop.
  package var nextStep: String

  init(
    _ rule: DoctorRuleName, entity: String? = nil, property: String? = nil, table: String? = nil,
    count: Int = 1, examples: [String] = [], _ message: String, nextStep: String
  ) {
    self.rule = rule
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

/// One thing to look for.
protocol DoctorRule: Sendable {
  /// The problems that this rule finds; empty for a valid store.
  ///
  /// - Throws: `SQLiteError` where the file cannot be read.
  func findings(in store: ExaminedStore) throws -> [DoctorFinding]
}

/// What `cdprof doctor` looks for, in the order in which it looks.
package enum DoctorRuleName: String, CaseIterable, Sendable {
  /// Pages, records and indexes that contradict each other.
  case integrity
  /// Metadata without a row, a UUID or a readable property list.
  case metadata
  /// A model inside the store that cannot be read, or that wants what the file does not have.
  case model
  /// `Z_PRIMARYKEY` that contradicts itself or the model.
  case entityList = "entity-list"
  /// Rows whose `Z_ENT` isn't an entity of their table.
  case entityNumber = "entity-id"
  /// `Z_MAX` below the largest key in use: the next object would get a key that is taken.
  case keyMaximum = "primary-key-counter"
  /// Values of a kind that their attribute cannot have.
  case valueType = "value-type"
  /// Mandatory attributes and to-ones that are NULL.
  case missingValue = "missing-value"
  /// To-one keys without a row, or of a row of another entity.
  case danglingKey = "dangling-key"
  /// Rows of a join table without one of their objects.
  case orphanedJoin = "orphaned-join"
  /// Members of ordered relationships without a place, or with another's.
  case orderPlace = "order-key"
  /// One-to-one relationships whose other side says something else.
  case oneSidedInverse = "one-sided-inverse"
  /// Values whose file outside of the store is missing.
  case externalFileMissing = "external-file-missing"
  /// Files outside of the store that no value names.
  case externalFileUnowned = "external-file-unowned"
  /// Values that may be outside of the store and do not say where they are.
  case externalPrefix = "external-prefix"
  /// Indexes that the model asks for and the file lacks.
  case indexMissing = "index-missing"
  /// Triggers of derived attributes and ranges that the file lacks.
  case triggerMissing = "trigger-missing"
  /// Indexes that the model does not declare and that another index makes redundant.
  case indexRedundant = "index-redundant"
  /// Equal values under a uniqueness constraint.
  case duplicateValues = "duplicate-values"
  /// Derived attributes that are not what their formula gives.
  case derivedValue = "derived-value"
  /// History that does not fit the rows or itself.
  case history
}

/// A doctor's report as a person reads it in a terminal.
package enum DoctorText {
  /// The lines, without ends of line.
  package static func lines(_ report: DoctorReport) -> [String] {
    let head =
      report.isSound
      ? "\(report.url.lastPathComponent)   no problems found"
      : "\(report.url.lastPathComponent)   \(NumberText.counted(report.findings.count, "finding"))"
    let note =
      report.isGuessed
      ? [
        "  The store has no readable model. Checks that need one were skipped, and property",
        "  names are inferred from column names.",
      ] : []
    return [head] + note + report.findings.flatMap(lines)
  }

  private static func lines(_ finding: DoctorFinding) -> [String] {
    ["", "✗ \(finding.rule.rawValue)   \(finding.message)"]
      + finding.examples.map { "    \($0)" }
      + ["  Next: \(finding.nextStep)"]
  }
}

/// A doctor's report as JSON: one object with sorted keys.
package enum DoctorJSON {
  /// The text, with an end of line.
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
      sound = report.isSound
      guessed = report.isGuessed
      rules = DoctorRuleName.allCases.map(\.rawValue)
      findings = report.findings.map(Finding.init)
    }
  }

  private struct Finding: Encodable {
    let rule: String
    let entity: String?
    let property: String?
    let table: String?
    let count: Int
    let examples: [String]
    let message: String
    let next: String

    init(_ finding: DoctorFinding) {
      rule = finding.rule.rawValue
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
