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

  /// What stands behind the verb.
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

  /// The key of the key paths that the verb takes beside its options, in YAML; nil when it takes none.
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
