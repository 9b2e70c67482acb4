package import ProfileEvents
import WorkbenchText

/// A statement's plan, work and estimate as lines for people.
package enum PlanText {
  /// A shape with what it cost and how SQLite runs it: the head, the work, the plan, the verdict.
  package static func lines(_ shape: StatementShape) -> [String] {
    let rows = NumberText.counted(shape.rows, "row")
    var facts = [rows] + work(shape.work, runs: shape.count)
    if let estimate = shape.estimate { facts.append(estimate.description) }
    var lines = [
      "#\(shape.number)  \(NumberText.grouped(shape.count)) x  \(SQLAbbreviation.short(shape.sql))",
      "    " + facts.joined(separator: " · "),
    ]
    lines += shape.plan.map { "    \($0)" }
    if !shape.verdict.isEmpty { lines.append("    \(shape.verdict)") }
    return lines
  }

  /// `95,000 VM steps (19 a run)`, `5,000 rows scanned`, `1 sort`, `60 function calls`.
  ///
  /// - Parameters:
  ///   - work: nil when nobody counted; then there is nothing to say.
  ///   - runs: How often the statement ran.
  package static func work(_ work: StatementWork?, runs: Int) -> [String] {
    guard let work else { return [] }
    var steps = NumberText.counted(work.vmSteps, "VM step")
    if runs > 1 { steps += " (\(NumberText.grouped(work.vmSteps / runs)) a run)" }
    let others: [(Int, String, String)] = [
      (work.fullScanSteps, "row scanned", "rows scanned"), (work.sorts, "sort", "sorts"),
      (work.autoIndexRows, "row into an automatic index", "rows into automatic indexes"),
      (work.functionCalls, "function call", "function calls"),
      (work.collationCalls, "collation call", "collation calls"),
    ]
    return [steps]
      + others.filter { $0.0 > 0 }.map { NumberText.counted($0.0, $0.1, $0.2) }
  }
}
