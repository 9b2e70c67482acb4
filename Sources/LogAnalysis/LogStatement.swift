package import ProfileEvents

/// All statements of a log with the same text, counted together.
package struct LogStatement: Sendable, Equatable {
  /// Counted from 1 in the order of first appearance.
  package var number: Int
  /// As the log has it where it stands first.
  package var sql: String
  /// Whether its end is missing; all that begin so and end nowhere are counted here.
  package var isCut: Bool
  package var kind: StatementKind
  /// The table whose rows it reads or changes.
  package var table: String?
  /// The entity, where the log or a model names it.
  package var entity: String?
  package var calls = 0
  /// Rows that it returned, as the log says.
  package var rows = 0
  /// Objects counted, of count requests.
  package var counted = 0
  /// In all, what happened inside included: Apple's `total fetch execution time`.
  package var times = LogTimes()
  /// In all, without the fetches inside, in microseconds.
  package var own = 0
  /// SQLite's part, in microseconds.
  package var connection = 0
  /// How many of them filled an object fault.
  package var objectFaults = 0
  /// How many of them filled a to-many fault.
  package var relationshipFaults = 0
  /// How many of them were prefetches.
  package var prefetches = 0
  /// The line of the first, counted from 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The times in front of the first and the last, as the log has them; empty without.
  package var firstTime: String
  package var lastTime: String
  /// The bound values of the first one that shows some.
  package var binds: [String] = []
  /// Rows of its plan, as the log has them (level 4).
  package var loggedPlan: [String] = []
  /// Its plan on the store that was given, line by line; empty without.
  package var plan: [String] = []
  /// What the plan means, in a sentence; empty without.
  package var verdict = ""

  package init(
    number: Int, sql: String, isCut: Bool, kind: StatementKind, table: String?, firstLine: Int,
    firstTime: String
  ) {
    self.number = number
    self.sql = sql
    self.isCut = isCut
    self.kind = kind
    self.table = table
    self.firstLine = firstLine
    self.lastLine = firstLine
    self.firstTime = firstTime
    self.lastTime = firstTime
  }

  /// Adds what another of the same beginning has.
  mutating func absorb(_ other: LogStatement) {
    calls += other.calls
    rows += other.rows
    counted += other.counted
    times.add(other.times)
    own += other.own
    connection += other.connection
    objectFaults += other.objectFaults
    relationshipFaults += other.relationshipFaults
    prefetches += other.prefetches
    if other.firstLine < firstLine {
      firstLine = other.firstLine
      firstTime = other.firstTime
    }
    if other.lastLine > lastLine {
      lastLine = other.lastLine
      lastTime = other.lastTime
    }
    if binds.isEmpty { binds = other.binds }
    if loggedPlan.isEmpty { loggedPlan = other.loggedPlan }
    entity = entity ?? other.entity
  }
}
