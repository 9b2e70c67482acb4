/// An execution of a statement in a log.
package struct LogExecution: Sendable, Equatable {
  /// The number of the statement.
  package var statement: Int
  /// The line number of the statement, starting at 1.
  package var line: Int
  /// The time without nested fetches, in microseconds.
  package var microseconds: Int
}

/// A limited number of executions, those that took longest.
struct SlowestExecutions {
  /// The maximum number of executions.
  static let limit = 100

  private var all: [LogExecution] = []
  /// The place of the fastest execution, once there are as many as the limit.
  private var fastest = 0

  /// The executions, those that took longest first.
  var sorted: [LogExecution] {
    all.sorted { ($0.microseconds, $1.line) > ($1.microseconds, $0.line) }
  }

  /// Adds an execution if it's among the slowest; of equal ones, the first are kept.
  mutating func add(_ execution: LogExecution) {
    if all.count < SlowestExecutions.limit {
      all.append(execution)
    } else if execution.microseconds > all[fastest].microseconds {
      all[fastest] = execution
    } else {
      return
    }
    guard all.count == SlowestExecutions.limit else { return }
    let place = all.indices.min { all[$0].microseconds < all[$1].microseconds }
    fastest = place ?? 0
  }
}
