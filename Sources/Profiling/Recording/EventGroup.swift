package import ProfileEvents

/// Events of one step that are alike: same kind, same subject, same filling, same SQL.
///
/// The shell's `last` prints one a line: `#2  5,000 x  fault Mood  miss  SELECT …`.
package struct EventGroup: Sendable, Equatable {
  /// Counted from 1 in the order of first appearance; what `explain` takes.
  package var number: Int
  package var count: Int
  /// What happened: `fetch`, `fault`, `relationship fault`, `prefetch`, `page`, `save`, `insert`.
  package var word: String
  /// `Mood`, `Country.moods`; empty when neither entity nor relationship is known.
  package var subject: String
  /// Faults only.
  package var source: FaultSource?
  /// Nil when no statement ran, as for a row-cache hit.
  package var sql: String?
  package var rows: Int
  package var nanoseconds: UInt64
  package var callSite: CallSite?
  /// The number of the first event of the group.
  package var firstEvent: Int
  /// What SQLite did for all its statements; nil without one, and unless it was recorded.
  package var work: StatementWork?

  package init(
    number: Int, count: Int, word: String, subject: String, source: FaultSource? = nil,
    sql: String? = nil, rows: Int, nanoseconds: UInt64, callSite: CallSite? = nil, firstEvent: Int,
    work: StatementWork? = nil
  ) {
    self.number = number
    self.count = count
    self.word = word
    self.subject = subject
    self.source = source
    self.sql = sql
    self.rows = rows
    self.nanoseconds = nanoseconds
    self.callSite = callSite
    self.firstEvent = firstEvent
    self.work = work
  }

  /// `hit`, `miss`, `parent`, or nothing.
  package var sourceWord: String {
    switch source {
    case .rowCache: "hit"
    case .database: "miss"
    case .parent: "parent"
    case nil: ""
    }
  }
}
