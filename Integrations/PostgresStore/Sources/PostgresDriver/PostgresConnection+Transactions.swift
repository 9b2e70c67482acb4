internal import CPostgres
import Foundation

extension PostgresConnection {
  private static let attempts = 5
  private static let longestPause = 0.05

  /// Runs a body in a transaction, and again after a deadlock, a serialization failure, or a change
  /// of its tables' columns.
  ///
  /// - Parameters:
  ///   - mode: Words that follow BEGIN, such as `READ ONLY`.
  ///   - body: Must have no effect but that of its statements: it may be called several times.
  /// - Throws: The error of the body, after a ROLLBACK; the error of COMMIT, whose outcome is known
  ///   unless the kind is `unknownOutcome`.
  @discardableResult
  package func transaction<R>(_ mode: String = "", _ body: () throws -> R) throws -> R {
    for _ in 1..<Self.attempts {
      do {
        return try attempt(mode, body)
      } catch let error as PostgresError where error.isTransient {
        Thread.sleep(forTimeInterval: .random(in: 0...Self.longestPause))
      }
    }
    return try attempt(mode, body)
  }

  /// Begins a transaction that only reads, whose statements all see the same rows.
  package func beginSnapshot() throws(PostgresError) {
    try begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
  }

  /// Ends such a transaction; does nothing if there is none.
  package func endSnapshot() {
    if isInTransaction { rollBack() }
  }

  private func attempt<R>(_ mode: String, _ body: () throws -> R) throws -> R {
    try begin(mode)
    do {
      let result = try body()
      let number = try query("SELECT pg_current_xact_id_if_assigned()::text").text(0, 0)
      try commit(of: number ?? "")
      return result
    } catch {
      if isInTransaction { rollBack() }
      throw error
    }
  }

  // MARK: Outcomes

  /// The outcome of a transaction.
  package enum Outcome: Hashable, Sendable {
    case committed, aborted, unknown
  }

  private static let longestCommit = 2.0
  private static let pauseForCommit = 0.05

  /// Asks the server for the outcome of a transaction whose COMMIT wasn't answered.
  ///
  /// A server that crashes before it has written a transaction gives its number to another one, so
  /// a commit counts only if the server has run since then. A number of a transaction that is lost
  /// or was rolled back isn't that of a committed one.
  ///
  /// - Parameters:
  ///   - transaction: The number of the transaction; empty if it has changed nothing.
  ///   - run: The value of `serverRun` in the transaction.
  /// Cost: one SELECT; more for up to two seconds while the server still commits, which may not
  /// have noticed that the connection is lost.
  package func outcome(of transaction: String, in run: String?) -> Outcome {
    guard !transaction.isEmpty else { return .aborted }
    var status: String?
    let end = Date(timeIntervalSinceNow: Self.longestCommit)
    repeat {
      if status != nil { Thread.sleep(forTimeInterval: Self.pauseForCommit) }
      do {
        status = try query(
          "SELECT pg_xact_status($1::text::xid8)", [.text(transaction)]
        ).text(0, 0)
      } catch {
        return .unknown
      }
    } while status == "in progress" && Date() < end
    switch status {
    case "committed": return run != nil && run == serverRun ? .committed : .unknown
    case "aborted": return .aborted
    default: return .unknown
    }
  }
}
