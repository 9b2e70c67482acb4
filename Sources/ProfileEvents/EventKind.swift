/// What an event tells of.
package enum EventKind: String, CaseIterable, Sendable, Codable {
  case fetch
  case save
  case objectFault
  case relationshipFault
  case rowCacheHit
  case rowCacheMiss
  case prefetch
  case batchLoad
  case batchRequest
  case statement
  case transaction
  case notification
  /// A context took over what was saved elsewhere; `rows` are the objects it was told of.
  case merge
  case migrationStep
  /// A store was connected to; `path` says which file.
  case storeOpening
}

/// What filled a fault.
package enum FaultSource: String, Sendable, Codable {
  /// The store's row cache; no statement ran.
  case rowCache
  /// A parent context.
  case parent
  /// The database; at least one statement ran.
  case database
}

/// What a statement does, by which the counters count it.
package enum StatementKind: String, Sendable, Codable {
  /// Reads rows of entities.
  case select
  case insert
  case update
  case delete
  /// `BEGIN`, `COMMIT`, `ROLLBACK` of a write transaction.
  case transaction
  /// Metadata, primary keys, pragmas, schema.
  case housekeeping
}
