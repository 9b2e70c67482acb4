import ManagedModel
import ProfileEvents
import SQLiteDriver

/// A call of the framework that an incremental store executes: what it reports belongs to the
/// call's context.
struct StoreCall {
  let scope: ProfileScope
  /// The event of the transaction that the store has begun; `nil` outside of one, and without an
  /// observer.
  var transaction: OpenEvent?
  /// What keeps the rows that the store prefetches for a fetch of objects; `nil` for other calls.
  var prefetched: PrefetchedRows?
}

extension NSIncrementalStore {
  /// Whether an observer needs the bound values of statements; otherwise, the store may leave them
  /// out.
  ///
  /// **Cost:** a load.
  public final var reportsValues: Bool { hub?.detail.contains(.binds) ?? false }

  /// Reports a statement that the store has run, right after it has run.
  ///
  /// Inside of a call of the framework, on the call's thread, it's counted for the call's context,
  /// and appears in the SQLDebug log and in `cdprof` below the fetch, fault, or save. Elsewhere, as
  /// in `loadMetadata()`, it belongs to the opening of the store: it's logged at most. **Cost:** a
  /// few additions, if there's no observer.
  public final func report(_ statement: ReportedStatement) {
    guard callLock.try() else { return emitOpening(statement) }
    defer { callLock.unlock() }
    guard let scope = call?.scope else { return emitOpening(statement) }
    if statement.kind == .begin {
      scope.abandon(call?.transaction)
      call?.transaction = scope.begin(.transaction)
    }
    count(statement, in: scope)
    let duration = statement.nanoseconds
    scope.emit(.statement) { event in
      (event.begin, event.duration) = (event.begin &- duration, duration)
      event.entity = statement.entityName
      event.rows = statement.kind.countsRows ? statement.rows : 0
      event.roundTrips = Self.reportsStatements ? statement.roundTrips : 0
      event.statement = StatementRecord(
        kind: statement.kind.record, sql: statement.sql,
        binds: scope.demand.includes(.binds) ? statement.values : nil)
    }
    switch statement.kind {
    case .commit:
      scope.counters.transactions += 1
      scope.end(call?.transaction)
      call?.transaction = nil
    case .rollBack:
      scope.abandon(call?.transaction)
      call?.transaction = nil
    case .select, .insert, .update, .delete, .begin, .other: break
    }
  }

  /// Reports exchanges with the server that belong to no statement, such as connecting, or a
  /// request of a protocol other than SQL.
  ///
  /// - Parameters:
  ///   - count: The number of exchanges.
  ///   - duration: The time they took.
  public final func reportRoundTrips(_ count: Int, duration: Duration = .zero) {
    guard Self.reportsStatements, callLock.try() else { return }
    defer { callLock.unlock() }
    guard let scope = call?.scope else { return }
    emitRoundTrips(count, nanoseconds: duration.nanoseconds, in: scope)
  }

  /// Runs a body that prefetches a relationship for a fetch, and reports it with the statements
  /// that the body reports.
  ///
  /// In a fetch of objects, the row cache keeps the rows of the prefetched objects as long as the
  /// objects of the fetch exist, without registering them: update their nodes afterward.
  ///
  /// - Parameters:
  ///   - relationship: The prefetched relationship.
  ///   - body: Returns the IDs of the prefetched objects; `nil` if there was nothing to read, which
  ///     isn't counted.
  public final func reportPrefetch(
    of relationship: NSRelationshipDescription, _ body: () throws -> [NSManagedObjectID]?
  ) rethrows {
    guard callLock.try() else {
      _ = try body()
      return
    }
    defer { callLock.unlock() }
    let scope = call?.scope
    let event = scope?.begin(.prefetch)
    var found: [NSManagedObjectID]?
    defer { if found == nil { scope?.abandon(event) } }
    found = try body()
    guard let found, let scope else { return }
    scope.counters.prefetches += 1
    scope.end(event) { event in
      event.entity = relationship.entity?.name
      event.relationship = relationship.name
      event.rows = found.count
    }
    if let prefetched = call?.prefetched { keep(found, for: prefetched) }
  }

  /// Keeps the rows of objects that a fetch has prefetched.
  private func keep(_ ids: [NSManagedObjectID], for owner: PrefetchedRows) {
    let own = ids.filter { $0.handle === handle && $0.primaryKey > 0 }
    for (rootIndex, ids) in Dictionary(grouping: own, by: \.layout.rootIndex) {
      let keys = ids.map(\.primaryKey)
      addOwner(rootIndex: rootIndex, keys: keys)
      owner.add(keys, rootIndex: rootIndex)
    }
  }

  /// Counts a call of a store that doesn't report its round trips.
  final func emitCall(since begin: UInt64, in scope: ProfileScope) {
    let duration = scope.demand.isListening ? MonotonicClock.now() &- begin : 0
    emitRoundTrips(1, nanoseconds: duration, in: scope)
  }

  private var hub: EventHub? { persistentStoreCoordinator?.eventHub }

  private func emitRoundTrips(_ count: Int, nanoseconds: UInt64, in scope: ProfileScope) {
    guard count > 0 else { return }
    scope.counters.roundTrips += count
    scope.emit(.roundTrip) { event in
      (event.begin, event.duration) = (event.begin &- nanoseconds, nanoseconds)
      event.roundTrips = count
    }
  }

  private func emitOpening(_ statement: ReportedStatement) {
    guard let hub, let logger = StoreOpeningLogger(hub) else { return }
    logger.log(
      statement.sql, statement.kind.record,
      begin: MonotonicClock.now() &- statement.nanoseconds)
  }

  private func count(_ statement: ReportedStatement, in scope: ProfileScope) {
    if Self.reportsStatements { scope.counters.roundTrips += statement.roundTrips }
    switch statement.kind {
    case .select:
      scope.counters.selects += 1
      scope.counters.rows += statement.rows
    case .insert: scope.counters.inserts += 1
    case .update: scope.counters.updates += 1
    case .delete: scope.counters.deletes += 1
    case .begin, .commit, .rollBack, .other: break
    }
  }
}

extension ReportedStatement {
  fileprivate var nanoseconds: UInt64 { duration.nanoseconds }
}

extension Duration {
  /// The duration in nanoseconds, at least 0.
  fileprivate var nanoseconds: UInt64 {
    UInt64(clamping: components.seconds) &* 1_000_000_000
      &+ UInt64(clamping: components.attoseconds / 1_000_000_000)
  }
}

extension ReportedStatement.Kind {
  fileprivate var record: StatementKind {
    switch self {
    case .select: .select
    case .insert: .insert
    case .update: .update
    case .delete: .delete
    case .begin, .commit, .rollBack: .transaction
    case .other: .housekeeping
    }
  }

  fileprivate var countsRows: Bool {
    switch self {
    case .select, .insert, .update, .delete: true
    case .begin, .commit, .rollBack, .other: false
    }
  }
}
