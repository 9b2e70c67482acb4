package import ProfileEvents

/// A timeline of all events of a variant.
///
/// Similar events share a lane, which makes a hundred thousand events compact, and each event can
/// still be described individually.
package struct Timeline: Sendable, Equatable {
  /// A lane of events that differ only in time, rows, and object.
  package struct Lane: Sendable, Equatable {
    package var kind: EventKind
    package var context: String?
    package var entity: String?
    package var relationship: String?
    /// The source that faults were fulfilled from, or `nil` for other events.
    package var source: FaultSource?
    /// The kind of the statements, or `nil` if the events aren't statements.
    package var statement: StatementKind?
    /// The SQL of the statements, or of the first statement that each event ran.
    package var sql: String?
    /// What a migration or a step of it does, or `nil` for other events.
    package var purpose: String?
    package var callSite: CallSite?
    /// The identifier of the objects' store, or `nil` if the marks have no primary keys.
    package var store: String?
    /// The events, in the order in which they began.
    package var marks: [Mark] = []

    package init(kind: EventKind) {
      self.kind = kind
    }
  }

  /// An event on a lane.
  package struct Mark: Sendable, Equatable {
    /// The start, in nanoseconds from the beginning of the variant.
    package var begin: UInt64
    /// The duration, in nanoseconds.
    package var duration: UInt64
    package var rows: Int
    /// The primary key of the event's object.
    package var key: Int64?

    package init(begin: UInt64, duration: UInt64, rows: Int, key: Int64? = nil) {
      self.begin = begin
      self.duration = duration
      self.rows = rows
      self.key = key
    }

    /// The end, in nanoseconds from the beginning of the variant.
    package var end: UInt64 { begin + duration }
  }

  /// The maximum number of events in a timeline.
  package static let most = 100_000

  /// The lanes, in the order of their first events.
  package var lanes: [Lane]
  /// The number of events after the first `most`, which are omitted.
  package var leftOut: Int

  package init(lanes: [Lane] = [], leftOut: Int = 0) {
    self.lanes = lanes
    self.leftOut = leftOut
  }

  /// All events with their lanes, in the order in which they began.
  ///
  /// Of two events that began at the same time, the longer one, which encloses the other, comes
  /// first.
  package var events: [(lane: Lane, mark: Mark)] {
    lanes.flatMap { lane in lane.marks.map { (lane: lane, mark: $0) } }
      .enumerated().sorted { one, other in
        let (first, second) = (one.element.mark, other.element.mark)
        if first.begin != second.begin { return first.begin < second.begin }
        if first.duration != second.duration { return first.duration > second.duration }
        return one.offset < other.offset
      }.map(\.element)
  }
}

extension Timeline.Lane {
  /// The entity or the relationship, `Mood` or `Country.moods`; empty if neither is known.
  package var subject: String {
    guard let relationship else { return entity ?? "" }
    return entity.map { "\($0).\(relationship)" } ?? relationship
  }

  /// Returns the URI of a mark's object, or `nil` if it has none.
  package func uri(of mark: Timeline.Mark) -> String? {
    guard let store, let key = mark.key else { return nil }
    return ObjectReference(store: store, entity: entity ?? "", primaryKey: key).uri
  }
}

extension Recording {
  /// Returns a timeline of all events except row-cache events, which duplicate fault events.
  ///
  /// It contains statements of all kinds, including `COMMIT`, which takes most of a save's time. It
  /// doesn't contain the path of a store that was opened.
  ///
  /// - Parameter most: The maximum number of events. Further events are only counted.
  package func timeline(most: Int = Timeline.most) -> Timeline {
    struct Key: Hashable {
      var kind: EventKind
      var context: String?
      var subject: [String?]
      var source: FaultSource?
      var sql: String?
      var purpose: String?
      var callSite: CallSite?
    }
    let texts = statementTexts()
    let origin = begin
    var timeline = Timeline()
    var positions: [Key: Int] = [:]
    let shown = events.only { $0.kind != .rowCacheHit && $0.kind != .rowCacheMiss }.byBegin
    for event in shown.prefix(most) {
      let entity = event.object?.entity ?? event.entity
      let sql = event.statement?.sql ?? texts[event.id]
      let key = Key(
        kind: event.kind, context: event.context,
        subject: [entity, event.relationship, event.object?.store], source: event.source,
        sql: sql, purpose: event.migration?.purpose, callSite: event.callSite)
      let position = positions[key] ?? timeline.lanes.count
      if position == timeline.lanes.count {
        positions[key] = position
        var lane = Timeline.Lane(kind: event.kind)
        lane.context = event.context
        lane.entity = entity
        lane.relationship = event.relationship
        lane.source = event.source
        lane.statement = event.statement?.kind
        lane.sql = sql
        lane.purpose = event.migration?.purpose
        lane.callSite = event.callSite
        lane.store = event.object?.store
        timeline.lanes.append(lane)
      }
      timeline.lanes[position].marks.append(
        Timeline.Mark(
          begin: event.begin > origin ? event.begin - origin : 0, duration: event.duration,
          rows: event.rows, key: event.primaryKey))
    }
    timeline.leftOut = max(0, shown.count - most)
    return timeline
  }
}
