package import Foundation
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
      if case .inconclusive? = statement.time?.outcome { return statement.differs }
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
    let counts = counts(of: variant)
    guard !counts.isEmpty || !variant.newFindings.isEmpty || !variant.goneFindings.isEmpty
    else { return ["\(variant.name): the same counts", "  time   \(variant.time.text)"] }
    return [variant.name] + counts + variant.newFindings.map { "  ! \($0) now fires" }
      + variant.goneFindings.map { "  \($0) no longer fires" } + ["  time   \(variant.time.text)"]
  }

  /// Returns a line for each count of a variant that differs, in columns.
  static func counts(of variant: ComparedVariant) -> [String] {
    let rows = variant.differences.map { count in
      (
        name: count.metric.description, before: NumberText.grouped(count.before),
        after: NumberText.grouped(count.after), difference: count.difference
      )
    }
    let name = rows.map { TextWidth.of($0.name) }.max() ?? 0
    let before = rows.map(\.before.count).max() ?? 0
    let after = rows.map(\.after.count).max() ?? 0
    return rows.map { row in
      "  \(NumberText.left(row.name, name))   \(NumberText.right(row.before, before)) → "
        + "\(NumberText.right(row.after, after))   \(row.difference)"
    }
  }
}

/// A comparison as JSON.
package enum ComparisonJSON {
  /// Returns a comparison as UTF-8 that ends with a line feed.
  ///
  /// - Parameters:
  ///   - comparison: The comparison.
  ///   - failures: The messages that `ComparisonFailureCriteria.failures(of:)` returned.
  /// - Throws: An `EncodingError`, which no comparison can cause.
  package static func data(_ comparison: RunComparison, failures: [String]) throws -> Data {
    try JSONOutput.flat(
      Document(
        title: comparison.title, holds: failures.isEmpty, failures: failures,
        notes: comparison.notes, missing: comparison.missing, added: comparison.added,
        variants: comparison.variants.map(Variant.init),
        statements: comparison.statements.isEmpty
          ? nil : comparison.statements.map(Statement.init)))
  }

  private struct Document: Encodable {
    var title: String
    var holds: Bool
    var failures: [String]
    var notes: [String]
    var missing: [String]
    var added: [String]
    var variants: [Variant]
    /// The statements of two logs; `nil` for results.
    var statements: [Statement]?
  }

  private struct Statement: Encodable {
    var sql: String
    var callsBefore: Int
    var callsAfter: Int
    var rowsBefore: Int
    var rowsAfter: Int
    var time: Time?

    init(_ statement: ComparedStatement) {
      sql = statement.sql
      callsBefore = statement.calls.before
      callsAfter = statement.calls.after
      rowsBefore = statement.rows.before
      rowsAfter = statement.rows.after
      time = statement.time.map(Time.init)
    }
  }

  private struct Count: Encodable {
    var metric: String
    var before: Int
    var after: Int
  }

  private struct Variant: Encodable {
    var name: String
    var counts: [Count]
    var newFindings: [String]
    var goneFindings: [String]
    var time: Time

    init(_ variant: ComparedVariant) {
      name = variant.name
      counts = variant.counts.map {
        Count(metric: $0.metric.description, before: $0.before, after: $0.after)
      }
      newFindings = variant.newFindings
      goneFindings = variant.goneFindings
      time = Time(variant.time)
    }
  }

  private struct Time: Encodable {
    var before: UInt64
    var after: UInt64
    /// `faster`, `slower`, or `inconclusive`.
    var verdict: String
    var reason: String?

    init(_ time: ComparedTime) {
      before = time.before.median
      after = time.after.median
      switch time.outcome {
      case .faster: verdict = "faster"
      case .slower: verdict = "slower"
      case .inconclusive(let why):
        verdict = "inconclusive"
        reason = why
      }
    }
  }
}
