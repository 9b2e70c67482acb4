/// Two results side by side as a person reads them in a terminal.
package enum ComparisonText {
  /// The whole of it, without ends of line.
  package static func lines(_ comparison: RunComparison) -> [String] {
    var lines = [comparison.title]
    lines += comparison.notes.map { "  not the same: \($0)" }
    for variant in comparison.variants { lines += self.lines(variant) }
    lines += comparison.missing.map { "\($0): is there no more" }
    lines += comparison.added.map { "\($0): is new" }
    return lines
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
      } + variant.newFindings.map { "  ! \($0) fires now" }
      + variant.goneFindings.map { "  \($0) fires no more" } + ["  time   \(variant.time.text)"]
  }
}
