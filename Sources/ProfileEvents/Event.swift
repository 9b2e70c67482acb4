/// One thing that happened, emitted once it's over.
///
/// Created only while a sink is attached. Children are emitted before their parents, because an event
/// is emitted at its end; `id` gives the order in which events began.
package struct Event: Sendable, Identifiable {
  /// Counted from 1 in the order of beginning, for each hub.
  package var id: Int
  /// The event this one happened inside of; 0 when there is none.
  package var parent: Int
  package var kind: EventKind
  /// Nanoseconds of `MonotonicClock` at the beginning.
  package var begin: UInt64
  /// Nanoseconds from beginning to end.
  package var duration: UInt64
  /// The operating system's number of the thread.
  package var thread: UInt64
  /// The context's name; nil when it has none or no context took part.
  package var context: String?
  package var entity: String?
  /// The relationship of a relationship fault, or the step of a key path of a prefetch.
  package var relationship: String?
  package var object: ObjectReference?
  /// Faults only.
  package var source: FaultSource?
  /// Rows returned, objects saved or merged, or rows changed, by kind.
  package var rows: Int
  /// Saves only: the rounds of validation and `willSave` until one changed nothing.
  package var rounds: Int
  /// Statements, and the events that name what they asked for.
  package var statement: StatementRecord?
  /// The file of a store opening.
  package var path: String?
  /// What a fetch or count asked for; nil unless a sink asked for rows.
  package var request: RequestRecord?
  package var callSite: CallSite?
  /// Return addresses, innermost first; empty unless a sink asked for stacks.
  package var stack: [UInt]

  package init(
    id: Int, parent: Int, kind: EventKind, begin: UInt64, duration: UInt64, thread: UInt64
  ) {
    self.id = id
    self.parent = parent
    self.kind = kind
    self.begin = begin
    self.duration = duration
    self.thread = thread
    self.rows = 0
    self.rounds = 0
    self.stack = []
  }
}

/// The conditions of a request, as texts.
package struct RequestRecord: Sendable {
  /// The predicate's format, constants included; nil without one.
  package var predicate: String?
  /// The sort descriptors; empty without any.
  package var sort: [String]

  package init(predicate: String?, sort: [String]) {
    self.predicate = predicate
    self.sort = sort
  }
}

/// A statement as it ran.
package struct StatementRecord: Sendable {
  package var kind: StatementKind
  /// The text with its placeholders; the same text is the same shape.
  package var sql: String
  /// Bound values as SQLDebug prints them; nil unless a sink asked for binds.
  package var binds: [String]?
  /// Values bound as `_Z_intarrayN`, counted; the log says that they were bound.
  package var intArrays: Int
  /// What SQLite did for it; nil unless a sink asked for the work.
  package var work: StatementWork?
  /// The objects of its rows; nil unless a sink asked for rows, and for rows that aren't objects.
  package var found: [FoundObject]?
  /// The plan as the `sqlite3` shell draws it; nil unless a sink asked for plans.
  package var plan: [String]?

  /// An object that a row was read of.
  package struct FoundObject: Sendable, Hashable {
    package var object: ObjectReference
    /// The name of the class that such objects have.
    package var className: String

    package init(object: ObjectReference, className: String) {
      self.object = object
      self.className = className
    }
  }

  package init(
    kind: StatementKind, sql: String, binds: [String]? = nil, intArrays: Int = 0,
    work: StatementWork? = nil
  ) {
    self.kind = kind
    self.sql = sql
    self.binds = binds
    self.intArrays = intArrays
    self.work = work
  }
}

/// The kind of an event.
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
  /// A context merged changes from another; `rows` are the objects in the notification.
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

/// Names one object of a store, cheaply enough to be part of every fault event.
package struct ObjectReference: Hashable, Sendable {
  /// The store's identifier (`Z_UUID`).
  package var store: String
  /// The name of the object's own entity, not of the entity that was asked for.
  package var entity: String
  /// `Z_PK`.
  package var primaryKey: Int64

  package init(store: String, entity: String, primaryKey: Int64) {
    self.store = store
    self.entity = entity
    self.primaryKey = primaryKey
  }

  /// `x-coredata://STORE/Entity/p4`, the URI that Apple's framework prints for the same object.
  package var uri: String {
    "x-coredata://\(store)/\(entity)/p\(primaryKey)"
  }
}
