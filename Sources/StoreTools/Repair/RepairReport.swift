package import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// What `StoreRepair` recovered, and what is lost.
package struct RepairReport: Sendable {
  /// The numbers of an entity, a join table, or a history table.
  package struct Entry: Sendable, Equatable {
    /// The name of the entity or table.
    package let name: String
    /// The number of recovered rows.
    package let recovered: Int
    /// The number of recovered rows on pages that their table doesn't refer to.
    ///
    /// They can be deleted ones if the list of free pages is corrupt.
    package let detached: Int
    /// The number of values that were set to NULL because their overflow pages are corrupt.
    package let corruptValues: Int
    /// The number of rows that weren't recovered because they violate a uniqueness constraint.
    package let duplicates: Int
  }

  /// The corrupt store.
  package let url: URL
  /// The new store.
  package var destination: URL
  /// The entities and tables with recovered or refused rows, by name.
  package let entries: [Entry]
  /// The numbers of corrupt and missing pages, by table.
  package let corruptPages: [String: Int]
  /// The numbers of records that can't be decoded, or whose entity ID isn't known, by table; empty
  /// for unknown tables.
  package let undecoded: [String: Int]
  /// The numbers of rows of tables that the model doesn't have, by table.
  package let omitted: [String: Int]
  /// What the store doesn't state, and is assumed, such as a table's columns or the UUID.
  package let assumptions: [String]
  /// The numbers of to-one values that were set to NULL because their row is lost, by relationship.
  package let clearedReferences: [String: Int]
  /// The number of join rows that were removed because one end is lost.
  package let removedJoinRows: Int
  /// The number of history changes that were removed because they don't match the rows.
  package let removedChanges: Int
  /// The number of derived values that were computed again.
  package let derivedValues: Int
  /// The pages that were read from the WAL.
  package let walPages: Int
  /// The pages that were read from a hot journal.
  package let journalPages: Int
  /// The external data files that don't exist; their values were set to NULL.
  package let missingFiles: [String]
  /// The external data files that no recovered row refers to, which weren't copied.
  package let orphanedFiles: [String]
  /// The findings of the doctor in the new store, such as required values that are lost.
  package let remaining: [DoctorFinding]

  init(
    url: URL, corrupt: CorruptStore, losses: RepairLosses, repaired: RepairedStore,
    assumptions: [String], remaining: [DoctorFinding]
  ) {
    self.url = url
    destination = url
    let names = Set(losses.recovered.keys).union(losses.refused.keys)
    entries = names.sorted().map { name in
      Entry(
        name: name, recovered: losses.recovered[name] ?? 0,
        detached: losses.detached[name] ?? 0, corruptValues: losses.corruptValues[name] ?? 0,
        duplicates: losses.refused[name] ?? 0)
    }
    corruptPages = losses.corruptPages
    undecoded = losses.undecoded
    omitted = losses.omitted
    self.assumptions = losses.assumptions + assumptions
    clearedReferences = repaired.clearedReferences
    removedJoinRows = repaired.removedJoinRows
    removedChanges = repaired.removedChanges
    derivedValues = repaired.derivedValues
    walPages = corrupt.pages.frameCount
    journalPages = corrupt.pages.journalCount
    missingFiles = repaired.missingFiles
    orphanedFiles = repaired.orphanedFiles
    self.remaining = remaining
  }

  /// Whether nothing is lost or assumed, and the new store has no error.
  package var isComplete: Bool {
    corruptPages.isEmpty && undecoded.isEmpty && omitted.isEmpty && assumptions.isEmpty
      && clearedReferences.isEmpty
      && removedJoinRows == 0 && removedChanges == 0 && missingFiles.isEmpty
      && remaining.allSatisfy { $0.severity != .error }
      && entries.allSatisfy { $0.corruptValues == 0 && $0.duplicates == 0 }
  }
}

/// The text format of a repair's report.
package enum RepairText {
  /// Returns the lines of a report, without newlines.
  package static func lines(_ report: RepairReport) -> [String] {
    var lines = [
      "\(report.destination.lastPathComponent)   recovered from \(report.url.lastPathComponent)",
      "",
    ]
    let width = report.entries.map { TextWidth.of($0.name) }.max() ?? 0
    for entry in report.entries {
      var line =
        "  \(NumberText.left(entry.name, width))  \(NumberText.counted(entry.recovered, "row"))"
      if entry.detached > 0 {
        line +=
          ", \(NumberText.grouped(entry.detached)) of them on pages that the table doesn't refer to"
      }
      if entry.corruptValues > 0 {
        line += ", \(NumberText.counted(entry.corruptValues, "corrupt value")) set to NULL"
      }
      if entry.duplicates > 0 {
        line += ", \(NumberText.counted(entry.duplicates, "duplicate")) not recovered"
      }
      lines.append(line)
    }
    if report.entries.isEmpty { lines.append("  no rows") }
    let losses = losses(report)
    if !losses.isEmpty {
      lines += ["", "Lost or changed:"] + losses
    } else if report.isComplete {
      lines += ["", "Nothing is lost."]
    }
    if report.walPages > 0 {
      lines.append("  \(NumberText.counted(report.walPages, "page")) read from the WAL")
    }
    if report.journalPages > 0 {
      lines.append("  \(NumberText.counted(report.journalPages, "page")) rolled back")
    }
    if report.derivedValues > 0 {
      lines.append("  \(NumberText.counted(report.derivedValues, "derived value")) computed again")
    }
    lines += files("not copied, because no row refers to them", report.orphanedFiles)
    return lines.map(PrintableText.line)
  }

  private static func losses(_ report: RepairReport) -> [String] {
    func counts(_ numbers: [String: Int], _ noun: String, _ words: String) -> [String] {
      numbers.sorted { $0.key < $1.key }.map { name, count in
        "  \(name.isEmpty ? "unknown table" : name): "
          + "\(NumberText.counted(count, noun)) \(words)"
      }
    }
    var lines = counts(report.corruptPages, "page", "corrupt or missing")
    lines += counts(
      report.undecoded, "row", "lost, because the record can't be decoded or has no known entity")
    lines += counts(report.omitted, "row", "not copied, because the model has no such table")
    lines += report.assumptions.map { "  \($0)" }
    lines += counts(report.clearedReferences, "reference", "set to NULL, because the row is lost")
    for (count, noun, words) in [
      (report.removedJoinRows, "join row", "removed, because an object is lost"),
      (report.removedChanges, "history change", "removed, because no row or transaction matches"),
    ] where count > 0 {
      lines.append("  \(NumberText.counted(count, noun)) \(words)")
    }
    lines += files("missing, values set to NULL", report.missingFiles)
    return lines + report.remaining.map { "  remaining: \($0.rule.rawValue), \($0.message)" }
  }

  private static func files(_ words: String, _ names: [String]) -> [String] {
    guard !names.isEmpty else { return [] }
    return ["  \(NumberText.counted(names.count, "external data file")) \(words):"]
      + names.map { "    \($0)" }
  }
}

/// The JSON format of a repair's report.
package enum RepairJSON {
  /// Returns a report as one JSON object with sorted keys, followed by a newline.
  package static func data(_ report: RepairReport) throws -> Data {
    try JSONOutput.lines(Document(report))
  }

  private struct Document: Encodable {
    struct Entry: Encodable {
      let name: String
      let recovered: Int
      let detached: Int
      let damagedValues: Int
      let duplicates: Int
    }

    struct Finding: Encodable {
      let rule: String
      let entity: String?
      let property: String?
      let count: Int
      let message: String
    }

    let store: String
    let out: String
    let complete: Bool
    let entities: [Entry]
    let corruptPages: [String: Int]
    let lostRows: [String: Int]
    let omittedRows: [String: Int]
    let assumptions: [String]
    let clearedReferences: [String: Int]
    let removedJoinRows: Int
    let removedChanges: Int
    let derivedValues: Int
    let walPages: Int
    let journalPages: Int
    let missingFiles: [String]
    let orphanedFiles: [String]
    let remaining: [Finding]

    init(_ report: RepairReport) {
      store = report.url.path
      out = report.destination.path
      complete = report.isComplete
      entities = report.entries.map { entry in
        Entry(
          name: entry.name, recovered: entry.recovered, detached: entry.detached,
          damagedValues: entry.corruptValues, duplicates: entry.duplicates)
      }
      corruptPages = report.corruptPages
      lostRows = report.undecoded
      omittedRows = report.omitted
      assumptions = report.assumptions
      clearedReferences = report.clearedReferences
      removedJoinRows = report.removedJoinRows
      removedChanges = report.removedChanges
      derivedValues = report.derivedValues
      walPages = report.walPages
      journalPages = report.journalPages
      missingFiles = report.missingFiles
      orphanedFiles = report.orphanedFiles
      remaining = report.remaining.map { finding in
        Finding(
          rule: finding.rule.rawValue, entity: finding.entity, property: finding.property,
          count: finding.count, message: finding.message)
      }
    }
  }
}
