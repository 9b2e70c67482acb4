extension Counters {
  /// Adds what an event stands for, so that events add up to what the scope's own counters say.
  ///
  /// Kinds that no metric counts add nothing.
  package mutating func count(_ event: Event) {
    switch event.kind {
    case .fetch: fetches += 1
    case .save:
      saves += 1
      saveRounds += event.rounds
    case .transaction: transactions += 1
    case .prefetch: prefetches += 1
    case .statement: count(event.statement?.kind, rows: event.rows)
    case .objectFault:
      switch event.source {
      case .rowCache: objectFaultHits += 1
      case .database: objectFaultMisses += 1
      case .parent: objectFaultsFromParent += 1
      case nil: break
      }
    case .relationshipFault:
      switch event.source {
      case .rowCache: relationshipFaultHits += 1
      case .database: relationshipFaultMisses += 1
      case .parent: relationshipFaultsFromParent += 1
      case nil: break
      }
    case .rowCacheHit, .rowCacheMiss, .batchLoad, .batchRequest, .notification, .merge,
      .migrationStep, .storeOpening:
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
