package import ScenarioLanguage

/// What came of holding a log's sections against a budget.
package struct LogJudgement: Sendable {
  /// By the place of a section in the report; absent for sections that the budget does not name.
  package var results: [Int: [ExpectationResult]] = [:]
  /// Sections of the budget that the log does not have, with the line they are written on.
  package var missing: [(name: String, line: Int)] = []
  /// Expectations that no log can tell, in words; only a scenario's are left out so.
  package var notJudged: [String] = []

  /// Whether every section is there and every expectation was met.
  package var holds: Bool {
    missing.isEmpty && results.values.allSatisfy { $0.allSatisfy(\.holds) }
  }
}
