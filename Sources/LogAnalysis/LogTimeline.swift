import WorkbenchText

/// The executions of a log's statements with their times of day, for a trace.
///
/// SELECTs are in the order in which they ended; the log contains their durations. Changes and
/// transactions have only a time of day.
package struct LogTimeline: Sendable {
  /// What a statement was executed for.
  package enum Purpose: Sendable, Equatable {
    case fetch
    /// A fault of an entity that missed the row cache.
    case objectFault(String)
    /// A fault of a relationship, `Country.moods`, that missed the row cache.
    case relationshipFault(String)
    /// A prefetch, with the name of the relationship if the log contains it.
    case prefetch(String?)
    /// A change of rows, or the beginning or end of a transaction.
    case change
  }

  /// An execution of a statement.
  package struct Execution: Sendable {
    /// The number of the statement.
    package var statement: Int
    /// The line of the statement, and that of its time, starting at 1.
    package var line: Int
    package var lastLine: Int
    /// The time of the first line, in seconds, as `LogTime` measures it; increases across midnight
    /// in a log without dates, and across the end of a year in a log without years.
    package var seconds: Double
    /// The duration in microseconds; 0 for a change.
    package var microseconds: Int
    package var rows: Int
    /// The thread's name; empty if the log contains none.
    package fileprivate(set) var thread = ""
    fileprivate var logThread: LogThread
    package var purpose: Purpose
  }

  package private(set) var executions: [Execution] = []
  /// The number of executions beyond the limit.
  package private(set) var leftOut = 0
  /// The seconds of the days that have passed in a log without dates, or of the years in a log
  /// without years.
  private var passed = 0.0
  private var names: [LogThread: String] = [:]
  /// The time of the last message that was added, including `passed`.
  private var lastSeconds = 0.0

  /// Adds a SELECT, when the log contains its total time.
  mutating func add(_ closed: LogNesting.Closed, rows: Int, at message: LogMessage) {
    let open = closed.open
    add(
      open.statement, from: open.line, open.time, to: message, closed.total, rows, .fetch)
  }

  /// Adds a change of rows, or a transaction.
  mutating func add(change statement: Int, at message: LogMessage) {
    add(statement, from: message.line, message.time, to: message, 0, 0, .change)
  }

  private mutating func add(
    _ statement: Int, from line: Int, _ time: LogTime, to message: LogMessage,
    _ microseconds: Int, _ rows: Int, _ purpose: Purpose
  ) {
    guard var seconds = time.seconds else { return }
    guard executions.count < InputLimits.tracedExecutions else {
      leftOut += 1
      return
    }
    if let period = time.period {
      let now = message.time.period == period ? message.time.seconds ?? seconds : seconds
      if now + passed < lastSeconds - period / 2 { passed += period }
      lastSeconds = now + passed
      seconds += passed
      // The SELECT began before midnight, and its time was logged after it.
      if seconds > lastSeconds + period / 2 { seconds -= period }
    }
    executions.append(
      Execution(
        statement: statement, line: line, lastLine: message.line, seconds: seconds,
        microseconds: microseconds, rows: rows, logThread: message.thread, purpose: purpose))
  }

  /// Records the name of a thread.
  mutating func name(_ thread: LogThread, _ name: LogBytes) {
    guard names.count < InputLimits.tracedExecutions, names[thread] == nil else { return }
    names[thread] = LogBytes(name.bytes.prefix(InputLimits.logName)).string
  }

  /// Sets the purpose of a SELECT, which the log contains after its time.
  mutating func identify(_ closed: LogNesting.Closed?, as purpose: Purpose) {
    // The SELECT is one of the last executions: only those of other threads come after it.
    guard let closed,
      let index = executions.suffix(64).lastIndex(where: { $0.line == closed.open.line })
    else { return }
    executions[index].purpose = purpose
  }

  /// Returns the timeline with the names of its threads, and the numbers that the statements have
  /// in a report.
  ///
  /// - Parameter positions: The position of each statement in the report.
  func renumbered(_ positions: [Int]) -> LogTimeline {
    var timeline = self
    for index in executions.indices {
      timeline.executions[index].statement = positions[executions[index].statement] + 1
      timeline.executions[index].thread = names[executions[index].logThread] ?? ""
    }
    return timeline
  }
}
