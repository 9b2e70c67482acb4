import ProfileEvents

/// What a context did for a program, as reported to a `CoreDataObservation` when it has ended.
///
/// An operation contains those that it caused: a fetch its SELECTs and prefetches, a save its
/// transactions, and these their statements. It contains no bound values, no messages of errors,
/// and no paths.
public struct CoreDataOperation: Sendable {
  /// What an operation does.
  public enum Kind: String, Sendable, CaseIterable {
    /// A fetch request, or a count of one; `rows` is the number of results.
    case fetch
    /// A save that wrote changes, or failed; `rows` is the number of objects.
    case save
    /// A fault of an object that fired; `rows` is 0 if its row doesn't exist.
    case fault
    /// A fault of a to-many relationship that fired; `rows` is the number of its destinations.
    case relationshipFault
    /// A step of a prefetched key path; `rows` is the number of destinations.
    case prefetch
    /// A batch of a fetch with a batch size; `rows` is the number of objects.
    case batchLoad
    /// A batch insertion, update, or deletion; `rows` is the number of changed rows.
    case batchRequest
    /// Changes of other contexts that were merged; `rows` is the number of objects.
    case merge
    /// A write transaction; its BEGIN and COMMIT aren't operations, but part of its time.
    case transaction
    /// A SELECT, INSERT, UPDATE, or DELETE on rows of entities; `rows` is the number of rows that
    /// it returned.
    case statement
  }

  /// Where the values of a fault came from.
  public enum Source: String, Sendable, CaseIterable {
    /// The row cache: a hit.
    case rowCache
    /// The parent context.
    case parent
    /// The store: a miss.
    case store
  }

  /// The error of an operation, without its message, which can contain values and paths.
  public struct Failure: Sendable, Hashable {
    /// The domain of the error, such as `NSCocoaErrorDomain`.
    public let domain: String
    /// The code of the error, such as 133020.
    public let code: Int
    /// SQLite's extended result code; `nil` if SQLite hasn't caused the error.
    public let resultCode: Int?
  }

  /// What the operation does.
  public let kind: Kind
  /// The entity of the request, the object, or the statement; `nil` for saves and transactions, and
  /// for a failed fault that ran no statement.
  public let entity: String?
  /// The relationship of a relationship fault or a prefetch; otherwise `nil`.
  public let relationship: String?
  /// The name of the context; `nil` if it has none.
  public let context: String?
  /// Where the values of a fault came from; `nil` for other operations, and if it failed.
  public let source: Source?
  /// The text of a statement, with `?` for each bound value; otherwise `nil`.
  public let sql: String?
  /// The time at which it began, in nanoseconds since 1970, UTC.
  public internal(set) var begin: UInt64
  /// The duration, in nanoseconds; of a statement that ran several times, the sum.
  public internal(set) var duration: UInt64
  /// The number of rows, results, or objects, depending on the kind.
  public internal(set) var rows: Int
  /// The number of times a statement ran; 1 for other operations.
  ///
  /// All executions of an INSERT, UPDATE, or DELETE in a transaction are one operation.
  public internal(set) var executions = 1
  /// Why it failed; `nil` if it didn't.
  public internal(set) var failure: Failure?
  /// What it counts as, with the operations that it caused, including the omitted ones.
  public internal(set) var costs = Costs(Counters())
  /// The operations that it caused, in the order in which they began.
  public internal(set) var operations: [CoreDataOperation] = []
  /// The number of operations in it that aren't listed because there were too many.
  public internal(set) var omitted = 0
}

extension CoreDataOperation {
  /// Creates an operation from its event; `nil` for an event that's part of another operation.
  ///
  /// `begin` has the time of the event's clock until it's moved.
  init?(_ event: Event) {
    guard let kind = Kind(event.failedKind ?? event.kind, event.statement?.kind) else { return nil }
    self.init(
      kind: kind, entity: event.entity, relationship: event.relationship, context: event.context,
      source: event.source.map(Source.init), sql: event.statement?.sql, begin: event.begin,
      duration: event.duration, rows: event.rows)
  }

  /// Moves the operation and those in it in time.
  mutating func move(by offset: UInt64) {
    begin &+= offset
    for index in operations.indices { operations[index].move(by: offset) }
  }
}

extension CoreDataOperation.Kind {
  /// Creates the kind of an event's operation; `nil` for an event that isn't one.
  fileprivate init?(_ event: EventKind, _ statement: StatementKind?) {
    switch event {
    case .fetch: self = .fetch
    case .save: self = .save
    case .objectFault: self = .fault
    case .relationshipFault: self = .relationshipFault
    case .prefetch: self = .prefetch
    case .batchLoad: self = .batchLoad
    case .batchRequest: self = .batchRequest
    case .merge: self = .merge
    case .transaction: self = .transaction
    case .statement:
      switch statement {
      case .select, .insert, .update, .delete: self = .statement
      case .transaction, .housekeeping, nil: return nil
      }
    case .rowCacheHit, .rowCacheMiss, .notification, .migration, .migrationStep, .storeOpening,
      .roundTrip, .failure:
      return nil
    }
  }
}

extension CoreDataOperation.Source {
  fileprivate init(_ source: FaultSource) {
    switch source {
    case .rowCache: self = .rowCache
    case .parent: self = .parent
    case .database: self = .store
    }
  }
}

extension CoreDataOperation.Failure {
  init(_ code: FailureCode) {
    self.init(domain: code.domain, code: code.code, resultCode: code.resultCode)
  }
}

extension Event {
  /// The kind of an operation that failed; `nil` for other events.
  fileprivate var failedKind: EventKind? {
    if case .operation(let kind, _) = failure { kind } else { nil }
  }
}
