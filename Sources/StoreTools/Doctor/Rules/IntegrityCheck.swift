import SQLiteDriver
import WorkbenchText

/// SQLite's own check of pages, records and indexes.
enum IntegrityCheck {
  /// Reads the whole file.
  static func findings(on connection: Connection) throws -> [DoctorFinding] {
    let lines: [String]
    do {
      // Core Data writes no CHECK constraints, and those of others can compute anything.
      try connection.execute("PRAGMA ignore_check_constraints = 1")
      lines = try connection.values("PRAGMA integrity_check(20)").compactMap { row in
        if case .text(let line)? = row.first, line != "ok" { line } else { nil }
      }
    } catch {
      return [finding([error.message])]
    }
    return lines.isEmpty ? [] : [finding(lines)]
  }

  static func finding(_ lines: [String]) -> DoctorFinding {
    DoctorFinding(
      .integrity, count: lines.count, examples: lines,
      "SQLite finds the file damaged: \(NumberText.counted(lines.count, "fault"))",
      nextStep: "work on a copy: `sqlite3 FILE .recover` saves what can be read; an index alone is "
        + "mended by REINDEX")
  }
}
