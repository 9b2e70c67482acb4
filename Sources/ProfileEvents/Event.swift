/// An event, emitted when it ends.
///
/// Events are created only while a sink is attached. Because an event is emitted at its end,
/// children are emitted before their parents. The order of `id` is the order in which events began.
package struct Event: Sendable, Identifiable {
  /// The ID, starting at 1 for each hub, in the order in which events began.
  package var id: Int
  /// The ID of the enclosing event, or 0.
  package var parent: Int
  package var kind: EventKind
  /// The start time, in nanoseconds of `MonotonicClock`.
  package var begin: UInt64
  /// The duration, in nanoseconds.
  package var duration: UInt64
  /// The operating system's thread ID.
  package var thread: UInt64
  /// The number of rows returned, objects saved or merged, or rows changed, depending on the kind.
  package var rows: Int
  /// The number of exchanges with a server, for a program's own store only.
  package var roundTrips: Int
  /// The context's name and the call site; `nil` if neither is known.
  package private(set) var origin: EventOrigin?
  /// The entity's name, if it was set; `entity` is that of the object otherwise.
  package private(set) var entityName: String?
  /// The relationship of a relationship fault, or the key path component of a prefetch.
  package var relationship: String?
  /// The store and entity of the object, if there's one.
  package private(set) var objectEntity: StoreEntity?
  /// The primary key of the object; 0 without one.
  package private(set) var primaryKey: Int64
  /// The SQL of the statement, if there's one.
  package private(set) var sql: String?
  private var statementDetails: StatementRecord.Details?
  private var intArrays: Int
  /// The purpose of the statement, if there's one.
  package private(set) var statementKind: StatementKind?
  /// The source of a fault's values, for faults only.
  package var source: FaultSource?
  /// The return addresses, innermost first; empty unless a sink requires stacks.
  package var stack: [UInt]
  private var rare: Rare?

  /// The fields that few events have, in a block of their own, so that others are copied and
  /// destroyed faster.
  private final class Rare: Sendable {
    struct Fields: Sendable {
      var rounds = 0
      var migration: MigrationRecord?
      var failure: FailureRecord?
      var path: String?
      var request: RequestRecord?
    }

    let fields: Fields

    init(_ fields: Fields) {
      self.fields = fields
    }
  }

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
    self.roundTrips = 0
    self.primaryKey = 0
    self.intArrays = 0
    self.stack = []
  }
}

/// The context and the call site of events: one object for all events that have both in common, so
/// that an event retains one object instead of two strings.
package final class EventOrigin: Hashable, Sendable {
  /// The context's name, or `nil` if it has none or no context was involved.
  package let context: String?
  package let callSite: CallSite?

  package init(context: String?, callSite: CallSite?) {
    self.context = context
    self.callSite = callSite
  }

  package static func == (one: EventOrigin, other: EventOrigin) -> Bool {
    one === other || one.context == other.context && one.callSite == other.callSite
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(context)
    hasher.combine(callSite)
  }
}

extension Event {
  /// Sets the context's name and the call site.
  package mutating func setOrigin(_ origin: EventOrigin?) {
    self.origin = origin
  }

  /// The context's name, or `nil` if it has none or no context was involved.
  package var context: String? {
    get { origin?.context }
    set { setOrigin(context: newValue, callSite) }
  }

  /// The line of the program, scenario, or shell that caused the event, if it's known.
  package var callSite: CallSite? {
    get { origin?.callSite }
    set { setOrigin(context: context, newValue) }
  }

  private mutating func setOrigin(context: String?, _ callSite: CallSite?) {
    let isKnown = context != nil || callSite != nil
    origin = isKnown ? EventOrigin(context: context, callSite: callSite) : nil
  }

  /// The name of the fetched, saved, or otherwise affected entity; that of the object unless it was
  /// set.
  package var entity: String? {
    get { entityName ?? objectEntity?.entity }
    set { entityName = newValue }
  }

  /// The object of a fault or a row-cache look-up.
  package var object: ObjectReference? {
    get { objectEntity.map { ObjectReference($0, primaryKey: primaryKey) } }
    set { (objectEntity, primaryKey) = (newValue?.origin, newValue?.primaryKey ?? 0) }
  }

  /// The statement, for statements and for events that record their query.
  package var statement: StatementRecord? {
    get {
      guard let sql, let statementKind else { return nil }
      return StatementRecord(
        kind: statementKind, sql: sql, intArrays: intArrays, statementDetails)
    }
    set {
      sql = newValue?.sql
      statementKind = newValue?.kind
      intArrays = newValue?.intArrays ?? 0
      statementDetails = newValue?.details
    }
  }

  /// Sets the statement as `statement` does, without copying a record.
  package mutating func setStatement(
    _ kind: StatementKind, sql: String, binds: [String]? = nil, intArrays: Int = 0,
    arrays: [ContiguousArray<Int64>]? = nil, work: StatementWork? = nil,
    found: [StatementRecord.FoundObject]? = nil, plan: [String]? = nil
  ) {
    self.sql = sql
    statementKind = kind
    self.intArrays = intArrays
    statementDetails = .containing(binds, arrays, work, found, plan)
  }

  /// The number of passes of validation and `willSave` until one changed nothing, for saves only.
  package var rounds: Int {
    get { rare?.fields.rounds ?? 0 }
    set { if newValue != 0 || rare != nil { change { $0.rounds = newValue } } }
  }

  /// What a migration or a step of it did, for events of these two kinds only.
  package var migration: MigrationRecord? {
    get { rare?.fields.migration }
    set { if newValue != nil || rare != nil { change { $0.migration = newValue } } }
  }

  /// What failed, for failures only.
  package var failure: FailureRecord? {
    get { rare?.fields.failure }
    set { if newValue != nil || rare != nil { change { $0.failure = newValue } } }
  }

  /// The file, for the opening of a store.
  package var path: String? {
    get { rare?.fields.path }
    set { if newValue != nil || rare != nil { change { $0.path = newValue } } }
  }

  /// The request of a fetch or count, or `nil` unless a sink requires rows.
  package var request: RequestRecord? {
    get { rare?.fields.request }
    set { if newValue != nil || rare != nil { change { $0.request = newValue } } }
  }

  /// Whether it has one of the fields above, or had one.
  package var hasRareFields: Bool { rare != nil }

  /// Whether its statement has arrays, or details that a sink requires.
  package var hasStatementDetails: Bool { statementDetails != nil || intArrays != 0 }

  /// Whether it has neither these fields, nor a stack, nor a statement with arrays or details.
  package var isPlain: Bool { rare == nil && !hasStatementDetails && stack.isEmpty }

  private mutating func change(_ change: (inout Rare.Fields) -> Void) {
    var fields = rare?.fields ?? Rare.Fields()
    change(&fields)
    rare = Rare(fields)
  }
}

/// What failed, as far as it's known where the error is caught.
package enum FailureRecord: Sendable {
  /// The event is the operation itself, which would be of this kind if it had succeeded.
  case operation(EventKind, FailureCode)
  /// A read of the event's `parent`, which fails too unless an event with its ID follows.
  case read(FailureCode)
  /// The block that reads have failed in ends: what hasn't ended by now has failed.
  case blockEnd
}

/// The identification of an error, without its message, which can contain private data.
package struct FailureCode: Sendable, Hashable {
  package var domain: String
  package var code: Int
  /// SQLite's extended result code; `nil` if SQLite hasn't caused the error.
  package var resultCode: Int?

  package init(domain: String, code: Int, resultCode: Int?) {
    (self.domain, self.code, self.resultCode) = (domain, code, resultCode)
  }
}

/// The conditions of a request, as strings.
package struct RequestRecord: Sendable {
  /// The predicate's format string, including constants, or `nil` if there is no predicate.
  package var predicate: String?
  /// The sort descriptors.
  package var sort: [String]

  package init(predicate: String?, sort: [String]) {
    self.predicate = predicate
    self.sort = sort
  }
}

/// What a migration or a step of it did.
package struct MigrationRecord: Sendable, Hashable {
  /// The kind of work, which determines how it's counted.
  package enum Work: String, Sendable, Codable {
    /// A whole migration in place, with an inferred mapping.
    case inferred
    /// A whole migration into a new file, with mapping models.
    case mapped
    /// A whole unit of the deferred work of a migration.
    case deferredUnit
    /// A statement that changes the schema, other than those below.
    case schema
    /// A statement that adds a column to a table that stays.
    case addColumn
    /// A statement that creates an index.
    case createIndex
    /// A statement that copies the rows of a table to a new one.
    case copyTable
    /// A statement that inserts, updates, or deletes rows in place.
    case changeRows
    /// A statement that updates entity IDs, history, or other tables that aren't of entities.
    case housekeeping
    /// The pass of an entity mapping that creates instances.
    case instances
    /// The pass of an entity mapping that sets relationships.
    case relationships
    /// The validation of all instances.
    case validation
  }

  package var work: Work
  /// A description, such as `Mood: add ZRATING`.
  package var purpose: String

  package init(work: Work, purpose: String) {
    (self.work, self.purpose) = (work, purpose)
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
  /// A context merged changes from another; `rows` is the number of objects in the notification.
  case merge
  /// A store was migrated to another version; encloses its steps.
  case migration
  /// A statement of a migration in place, or a pass of an entity mapping; `rows` is the number of
  /// rows that it wrote.
  case migrationStep
  /// A store was opened; `path` is its file.
  case storeOpening
  /// Exchanges of a program's own store with its server that belong to no statement.
  case roundTrip
  /// An operation or a read that failed; emitted only if a sink requires failures.
  case failure
}

extension EventDetail {
  /// Events for what fails, in addition to those for what succeeds.
  @inlinable package static var failures: EventDetail { EventDetail(rawValue: 64) }
}

/// The source from which a fault was fulfilled.
package enum FaultSource: String, Sendable, Codable {
  /// The store's row cache.
  ///
  /// No statement was executed.
  case rowCache
  /// A parent context.
  case parent
  /// The database.
  ///
  /// At least one statement was executed.
  case database
}

/// A reference to an object in a store, inexpensive enough to be part of every fault event.
package struct ObjectReference: Hashable, Sendable {
  /// The object's store and own entity, not the fetched entity.
  package let origin: StoreEntity
  /// `Z_PK`.
  package let primaryKey: Int64

  package init(_ origin: StoreEntity, primaryKey: Int64) {
    self.origin = origin
    self.primaryKey = primaryKey
  }

  package init(store: String, entity: String, primaryKey: Int64) {
    self.init(StoreEntity(store: store, entity: entity), primaryKey: primaryKey)
  }

  /// The store's identifier (`Z_UUID`).
  package var store: String { origin.store }

  /// The name of the object's own entity, not of the fetched entity.
  package var entity: String { origin.entity }

  /// The URI that Core Data prints for the same object, such as `x-coredata://STORE/Entity/p4`.
  package var uri: String {
    "x-coredata://\(store)/\(entity)/p\(primaryKey)"
  }
}

/// An entity in a store: one object for all references to its objects.
package final class StoreEntity: Hashable, Sendable {
  /// The store's identifier (`Z_UUID`).
  package let store: String
  /// The entity's name.
  package let entity: String

  package init(store: String, entity: String) {
    self.store = store
    self.entity = entity
  }

  package static func == (one: StoreEntity, other: StoreEntity) -> Bool {
    one === other || one.entity == other.entity && one.store == other.store
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(store)
    hasher.combine(entity)
  }
}
