import LogAnalysis
package import ProfileEvents

/// One statement in two logs: the same text, however its lines were broken.
package struct ComparedStatement: Sendable {
  package let sql: String
  package let kind: StatementKind
  /// How often it was run; 0 in a log that does not have it.
  package let calls: (before: Int, after: Int)
  /// What it returned in all.
  package let rows: (before: Int, after: Int)
  /// Of its calls; nil where a log has no time of it.
  package let time: ComparedTime?

  /// Whether its counts differ.
  package var differs: Bool { calls.before != calls.after || rows.before != rows.after }

  init(_ before: LogStatement?, _ after: LogStatement?) {
    let known = before ?? after
    sql = known?.sql ?? ""
    kind = known?.kind ?? .select
    calls = (before?.calls ?? 0, after?.calls ?? 0)
    rows = (before?.rows ?? 0, after?.rows ?? 0)
    if let one = before?.times.spread, let other = after?.times.spread {
      time = ComparedTime(one, other, of: .call)
    } else {
      time = nil
    }
  }

  /// The statements of both logs, in the order of the first; those of the second alone behind.
  static func all(_ before: LogReport, _ after: LogReport) -> [ComparedStatement] {
    func byText(_ report: LogReport) -> [(key: LogBytes, statement: LogStatement)] {
      report.statements.map { (SQLText(LogBytes($0.sql)).key, $0) }
    }
    let one = byText(before)
    let other = byText(after)
    let found = Dictionary(
      other.map { ($0.key, $0.statement) }, uniquingKeysWith: { first, _ in first })
    let known = Set(one.map(\.key))
    return one.map { ComparedStatement($0.statement, found[$0.key]) }
      + other.filter { !known.contains($0.key) }.map { ComparedStatement(nil, $0.statement) }
  }
}
