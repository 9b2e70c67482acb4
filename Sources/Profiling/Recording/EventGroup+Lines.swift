import WorkbenchText

extension EventGroup {
  /// The groups as the shell's `last` prints them, in columns, the SQL shortened.
  ///
  /// `  #2  5,000 x  fault Mood     miss   SELECT 0, t0.Z_PK, … WHERE  t0.Z_PK = ?`
  package static func lines(_ groups: [EventGroup]) -> [String] {
    let rows = groups.map { group in
      (
        number: "#\(group.number)", count: NumberText.grouped(group.count),
        what: group.subject.isEmpty ? group.word : "\(group.word) \(group.subject)",
        source: group.sourceWord, sql: group.sql.map(SQLAbbreviation.short) ?? ""
      )
    }
    let number = rows.map(\.number.count).max() ?? 0
    let count = rows.map(\.count.count).max() ?? 0
    let what = rows.map(\.what.count).max() ?? 0
    let source = rows.map(\.source.count).max() ?? 0
    return rows.map { row in
      let line =
        "  \(NumberText.left(row.number, number))  \(NumberText.right(row.count, count)) x  "
        + "\(NumberText.left(row.what, what))  \(NumberText.left(row.source, source))   \(row.sql)"
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}
