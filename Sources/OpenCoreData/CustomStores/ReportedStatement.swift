/// A statement that a program's own store has run, for the SQLDebug log, the costs, and `cdprof`.
///
/// A store whose class returns `true` from `reportsStatements` passes each one to
/// `NSIncrementalStore.report(_:)`. Core Data has no counterpart: it reports only the statements of
/// its own store.
public struct ReportedStatement: Sendable {
  /// The purpose of a statement, which determines how it's counted.
  public enum Kind: Sendable {
    /// Reads rows of entities.
    case select
    /// Inserts rows of entities, or join rows of a many-to-many relationship.
    case insert
    case update
    case delete
    /// Begins a transaction that writes, whose statements follow until `commit` or `rollBack`.
    case begin
    /// Commits such a transaction, which is counted.
    case commit
    case rollBack
    /// Anything else, such as metadata, primary keys, settings, and the beginning of a transaction
    /// that only reads: it's logged, but only its round trips are counted.
    case other
  }

  /// The purpose.
  public var kind: Kind
  /// The statement with its placeholders.
  public var sql: String
  /// The bound values as text, which are the user's data: they're written only where a SQLite
  /// store's are.
  ///
  /// `NSIncrementalStore.reportsValues` states whether they're needed.
  public var values: [String] = []
  /// The number of rows that the statement has returned or changed.
  public var rows = 0
  /// The name of the entity whose rows it reads or changes.
  public var entityName: String?
  /// The time it took, until its last row was received.
  public var duration = Duration.zero
  /// The exchanges with the server: one, two if the statement was prepared first, and none if it
  /// was sent together with another one whose answer the store has waited for.
  public var roundTrips = 1

  /// Creates a statement of one round trip.
  public init(_ kind: Kind, sql: String) {
    self.kind = kind
    self.sql = sql
  }
}
