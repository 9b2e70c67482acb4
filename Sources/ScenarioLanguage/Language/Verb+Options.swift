extension Verb {
  /// The options it takes, beside `as`, `in` and `fails`.
  package var options: [OptionWord] {
    switch self {
    case .fetch:
      [
        .predicate, .sort, .limit, .offset, .batch, .prefetch, .values, .faults, .pending,
        .subentities, .result, .columns, .group, .having, .distinct,
      ]
    case .count: [.predicate, .limit, .offset, .pending, .subentities]
    case .touch, .delete: [.limit, .offset]
    case .walk: [.sort, .limit, .offset, .every, .array]
    case .insert, .batchInsert: [.times, .assignments]
    case .set: [.assignments, .limit, .offset]
    case .relate: [.assignments, .removals, .limit, .offset]
    case .undo: [.times, .redo]
    case .refresh: [.keep, .limit, .offset]
    case .context:
      [.parent, .queue, .coordinator, .policy, .merges, .staleness, .undoable, .retains]
    case .merge: [.remote]
    case .pin, .pragma: [.to]
    case .batchUpdate: [.predicate, .assignments, .subentities]
    case .batchDelete: [.predicate, .sort, .limit, .offset, .subentities]
    case .index: [.keys, .predicate, .remove]
    case .save, .rollback, .drop, .reset, .sql, .analyze: []
    }
  }

  /// The options it takes, `in` among them.
  package var allOptions: [OptionWord] {
    options + (isInContext ? [.context] : [])
  }

  /// How it is written, for help and for errors.
  package var usage: String {
    switch self {
    case .fetch:
      "fetch ENTITY [where \"…\"] [sort KEY-] [limit N] [batch N] [prefetch KEY] [as NAME]"
    case .count: "count ENTITY [where \"…\"]"
    case .touch: "touch NAME KEY… [limit N] [offset N]"
    case .walk: "walk NAME [RELATIONSHIP] [sort KEY-] [limit N] [every N] [array yes]"
    case .insert: "insert ENTITY [times N] [with KEY VALUE, …] [as NAME]"
    case .set: "set NAME with KEY VALUE, … [limit N] [offset N]"
    case .relate: "relate NAME with RELATIONSHIP NAME | without RELATIONSHIP NAME"
    case .delete: "delete NAME [limit N] [offset N]"
    case .save: "save [as NAME]"
    case .undo: "undo [times N] [redo yes]"
    case .refresh: "refresh NAME [keep yes|no] [limit N] [offset N]"
    case .drop: "drop NAME"
    case .context: "context NAME [parent NAME] [queue main] [policy overwrite] [merges yes]"
    case .merge: "merge NAME [in CONTEXT] [remote yes]"
    case .pin: "pin [to current|none|CONTEXT] [in CONTEXT]"
    case .batchInsert: "batch-insert ENTITY [times N] [with KEY VALUE, …] [as NAME]"
    case .batchUpdate: "batch-update ENTITY with KEY VALUE, … [where \"…\"] [as NAME]"
    case .batchDelete: "batch-delete ENTITY [where \"…\"] [limit N] [as NAME]"
    case .index: "index ENTITY keys KEY, KEY- as NAME | remove NAME"
    case .sql: "sql \"STATEMENT\""
    case .pragma: "pragma NAME to VALUE"
    case .rollback, .reset, .analyze: rawValue
    }
  }

  /// What it does, in a few words, for help.
  package var summary: String {
    switch self {
    case .fetch: "run a fetch request; `as NAME` names its result and holds it"
    case .count: "count rows without loading them"
    case .touch: "read key paths of each object of a result, in order"
    case .walk: "go through a result, or what a relationship leads to, and read nothing"
    case .insert: "insert objects"
    case .set: "set properties of each object of a result"
    case .relate: "add to or remove from a to-many relationship"
    case .delete: "delete each object of a result"
    case .save: "save the context; `as NAME` holds its did-save notification, to be merged"
    case .rollback: "throw unsaved changes away"
    case .undo: "take the last group of changes back"
    case .refresh: "turn each object of a result back into a fault"
    case .drop: "let a named result go, or a context with all that is its own"
    case .reset: "let every object and name of the context go, and the unsaved changes with them"
    case .context: "make another context, or change one"
    case .merge: "merge what was saved elsewhere: a save's notification, a batch request's IDs"
    case .pin: "pin the context to a query generation"
    case .batchInsert: "insert rows without objects"
    case .batchUpdate: "update rows without objects"
    case .batchDelete: "delete rows without objects"
    case .index: "make or drop an index of the store"
    case .sql: "run a statement on the store, through a connection of its own"
    case .pragma: "open the store anew with a pragma of SQLite"
    case .analyze: "let SQLite gather statistics of tables and indexes"
    }
  }
}
