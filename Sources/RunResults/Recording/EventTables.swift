import ProfileEvents

/// Recorded events in compact form: a fixed-size record for each, and tables of what many share.
///
/// An event takes 72 bytes, a statement with SQLite's counters 80 more, and everything else is
/// stored once for all events that have it in common. Copies share the tables.
struct EventTables: Sendable {
  /// The fields of one event.
  struct Record: Sendable {
    var id: Int
    var parent: Int
    var begin: UInt64
    var duration: UInt64
    var rows: Int
    /// The primary key of the object; meaningless if the shape has none.
    var key: Int64
    var shape: UInt32
    /// The position in `details`, plus 1, or 0.
    var details: UInt32
    /// The position in `extras`, plus 1, or 0.
    var extras: UInt32
    /// The position in `stacks`, plus 1, or 0.
    var stack: UInt32
    var kind: EventKind
    var source: FaultSource?
    var statement: StatementKind?
    /// The number of exchanges with a server, at most 65,535.
    var roundTrips: UInt16 = 0
  }

  /// The fields that many events have in common.
  ///
  /// It's a class because comparing and reading a struct with so many strings would copy them.
  final class Shape: Sendable, Hashable {
    let kind: EventKind
    let origin: EventOrigin?
    let entityName: String?
    let relationship: String?
    let object: StoreEntity?
    let sql: String?
    let thread: UInt64

    init(_ event: Event) {
      kind = event.kind
      origin = event.origin
      entityName = event.entityName
      relationship = event.relationship
      object = event.objectEntity
      sql = event.sql
      thread = event.thread
    }

    static func == (one: Shape, other: Shape) -> Bool {
      one.kind == other.kind && one.thread == other.thread && one.origin == other.origin
        && one.entityName == other.entityName && one.object == other.object
        && one.relationship == other.relationship && one.sql == other.sql
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(kind)
      hasher.combine(origin)
      hasher.combine(entityName)
      hasher.combine(relationship)
      hasher.combine(object)
      hasher.combine(sql)
    }

    /// The entity's name or, if none was set, that of the object's.
    var entity: String? { entityName ?? object?.entity }

    /// Returns whether this is the shape of an event.
    func matches(_ event: Event) -> Bool {
      kind == event.kind && thread == event.thread
        && (origin === event.origin || origin == event.origin)
        && (object === event.objectEntity || object == event.objectEntity)
        && entityName == event.entityName && relationship == event.relationship
        && sql == event.sql
    }
  }

  /// The recorded details of most statements.
  struct StatementDetails: Sendable {
    var work: StatementWork?
    var binds: [String]?
  }

  /// The fields that few events have.
  struct Extras: Sendable {
    var rounds: Int
    var intArrays: Int
    var arrays: [ContiguousArray<Int64>]?
    var migration: MigrationRecord?
    var path: String?
    var request: RequestRecord?
    var found: [StatementRecord.FoundObject]?
    var plan: [String]?

    /// Returns whether an event has extras.
    static func exist(in event: Event) -> Bool {
      if event.hasRareFields { return true }
      guard let statement = event.statement else { return false }
      return statement.intArrays != 0 || statement.found != nil || statement.plan != nil
    }

    init(_ event: Event) {
      let statement = event.statement
      rounds = event.rounds
      intArrays = statement?.intArrays ?? 0
      arrays = statement?.arrays
      migration = event.migration
      path = event.path
      request = event.request
      found = statement?.found
      plan = statement?.plan
    }
  }

  private(set) var records = BlockArray<Record>()
  private(set) var shapes = BlockArray<Shape>()
  private(set) var details = BlockArray<StatementDetails>()
  private(set) var extras = BlockArray<Extras>()
  private(set) var stacks = BlockArray<[UInt]>()
  /// The positions of the shapes whose first arrays are recorded; those of other executions aren't.
  private var shapesWithArrays: Set<UInt32> = []

  /// Appends an event whose shape is at a position.
  mutating func append(_ event: Event, shape: UInt32) {
    var record = Record(
      id: event.id, parent: event.parent, begin: event.begin, duration: event.duration,
      rows: event.rows, key: event.primaryKey, shape: shape, details: 0, extras: 0, stack: 0,
      kind: event.kind, source: event.source, statement: event.statementKind,
      roundTrips: UInt16(clamping: event.roundTrips))
    if !event.isPlain { addDetails(of: event, to: &record) }
    records.append(record)
  }

  /// Appends what few events have.
  private mutating func addDetails(of event: Event, to record: inout Record) {
    if let statement = event.statement, statement.work != nil || statement.binds != nil {
      details.append(StatementDetails(work: statement.work, binds: statement.binds))
      record.details = UInt32(details.count)
    }
    if Extras.exist(in: event) {
      var rest = Extras(event)
      if rest.arrays != nil, !shapesWithArrays.insert(record.shape).inserted { rest.arrays = nil }
      extras.append(rest)
      record.extras = UInt32(extras.count)
    }
    if !event.stack.isEmpty {
      stacks.append(event.stack)
      record.stack = UInt32(stacks.count)
    }
  }

  /// Appends a shape, and returns its position.
  mutating func append(_ shape: Shape) -> UInt32 {
    shapes.append(shape)
    return UInt32(shapes.count - 1)
  }
}

/// Event tables that no longer change, in one reference.
final class SharedEventTables: Sendable {
  let records: BlockArray<EventTables.Record>
  let shapes: BlockArray<EventTables.Shape>
  let details: BlockArray<EventTables.StatementDetails>
  let extras: BlockArray<EventTables.Extras>
  let stacks: BlockArray<[UInt]>

  init(_ tables: EventTables) {
    records = tables.records
    shapes = tables.shapes
    details = tables.details
    extras = tables.extras
    stacks = tables.stacks
  }
}

/// Collects events in tables.
///
/// **Cost:** usually one comparison with the shape that followed the last event's shape before,
/// whose strings are mostly the same objects; else comparisons with the latest shapes, or a look-up
/// in a dictionary of all.
struct EventCollector {
  private(set) var tables = EventTables()
  private var positions: [EventTables.Shape: UInt32] = [:]
  /// The position of the shape that last followed each shape.
  private var successors: [UInt32] = []
  private var last = 0
  /// The positions of the shapes that were last looked up, which are replaced in turn.
  private var latest: [UInt32] = []
  private var oldest = 0

  private static let latestCount = 8

  /// Appends an event.
  mutating func append(_ event: Event) {
    let position = position(of: event)
    tables.append(event, shape: position)
    last = Int(position)
  }

  private mutating func position(of event: Event) -> UInt32 {
    if !successors.isEmpty {
      let expected = successors[last]
      if tables.shapes[Int(expected)].matches(event) { return expected }
    }
    let position = latest.first { tables.shapes[Int($0)].matches(event) } ?? lookUp(event)
    if successors.count < tables.shapes.count { successors.append(position) }
    successors[last] = position
    return position
  }

  private mutating func lookUp(_ event: Event) -> UInt32 {
    let shape = EventTables.Shape(event)
    let position = positions[shape] ?? tables.append(shape)
    positions[shape] = position
    if latest.count < Self.latestCount {
      latest.append(position)
    } else {
      latest[oldest] = position
      oldest = (oldest + 1) % Self.latestCount
    }
    return position
  }
}
