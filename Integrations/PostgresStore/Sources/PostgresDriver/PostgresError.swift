/// An error of the server or of the connection to it.
package struct PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What failed.
  package enum Kind: Hashable, Sendable {
    /// There is no connection, or it was lost: the statement may be repeated after connecting
    /// again.
    case connection
    /// The server rejected a statement.
    case statement
    /// A transaction whose COMMIT wasn't answered, and whose outcome the server doesn't tell.
    case unknownOutcome
    /// No connection of the pool became free.
    case exhausted
  }

  /// What failed.
  package let kind: Kind
  /// The SQLSTATE, five characters; nil if the error isn't the server's.
  package let sqlState: String?
  /// The message, without a password.
  package let message: String
  /// More about the cause; nil for a violated constraint, of which it has the row's values.
  package var detail: String?
  /// The constraint that was violated.
  package var constraint: String?

  /// Creates an error.
  package init(_ kind: Kind, _ message: String, sqlState: String? = nil) {
    self.kind = kind
    self.message = message
    self.sqlState = sqlState
  }

  /// Whether a new attempt of the same transaction can succeed: a deadlock, a serialization
  /// failure, or outdated prepared statements.
  package var isTransient: Bool {
    sqlState == "40001" || sqlState == "40P01" || isOutdatedStatement
  }

  /// Whether the tables of a prepared statement were changed, or a proxy has connected to another
  /// process of the server.
  package var isOutdatedStatement: Bool { sqlState == "0A000" || sqlState == "26000" }

  /// Whether two rows would have the same value of a unique constraint, or of one that excludes
  /// equal values.
  package var isUniqueViolation: Bool { sqlState == "23505" || sqlState == "23P01" }

  /// Whether the statement took longer than the timeout, or waited too long for a lock.
  package var isTimeout: Bool { sqlState == "57014" || sqlState == "55P03" }

  /// The message, the detail, and the SQLSTATE.
  package var description: String {
    var text = message
    if let detail { text += " " + detail }
    if let sqlState { text += " (SQLSTATE \(sqlState))" }
    return text
  }
}
