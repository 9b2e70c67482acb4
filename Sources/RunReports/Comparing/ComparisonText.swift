import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// A comparison as text for a terminal.
package enum ComparisonText {
  /// Returns the lines of a comparison, without line feeds.
  package static func lines(_ comparison: RunComparison) -> [String] {
    var lines = [comparison.title]
    lines += comparison.notes.map { "  differs: \($0)" }
    for variant in comparison.variants { lines += self.lines(variant) }
    lines += statements(comparison.statements)
    lines += comparison.missing.map { "\($0): no longer exists" }
    lines += comparison.added.map { "\($0): new" }
    return lines
  }

  /// The maximum number of statements to print; JSON contains all of them.
  private static let limit = 30

  /// Returns the lines for statements whose counts differ or whose times differ conclusively.
  private static func statements(_ all: [ComparedStatement]) -> [String] {
    let shown = all.filter { statement in
      if case .inconclusive? = statement.time?.verdict { return statement.differs }
      return statement.differs || statement.time != nil
    }
    guard !all.isEmpty else { return [] }
    let alike = all.count - shown.count
    let head =
      "statements: \(NumberText.grouped(all.count)), \(NumberText.grouped(alike)) unchanged"
    let more = shown.count - limit
    return ["", head] + shown.prefix(limit).flatMap(self.lines)
      + (more > 0 ? ["  and \(NumberText.grouped(more)) more; --json prints all"] : [])
  }

  private static func lines(_ statement: ComparedStatement) -> [String] {
    let calls = statement.calls
    let short = SQLAbbreviation.short(statement.sql)
    let counts: String
    switch (calls.before, calls.after) {
    case (0, let after): counts = "new, \(NumberText.counted(after, "call"))"
    case (let before, 0): counts = "removed, \(NumberText.counted(before, "call"))"
    case (let before, let after) where before == after:
      counts = NumberText.counted(after, "call")
    case (let before, let after):
      counts = "\(NumberText.grouped(before)) → \(NumberText.counted(after, "call"))"
    }
    let rows = statement.rows
    let read =
      statement.kind != .select || rows.before == rows.after
      ? ""
      : ", \(NumberText.grouped(rows.before)) → \(NumberText.counted(rows.after, "row"))"
    return ["  \(counts)\(read)   \(short)"]
      + (statement.time.map { ["    time   \($0.text)"] } ?? [])
  }

  private static func lines(_ variant: ComparedVariant) -> [String] {
    let differences = variant.differences
    guard !differences.isEmpty || !variant.newFindings.isEmpty || !variant.goneFindings.isEmpty
    else { return ["\(variant.name): the same counts", "  time   \(variant.time.text)"] }
    let rows = differences.map { count in
      (
        name: count.metric.description, before: NumberText.grouped(count.before),
        after: NumberText.grouped(count.after), difference: count.difference
      )
    }
    let name = rows.map(\.name.count).max() ?? 0
    let before = rows.map(\.before.count).max() ?? 0
    let after = rows.map(\.after.count).max() ?? 0
    return [variant.name]
      + rows.map { row in
        "  \(NumberText.left(row.name, name))   \(NumberText.right(row.before, before)) → "
          + "\(NumberText.right(row.after, after))   \(row.difference)"
      } + variant.newFindings.map { "  ! \($0) now fires" }
      + variant.goneFindings.map { "  \($0) no longer fires" } + ["  time   \(variant.time.text)"]
  }
}
