/// The counters that are always updated, without a sink and without reading a clock.
///
/// Each context has its own counters, and each store has counters guarded by its lock. Reading adds
/// them up. There are no global counters.
package struct Counters: Sendable, Equatable {
  package var fetches = 0
  package var saves = 0
  /// The number of passes of validation and `willSave` in these saves.
  package var savePasses = 0
  package var selects = 0
  package var inserts = 0
  package var updates = 0
  package var deletes = 0
  package var transactions = 0
  package var rows = 0
  package var objectFaultHits = 0
  package var objectFaultMisses = 0
  /// The number of object faults fulfilled from a parent context.
  package var objectFaultsFromParent = 0
  package var relationshipFaultHits = 0
  package var relationshipFaultMisses = 0
  package var relationshipFaultsFromParent = 0
  package var prefetches = 0
  /// The number of exchanges of programs' own stores with their servers.
  package var roundTrips = 0

  package init() {}

  /// The number of object and relationship faults, from any source.
  package var faults: Int {
    hits + misses + objectFaultsFromParent + relationshipFaultsFromParent
  }

  /// The number of object and relationship faults fulfilled from the row cache.
  package var hits: Int { objectFaultHits + relationshipFaultHits }
  /// The number of object and relationship faults fulfilled from the database.
  package var misses: Int { objectFaultMisses + relationshipFaultMisses }

  /// The counter for a metric, or `nil` for gauges and times, which aren't counters.
  package subscript(metric: Metric) -> Int? {
    switch metric {
    case .fetches: fetches
    case .saves: saves
    case .selects: selects
    case .inserts: inserts
    case .updates: updates
    case .deletes: deletes
    case .transactions: transactions
    case .rows: rows
    case .faults: faults
    case .hits: hits
    case .misses: misses
    case .prefetches: prefetches
    case .roundtrips: roundTrips
    case .scanned, .sorts, .calls, .vmsteps, .pageins, .pageouts, .registered, .peak, .filepages,
      .walpages, .freepages, .migrations, .ddl, .dml, .migratedrows, .copiedtables, .addedcolumns,
      .createdindexes, .instances, .time:
      nil
    }
  }

  /// Returns the difference between two readings.
  package static func - (later: Counters, earlier: Counters) -> Counters {
    later.combined(with: earlier, by: -)
  }

  /// Returns the sum of two sets of counters.
  package static func + (first: Counters, second: Counters) -> Counters {
    first.combined(with: second, by: +)
  }

  /// All counters, each with its name in the JSON of a result.
  package static var fields: [(name: String, path: WritableKeyPath<Counters, Int>)] {
    [
      ("fetches", \.fetches), ("saves", \.saves),
      ("saveRounds", \.savePasses), ("selects", \.selects), ("inserts", \.inserts),
      ("updates", \.updates), ("deletes", \.deletes), ("transactions", \.transactions),
      ("rows", \.rows), ("objectFaultHits", \.objectFaultHits),
      ("objectFaultMisses", \.objectFaultMisses),
      ("objectFaultsFromParent", \.objectFaultsFromParent),
      ("relationshipFaultHits", \.relationshipFaultHits),
      ("relationshipFaultMisses", \.relationshipFaultMisses),
      ("relationshipFaultsFromParent", \.relationshipFaultsFromParent),
      ("prefetches", \.prefetches), ("roundTrips", \.roundTrips),
    ]
  }

  private func combined(with other: Counters, by operation: (Int, Int) -> Int) -> Counters {
    var result = Counters()
    for (_, path) in Counters.fields {
      result[keyPath: path] = operation(self[keyPath: path], other[keyPath: path])
    }
    return result
  }
}

extension Counters {
  /// Adds an event to the counters that it affects, so that the sum of all events equals the
  /// scope's own counters.
  ///
  /// Events that no metric counts have no effect.
  package mutating func count(_ event: Event) {
    count(
      event.kind, source: event.source, statement: event.statement?.kind, rows: event.rows,
      rounds: event.rounds, roundTrips: event.roundTrips)
  }

  /// Adds an event with the properties that counters depend on.
  ///
  /// - Parameters:
  ///   - kind: The kind of the event.
  ///   - source: The source of a fault's values, or `nil` for other events.
  ///   - statement: The kind of a statement, or `nil` for other events.
  ///   - rows: The number of rows that a SELECT returned.
  ///   - rounds: The number of passes of validation of a save.
  ///   - roundTrips: The number of exchanges with a server.
  package mutating func count(
    _ kind: EventKind, source: FaultSource?, statement: StatementKind?, rows: Int, rounds: Int,
    roundTrips: Int = 0
  ) {
    self.roundTrips += roundTrips
    switch kind {
    case .fetch: fetches += 1
    case .save:
      saves += 1
      savePasses += rounds
    case .transaction: transactions += 1
    case .prefetch: prefetches += 1
    case .statement: count(statement, rows: rows)
    case .objectFault:
      switch source {
      case .rowCache: objectFaultHits += 1
      case .database: objectFaultMisses += 1
      case .parent: objectFaultsFromParent += 1
      case nil: break
      }
    case .relationshipFault:
      switch source {
      case .rowCache: relationshipFaultHits += 1
      case .database: relationshipFaultMisses += 1
      case .parent: relationshipFaultsFromParent += 1
      case nil: break
      }
    case .rowCacheHit, .rowCacheMiss, .batchLoad, .batchRequest, .notification, .merge,
      .migration, .migrationStep, .storeOpening, .roundTrip, .failure:
      break
    }
  }

  private mutating func count(_ kind: StatementKind?, rows: Int) {
    switch kind {
    case .select:
      selects += 1
      self.rows += rows
    case .insert: inserts += 1
    case .update: updates += 1
    case .delete: deletes += 1
    case .transaction, .housekeeping, nil: break
    }
  }
}
