package import ProfileEvents
import WorkbenchText

/// A group of events of one step with the same kind, subject, fault source, and SQL.
///
/// The shell's `last` prints one group per line: `#2  5,000 x  fault Mood  miss  SELECT …`.
package struct EventGroup: Sendable, Equatable {
  /// The group's number, from 1, in the order of first appearance, which `explain` takes.
  package var number: Int
  /// The number of statements, or of events that ran none.
  package var count: Int
  /// The number of events, which are part of the group of their first statement: the prefetch of a
  /// many-to-many relationship runs two.
  package var events: Int
  /// The kind of event: `fetch`, `fault`, `relationship fault`, `prefetch`, `page`, `save`,
  /// `insert`.
  package var word: String
  /// The entity or the relationship, `Mood` or `Country.moods`; empty if neither is known.
  package var subject: String
  /// The source that faults were fulfilled from, or `nil` for other events.
  package var source: FaultSource?
  /// The SQL of the statement, or `nil` if no statement ran, as for a row-cache hit.
  package var sql: String?
  package var rows: Int
  package var nanoseconds: UInt64
  package var callSite: CallSite?
  /// The number of the first event of the group.
  package var firstEvent: Int
  /// The work of SQLite for all statements of the group, or `nil` if there are none or it wasn't
  /// recorded.
  package var work: StatementWork?

  package init(
    number: Int, count: Int, events: Int? = nil, word: String, subject: String,
    source: FaultSource? = nil, sql: String? = nil, rows: Int, nanoseconds: UInt64,
    callSite: CallSite? = nil, firstEvent: Int, work: StatementWork? = nil
  ) {
    self.number = number
    self.count = count
    self.events = events ?? count
    self.word = word
    self.subject = subject
    self.source = source
    self.sql = sql
    self.rows = rows
    self.nanoseconds = nanoseconds
    self.callSite = callSite
    self.firstEvent = firstEvent
    self.work = work
  }

  /// The fault source as a word: `hit`, `miss`, `parent`, or an empty string.
  package var sourceWord: String {
    switch source {
    case .rowCache: "hit"
    case .database: "miss"
    case .parent: "parent"
    case nil: ""
    }
  }
}

extension EventGroup {
  /// Returns the lines that the shell's `last` prints, in columns and with abbreviated SQL.
  ///
  /// For example: `  #2  5,000 x  fault Mood     miss   SELECT 0, t0.Z_PK, … WHERE  t0.Z_PK = ?`
  package static func lines(_ groups: [EventGroup]) -> [String] {
    let rows = groups.map { group in
      (
        number: "#\(group.number)", count: NumberText.grouped(group.count),
        what: group.subject.isEmpty ? group.word : "\(group.word) \(group.subject)",
        source: group.sourceWord, sql: group.sql.map(SQLAbbreviation.short) ?? ""
      )
    }
    let number = rows.map(\.number.count).max() ?? 0
    let count = rows.map(\.count.count).max() ?? 0
    let what = rows.map { TextWidth.of($0.what) }.max() ?? 0
    let source = rows.map(\.source.count).max() ?? 0
    return rows.map { row in
      let line =
        "  \(NumberText.left(row.number, number))  \(NumberText.right(row.count, count)) x  "
        + "\(NumberText.left(row.what, what))  \(NumberText.left(row.source, source))   \(row.sql)"
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}

extension Recording {
  /// The groups of all events, numbered from 1.
  ///
  /// A statement is part of the fetch, fault, prefetch, or batch that ran it. The statements of a
  /// save form their own groups. Row-cache events are omitted because they duplicate fault events.
  package var groups: [EventGroup] {
    var collector = GroupCollector()
    let owners = StatementOwners(of: self)
    var cursor = StepCursor(steps)
    for (index, event) in events.enumerated() {
      let step = cursor.step(of: event.id)
      if event.kind == .statement {
        guard let statement = event.statement, statement.kind.isCounted, !owners.isOwned(index)
        else { continue }
        collector.add(event, word: statement.kind.rawValue, sql: event, step: step)
      } else if let word = event.kind.groupWord {
        let own = owners.statements(of: index)
        let text = event.kind == .migrationStep ? event : nil
        if own.isEmpty { collector.add(event, word: word, sql: text, step: step) }
        for (position, statement) in own.enumerated() {
          collector.add(
            event, word: word, sql: events[statement], step: step, isFirst: position == 0)
        }
      }
    }
    return collector.groups
  }
}

/// Finds the steps of events that are visited in the order of their IDs.
private struct StepCursor {
  private let steps: [RecordedStep]
  /// The positions of the steps that aren't over yet, latest first.
  private var rest: [Int]

  init(_ steps: [RecordedStep]) {
    self.steps = steps
    rest = steps.indices.sorted { (steps[$0].after, $0) > (steps[$1].after, $1) }
  }

  /// Returns the position of the step that an event belongs to, or -1 if it belongs to none.
  mutating func step(of event: Int) -> Int {
    while let next = rest.last, steps[next].through < event { rest.removeLast() }
    guard let next = rest.last, steps[next].contains(event) else { return -1 }
    return next
  }
}

/// The counted statements that fetches, faults, prefetches, and batches ran, as lists that are
/// linked by indices.
private struct StatementOwners {
  /// The index of the first and last statement of each event, plus 1, or 0.
  private var first: [UInt32]
  private var last: [UInt32]
  /// The index of the owner's next statement, plus 1, or 0.
  private var next: [UInt32]
  private var owned: [Bool]

  init(of recording: Recording) {
    let count = recording.events.count
    first = [UInt32](repeating: 0, count: count)
    (last, next) = (first, first)
    owned = [Bool](repeating: false, count: count)
    for (index, event) in recording.events.enumerated() where event.kind == .statement {
      guard event.statement?.kind.isCounted == true, let owner = recording.ownerIndex(of: event)
      else { continue }
      let number = UInt32(index + 1)
      if last[owner] == 0 { first[owner] = number } else { next[Int(last[owner]) - 1] = number }
      last[owner] = number
      owned[index] = true
    }
  }

  func isOwned(_ statement: Int) -> Bool { owned[statement] }

  /// Returns the indices of an event's statements, in order.
  func statements(of event: Int) -> [Int] {
    var statements: [Int] = []
    var number = first[event]
    while number != 0 {
      statements.append(Int(number) - 1)
      number = next[Int(number) - 1]
    }
    return statements
  }
}

/// Groups events in the order of first appearance.
private struct GroupCollector {
  private struct Key: Hashable {
    var step: Int
    var word: String
    var subject: String
    var source: FaultSource?
    var sql: String?
  }

  /// What determines a group, in numbers that are faster to look up than its texts.
  private struct Shapes: Hashable {
    var step: Int
    var source: FaultSource?
    var event: UInt32
    var statement: UInt32?
  }

  private(set) var groups: [EventGroup] = []
  private var positions: [Key: Int] = [:]
  private var known: [Shapes: Int] = [:]

  mutating func add(
    _ event: RecordedEvent, word: String, sql statement: RecordedEvent?, step: Int,
    isFirst: Bool = true
  ) {
    let shapes = Shapes(
      step: step, source: event.source, event: event.record.shape,
      statement: statement?.record.shape)
    let rows = statement?.rows ?? event.rows
    let nanoseconds = statement?.duration ?? event.duration
    let work = statement?.statement?.work
    if let position = known[shapes] ?? position(of: event, word, statement, step: step) {
      known[shapes] = position
      groups[position].count += 1
      if isFirst { groups[position].events += 1 }
      groups[position].rows += rows
      groups[position].nanoseconds += nanoseconds
      if let work { groups[position].work = (groups[position].work ?? .init()) + work }
    } else {
      known[shapes] = groups.count
      groups.append(
        EventGroup(
          number: groups.count + 1, count: 1, events: isFirst ? 1 : 0, word: word,
          subject: event.subject, source: event.source, sql: statement?.statement?.sql,
          rows: rows, nanoseconds: nanoseconds, callSite: event.callSite, firstEvent: event.id,
          work: work))
    }
  }

  /// Returns the position of an existing group, or `nil` after noting that the next one is the
  /// event's.
  private mutating func position(
    of event: RecordedEvent, _ word: String, _ statement: RecordedEvent?, step: Int
  ) -> Int? {
    let key = Key(
      step: step, word: word, subject: event.subject, source: event.source,
      sql: statement?.statement?.sql)
    if let position = positions[key] { return position }
    positions[key] = groups.count
    return nil
  }
}

extension EventKind {
  /// The word for groups of this kind, or `nil` if events of this kind duplicate others.
  package var groupWord: String? {
    switch self {
    case .fetch: "fetch"
    case .save: "save"
    case .objectFault: "fault"
    case .relationshipFault: "relationship fault"
    case .prefetch: "prefetch"
    case .batchLoad: "batch"
    case .batchRequest: "batch request"
    case .merge: "merge"
    case .migration: "migration"
    case .migrationStep: "migration step"
    case .rowCacheHit, .rowCacheMiss, .statement, .transaction, .notification, .storeOpening,
      .roundTrip, .failure:
      nil
    }
  }
}
