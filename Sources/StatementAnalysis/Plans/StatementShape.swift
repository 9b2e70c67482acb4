package import ProfileEvents

/// All statements of the same text, counted together.
package struct StatementShape: Sendable, Equatable {
  /// The fewest repetitions of one statement that are worth a finding: ten one-row statements cost less
  /// than the reader's attention.
  package static let fewestRepeats = 10

  /// Counted from 1 in the order of first appearance.
  package var number: Int
  package var kind: StatementKind
  /// The text with its placeholders.
  package var sql: String
  package var entity: String?
  package var count: Int
  /// Rows returned or changed by all of them.
  package var rows: Int
  /// Time of all of them.
  package var nanoseconds: UInt64
  package var firstCallSite: CallSite?
  /// What `EXPLAIN QUERY PLAN` drew, line by line; empty when it was not asked.
  package var plan: [String] = []
  /// What the plan means for the cost, in a sentence; empty without a plan.
  package var verdict: String = ""
  /// What the plan hides; empty without a plan.
  package var remarks: [PlanNote] = []
  /// What one run visits by the store's statistics; nil if they're missing.
  package var estimate: PlanEstimate?
  /// What SQLite did for all runs; nil unless it was recorded.
  package var work: StatementWork?
  /// What the first run bound, in the words of SQLDebug; nil unless it was recorded.
  ///
  /// Private to the user's data: for trying the statement again, never for printing.
  package var binds: [String]?

  package init(
    number: Int, kind: StatementKind, sql: String, entity: String? = nil, count: Int, rows: Int,
    nanoseconds: UInt64, firstCallSite: CallSite? = nil
  ) {
    self.number = number
    self.kind = kind
    self.sql = sql
    self.entity = entity
    self.count = count
    self.rows = rows
    self.nanoseconds = nanoseconds
    self.firstCallSite = firstCallSite
  }

  /// The line by which Apple's framework logs the statement (`-com.apple.CoreData.SQLDebug 1`).
  package var logLine: String { "CoreData: sql: \(sql)" }

  /// The shape with its plan, and with the verdict that follows from plan and count.
  ///
  /// - Parameter lines: `QueryPlan.lines` of this very text.
  package func explained(by lines: [String]) -> StatementShape {
    var shape = self
    shape.plan = lines
    let verdict = PlanAssessment(sql: sql, lines: lines, count: count)
    shape.verdict = verdict.sentence
    shape.remarks = verdict.remarks
    return shape
  }
}
