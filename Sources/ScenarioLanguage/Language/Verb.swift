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
    /// The name of a context, known or new.
    case context
    /// A text: a statement, or a pragma's name.
    case text
    /// Nothing.
    case none
  }

  /// What follows the verb.
  package var subject: Subject {
    switch self {
    case .fetch, .count, .insert, .batchInsert, .batchUpdate, .batchDelete, .index: .entity
    case .touch, .walk, .set, .relate, .delete, .refresh, .drop, .merge: .result
    case .context: .context
    case .sql, .pragma: .text
    case .save, .rollback, .undo, .reset, .pin, .analyze: .none
    }
  }

  /// What `as NAME` names.
  package enum Named: Sendable {
    /// What the step brings, which is held under the name.
    case result
    /// The index that the step makes.
    case index
  }

  /// What `as NAME` names; nil where it makes no sense.
  package var named: Named? {
    switch self {
    case .fetch, .insert, .save, .batchInsert, .batchUpdate, .batchDelete: .result
    case .index: .index
    default: nil
    }
  }

  /// The key of the key paths that the verb takes in addition to its options, in YAML; nil when it takes none.
  package var pathsKey: String? {
    switch self {
    case .touch: "read"
    case .walk: "through"
    default: nil
    }
  }

  /// Whether the step is a context's, so that it takes `in`.
  ///
  /// The others speak to the store past every context.
  package var isInContext: Bool {
    switch self {
    case .context, .index, .sql, .pragma, .analyze: false
    default: true
    }
  }

  /// Whether the step can write to the store, or is about to.
  package var changesData: Bool {
    switch self {
    case .insert, .set, .relate, .delete, .save, .batchInsert, .batchUpdate, .batchDelete, .index,
      .sql, .pragma, .analyze:
      true
    default: false
    }
  }
}

extension Verb {
  /// The options it takes, in addition to `as`, `in` and `fails`.
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
    case .fetch: "run a fetch request; `as NAME` keeps its result under a name"
    case .count: "count rows without loading them"
    case .touch: "read key paths of each object of a result, in order"
    case .walk: "iterate over a result, or the destinations of a relationship, and read nothing"
    case .insert: "insert objects"
    case .set: "set properties of each object of a result"
    case .relate: "add to or remove from a to-many relationship"
    case .delete: "delete each object of a result"
    case .save: "save the context; `as NAME` keeps its did-save notification, to be merged"
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
    case .sql: "run a statement on the store, on a separate connection"
    case .pragma: "reopen the store with a pragma of SQLite"
    case .analyze: "let SQLite gather statistics of tables and indexes"
    }
  }
}

extension Verb {
  /// Words that a step must have in addition to its subject: one of the groups as a whole.
  ///
  /// Empty when nothing must be there.
  package var needs: [[String]] {
    switch self {
    case .touch: [[pathsKey].compactMap(\.self)]
    case .set, .batchUpdate: [[OptionWord.assignments.rawValue]]
    case .relate: [[OptionWord.assignments.rawValue], [OptionWord.removals.rawValue]]
    case .index: [[OptionWord.keys.rawValue, "as"], [OptionWord.remove.rawValue]]
    case .pragma: [[OptionWord.to.rawValue]]
    default: []
    }
  }

  /// Words that cannot stand in one step; empty when all can.
  package var clashes: [String] {
    self == .index ? [OptionWord.keys.rawValue, OptionWord.remove.rawValue] : []
  }

  /// What a step with these words lacks, in words; nil when it is complete.
  func missing(from words: Set<String>) -> String? {
    if !clashes.isEmpty, words.isSuperset(of: clashes) {
      return "to make an index or to drop one; these are two steps"
    }
    guard !needs.isEmpty, !needs.contains(where: words.isSuperset) else { return nil }
    switch self {
    case .touch: return "the key paths to read"
    case .relate: return "`with` or `without`, a relationship and a result"
    case .index where words.contains(OptionWord.keys.rawValue):
      return "`as` and a name for the index"
    case .index: return "`keys` and `as` to make one, or `remove` to drop one"
    case .pragma: return "`to` and a value"
    default: return "`with` and the values to set"
    }
  }
}

extension Step {
  /// The words that are written in addition to verb and subject.
  var words: Set<String> {
    var words = Set(options.map(\.word.rawValue))
    if name != nil { words.insert("as") }
    if !reads.isEmpty, let key = verb.pathsKey { words.insert(key) }
    return words
  }
}
