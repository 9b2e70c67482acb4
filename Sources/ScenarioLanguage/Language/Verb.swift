/// The verb of a step: the first word of a shell line, and the key of the step's subject in YAML.
package enum Verb: String, CaseIterable, Sendable {
  case fetch
  case results
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
  case history
  case migrate
  case finishMigration = "finish-migration"

  /// The kind of subject that a verb takes.
  package enum Subject: Sendable {
    /// The name of an entity.
    case entity
    /// The name that an earlier step gave to its result.
    case result
    /// The name of an existing or a new context.
    case context
    /// Text: an SQL statement, the name of a pragma or of a version of the model, or a word.
    case text
    /// No subject.
    case none
  }

  /// The kind of subject that the verb takes.
  package var subject: Subject {
    switch self {
    case .fetch, .results, .count, .insert, .batchInsert, .batchUpdate, .batchDelete, .index:
      .entity
    case .touch, .walk, .set, .relate, .delete, .refresh, .drop, .merge: .result
    case .context: .context
    case .sql, .pragma, .history, .migrate: .text
    case .save, .rollback, .undo, .reset, .pin, .analyze, .finishMigration: .none
    }
  }

  /// The kind of thing that `as NAME` names.
  package enum Named: Sendable {
    /// The result of the step.
    case result
    /// The index that the step creates.
    case index
  }

  /// The kind of thing that `as NAME` names, or `nil` if the verb doesn't take `as`.
  package var named: Named? {
    switch self {
    case .fetch, .results, .insert, .save, .batchInsert, .batchUpdate, .batchDelete: .result
    case .index: .index
    default: nil
    }
  }

  /// The YAML key of the verb's key paths, or `nil` if the verb takes none.
  package var pathsKey: String? {
    switch self {
    case .touch: "read"
    case .walk: "through"
    default: nil
    }
  }

  /// Whether the step runs in a context and therefore takes `in`.
  ///
  /// Other steps access the store without using a context.
  package var isInContext: Bool {
    switch self {
    case .context, .index, .sql, .pragma, .analyze, .history, .migrate, .finishMigration: false
    default: true
    }
  }

  /// Whether the step changes the store or prepares a change.
  package var changesData: Bool {
    switch self {
    case .insert, .set, .relate, .delete, .save, .batchInsert, .batchUpdate, .batchDelete, .index,
      .sql, .pragma, .analyze, .history, .migrate, .finishMigration:
      true
    default: false
    }
  }
}

extension Verb {
  /// The options of the verb, other than `as`, `in`, and `fails`.
  package var options: [OptionWord] {
    switch self {
    case .fetch:
      [
        .predicate, .sort, .limit, .offset, .batch, .prefetch, .values, .faults, .pending,
        .subentities, .result, .columns, .group, .having, .distinct, .refreshes,
      ]
    case .results:
      [
        .predicate, .sort, .limit, .offset, .batch, .prefetch, .values, .faults, .subentities,
        .sections, .cache, .delegate,
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
    case .migrate: [.way, .mapping]
    case .finishMigration: [.times]
    case .save, .rollback, .drop, .reset, .sql, .analyze, .history: []
    }
  }

  /// The options of the verb, including `in`.
  package var allOptions: [OptionWord] {
    options + (isInContext ? [.context] : [])
  }

  /// The syntax of the verb for help and errors.
  package var usage: String {
    switch self {
    case .fetch:
      "fetch ENTITY [where \"…\"] [sort KEY-] [limit N] [batch N] [prefetch KEY] [as NAME]"
    case .results:
      "results ENTITY sort KEY [where \"…\"] [batch N] [sections KEY] [cache NAME] [as NAME]"
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
    case .batchUpdate:
      "batch-update ENTITY with KEY VALUE, KEY = \"…\", … [where \"…\"] [as NAME]"
    case .batchDelete: "batch-delete ENTITY [where \"…\"] [limit N] [as NAME]"
    case .index: "index ENTITY keys KEY, KEY- as NAME | remove NAME"
    case .sql: "sql \"STATEMENT\""
    case .pragma: "pragma NAME to VALUE"
    case .history: "history track|purge"
    case .migrate: "migrate VERSION [way deferred|progressive|staged|custom] [mapping FILE]"
    case .finishMigration: "finish-migration [times N]"
    case .rollback, .reset, .analyze: rawValue
    }
  }

  /// A short description of the verb for help.
  package var summary: String {
    switch self {
    case .fetch: "run a fetch request; `as NAME` keeps its result under a name"
    case .results: "create a fetched results controller, and perform its fetch"
    case .count: "count rows without loading them"
    case .touch: "read key paths of each object of a result, in order"
    case .walk:
      "iterate over a result, or a relationship's destinations, without reading properties"
    case .insert: "insert objects"
    case .set: "set properties of each object of a result"
    case .relate: "add to or remove from a to-many relationship"
    case .delete: "delete each object of a result"
    case .save: "save the context; `as NAME` keeps the did-save notification for `merge`"
    case .rollback: "discard unsaved changes"
    case .undo: "undo the last change group"
    case .refresh: "turn each object of a result back into a fault"
    case .drop: "release a named result, or a context with its objects and results"
    case .reset: "reset the context: release its objects and results and discard unsaved changes"
    case .context: "create a context or change one"
    case .merge: "merge changes from a did-save notification or a batch request's object IDs"
    case .pin: "pin the context to a query generation"
    case .batchInsert: "insert rows without creating objects"
    case .batchUpdate: "update rows without loading objects"
    case .batchDelete: "delete rows without loading objects"
    case .index: "create or drop an index of the store"
    case .sql: "run a statement on the store, on a separate connection"
    case .pragma: "reopen the store with an SQLite pragma"
    case .analyze: "gather SQLite's statistics on tables and indexes"
    case .history: "reopen the store with persistent history, or delete its transactions"
    case .migrate: "migrate the store to another version of its model, and reopen it"
    case .finishMigration: "finish the deferred work of a migration, or N units of it"
    }
  }
}

extension Verb {
  /// The alternative groups of words that a step requires in addition to its subject.
  ///
  /// A step must have all words of at least one group. Empty if the verb requires none.
  package var needs: [[String]] {
    switch self {
    case .touch: [[pathsKey].compactMap(\.self)]
    case .results: [[OptionWord.sort.rawValue]]
    case .set, .batchUpdate: [[OptionWord.assignments.rawValue]]
    case .relate: [[OptionWord.assignments.rawValue], [OptionWord.removals.rawValue]]
    case .index: [[OptionWord.keys.rawValue, "as"], [OptionWord.remove.rawValue]]
    case .pragma: [[OptionWord.to.rawValue]]
    default: []
    }
  }

  /// The words that can't be combined in one step.
  ///
  /// Empty if there are none.
  package var clashes: [String] {
    switch self {
    case .index: [OptionWord.keys.rawValue, OptionWord.remove.rawValue]
    case .migrate: [OptionWord.way.rawValue, OptionWord.mapping.rawValue]
    default: []
    }
  }

  /// Returns a description of what the step is missing, or `nil` if it's complete.
  func missing(from words: Set<String>) -> String? {
    if !clashes.isEmpty, words.isSuperset(of: clashes) {
      return "either `\(clashes.joined(separator: "` or `"))`; use two steps"
    }
    guard !needs.isEmpty, !needs.contains(where: words.isSuperset) else { return nil }
    switch self {
    case .results: return "`sort` and the keys of its order"
    case .touch: return "the key paths to read"
    case .relate: return "`with` or `without`, a relationship, and a result"
    case .index where words.contains(OptionWord.keys.rawValue):
      return "`as` and a name for the index"
    case .index: return "`keys` and `as` to create an index, or `remove` to drop one"
    case .pragma: return "`to` and a value"
    default: return "`with` and the values to set"
    }
  }
}

extension Step {
  /// The words of the step, other than its verb and subject.
  var words: Set<String> {
    var words = Set(options.map(\.word.rawValue))
    if name != nil { words.insert("as") }
    if !reads.isEmpty, let key = verb.pathsKey { words.insert(key) }
    return words
  }
}
