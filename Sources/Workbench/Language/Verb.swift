/// What a step does; the first word of a shell line, the key of a step's subject in YAML.
package enum Verb: String, CaseIterable, Sendable {
  case fetch
  case count
  case touch
  case walk
  case insert
  case set
  case relate
  case delete
  case save
  case rollback
  case undo
  case refresh
  case drop
  case reset
  case context
  case merge
  case pin
  case batchInsert = "batch-insert"
  case batchUpdate = "batch-update"
  case batchDelete = "batch-delete"
  case index
  case sql
  case pragma
  case analyze

  /// What a verb acts on.
  package enum Subject: Sendable {
    /// The name of an entity.
    case entity
    /// The name a step before gave its result.
    case result
    /// Nothing.
    case none
  }

  /// What stands behind the verb.
  package var subject: Subject {
    switch self {
    case .fetch, .count, .insert, .batchInsert, .batchUpdate, .batchDelete: .entity
    case .touch, .walk, .set, .relate, .delete, .refresh, .drop: .result
    case .save, .rollback, .undo, .reset, .context, .merge, .pin, .index, .sql, .pragma, .analyze:
      .none
    }
  }

  /// Whether a session can run it.
  ///
  /// The others are words of the language that it refuses by name.
  package var isRunnable: Bool {
    switch self {
    case .fetch, .count, .touch, .insert, .set, .delete, .save, .rollback, .refresh, .drop, .reset:
      true
    case .walk, .relate, .undo, .context, .merge, .pin, .batchInsert, .batchUpdate, .batchDelete,
      .index, .sql, .pragma, .analyze:
      false
    }
  }

  /// The options it takes, beside `as`, `in` and `fails`.
  package var options: [OptionWord] {
    switch self {
    case .fetch:
      [
        .predicate, .sort, .limit, .offset, .batch, .prefetch, .values, .faults, .pending,
        .subentities, .result,
      ]
    case .count: [.predicate, .limit, .offset, .pending, .subentities]
    case .touch, .delete: [.limit, .offset]
    case .insert: [.times, .assignments]
    case .set: [.assignments, .limit, .offset]
    case .refresh: [.keep, .limit, .offset]
    default: []
    }
  }

  /// Whether `as NAME` makes sense: the step has a result to hold.
  package var hasResult: Bool {
    self == .fetch || self == .insert
  }

  /// How it is written, for help and for errors.
  package var usage: String {
    switch self {
    case .fetch:
      "fetch ENTITY [where \"…\"] [sort KEY-] [limit N] [batch N] [prefetch KEY] [as NAME]"
    case .count: "count ENTITY [where \"…\"]"
    case .touch: "touch NAME KEY… [limit N] [offset N]"
    case .insert: "insert ENTITY [times N] [with KEY VALUE, …] [as NAME]"
    case .set: "set NAME with KEY VALUE, … [limit N] [offset N]"
    case .delete: "delete NAME [limit N] [offset N]"
    case .refresh: "refresh NAME [keep yes|no] [limit N] [offset N]"
    case .drop: "drop NAME"
    default: rawValue
    }
  }

  /// What it does, in a few words, for help.
  package var summary: String {
    switch self {
    case .fetch: "run a fetch request; `as NAME` names its result and holds it"
    case .count: "count rows without loading them"
    case .touch: "read key paths of each object of a result, in order"
    case .walk: "follow relationships to the end"
    case .insert: "insert objects"
    case .set: "set properties of each object of a result"
    case .relate: "add to a to-many relationship"
    case .delete: "delete each object of a result"
    case .save: "save the context"
    case .rollback: "throw unsaved changes away"
    case .undo: "undo the last group of changes"
    case .refresh: "turn each object of a result back into a fault"
    case .drop: "let a named result go"
    case .reset: "let every object and every name go, and the unsaved changes with them"
    case .context: "make another context"
    case .merge: "merge another context's save"
    case .pin: "pin the context to a query generation"
    case .batchInsert: "insert rows without objects"
    case .batchUpdate: "update rows without objects"
    case .batchDelete: "delete rows without objects"
    case .index: "make or drop an index"
    case .sql: "run SQL on the store"
    case .pragma: "set a pragma of SQLite"
    case .analyze: "let SQLite gather statistics"
    }
  }
}
