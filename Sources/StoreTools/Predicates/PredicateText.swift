import OpenCoreData
import StatementAnalysis
import WorkbenchText

/// A predicate's explanation as lines for people.
package enum PredicateText {
  /// What is to be printed.
  package struct Parts: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// The canonical text.
    package static let format = Parts(rawValue: 1)
    /// The tree.
    package static let tree = Parts(rawValue: 2)
    /// The SELECT.
    package static let sql = Parts(rawValue: 4)
    /// What the SELECT binds.
    package static let binds = Parts(rawValue: 8)
    /// Everything there is.
    package static let all: Parts = [.format, .tree, .sql, .binds]
  }

  /// The lines, each part with its name in front.
  package static func lines(_ explanation: PredicateExplanation, _ parts: Parts = .all) -> [String]
  {
    var lines: [String] = []
    if parts.contains(.format) { lines += titled("format", [explanation.format]) }
    if parts.contains(.tree) { lines += titled("tree", explanation.tree) }
    guard let statement = explanation.statement else { return lines }
    if parts.contains(.sql) { lines += titled("sql", [statement.sql]) }
    if parts.contains(.binds) {
      lines += titled(
        "binds", statement.binds.enumerated().map { "[\($0.offset)] \($0.element)" })
      for (index, numbers) in statement.intArrays.enumerated() {
        let list = numbers.map(String.init).joined(separator: ", ")
        lines += titled("array", ["_Z_intarray\(index): \(list)"])
      }
    }
    return lines
  }

  /// The plan of the SELECT and what to think of it.
  package static func lines(plan: [String], of explanation: PredicateExplanation) -> [String] {
    guard let statement = explanation.statement, !plan.isEmpty else { return [] }
    let verdict = PlanVerdict(sql: statement.sql, lines: plan, count: 1)
    return titled("plan", plan) + titled("", [verdict.sentence])
  }

  private static func titled(_ title: String, _ lines: [String]) -> [String] {
    lines.enumerated().map { index, line in
      NumberText.left(index == 0 ? title : "", 8) + line
    }
  }
}
