package import ProfileEvents

/// Every event of a variant on one time axis: alike ones in one lane, so that a hundred thousand of
/// them stay small, and each can be described by itself.
package struct Timeline: Sendable, Equatable {
  /// Events that differ in nothing but time, rows and object.
  package struct Lane: Sendable, Equatable {
    package var kind: EventKind
    package var context: String?
    package var entity: String?
    package var relationship: String?
    /// Faults only.
    package var source: FaultSource?
    /// What kind of statement it is; nil for events that are none.
    package var statement: StatementKind?
    /// The statement it is, or the first one it asked for.
    package var sql: String?
    package var callSite: CallSite?
    /// The store of its objects; nil where marks have no key.
    package var store: String?
    /// In the order of beginning.
    package var marks: [Mark] = []

    package init(kind: EventKind) {
      self.kind = kind
    }
  }

  /// One event.
  package struct Mark: Sendable, Equatable {
    /// Nanoseconds from the beginning of the variant.
    package var begin: UInt64
    /// Nanoseconds.
    package var duration: UInt64
    package var rows: Int
    /// The primary key of its object.
    package var key: Int64?

    package init(begin: UInt64, duration: UInt64, rows: Int, key: Int64? = nil) {
      self.begin = begin
      self.duration = duration
      self.rows = rows
      self.key = key
    }

    /// Nanoseconds from the beginning of the variant.
    package var end: UInt64 { begin + duration }
  }

  /// Events kept of one variant.
  package static let most = 100_000

  /// In the order of their first events.
  package var lanes: [Lane]
  /// Events behind the first `most`, which are not here.
  package var leftOut: Int

  package init(lanes: [Lane] = [], leftOut: Int = 0) {
    self.lanes = lanes
    self.leftOut = leftOut
  }

  /// Every event with its lane, in the order of beginning; of two that begin at once the longer first,
  /// which the other one lies in.
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
  /// `Mood`, `Country.moods`; empty when neither entity nor relationship is known.
  package var subject: String {
    guard let relationship else { return entity ?? "" }
    return entity.map { "\($0).\(relationship)" } ?? relationship
  }

  /// The URI of a mark's object; nil where none took part.
  package func uri(of mark: Timeline.Mark) -> String? {
    guard let store, let key = mark.key else { return nil }
    return ObjectReference(store: store, entity: entity ?? "", primaryKey: key).uri
  }
}

extension Recording {
  /// Every event but those of the row cache, which the faults say too.
  ///
  /// Statements of all kinds are there, `COMMIT` among them: it is what takes long in a save. Of a store
  /// opening the path is left out.
  /// - Parameter most: how many events are kept; what comes behind is counted.
  package func timeline(most: Int = Timeline.most) -> Timeline {
    struct Key: Hashable {
      var kind: EventKind
      var context: String?
      var subject: [String?]
      var source: FaultSource?
      var sql: String?
      var callSite: CallSite?
    }
    let texts = statementTexts()
    let origin = begin
    var timeline = Timeline()
    var places: [Key: Int] = [:]
    let told = events.filter { $0.kind != .rowCacheHit && $0.kind != .rowCacheMiss }
      .sorted { ($0.begin, $0.id) < ($1.begin, $1.id) }
    for event in told.prefix(most) {
      let entity = event.object?.entity ?? event.entity
      let sql = event.statement?.sql ?? texts[event.id]
      let key = Key(
        kind: event.kind, context: event.context,
        subject: [entity, event.relationship, event.object?.store], source: event.source,
        sql: sql, callSite: event.callSite)
      let place = places[key] ?? timeline.lanes.count
      if place == timeline.lanes.count {
        places[key] = place
        var lane = Timeline.Lane(kind: event.kind)
        lane.context = event.context
        lane.entity = entity
        lane.relationship = event.relationship
        lane.source = event.source
        lane.statement = event.statement?.kind
        lane.sql = sql
        lane.callSite = event.callSite
        lane.store = event.object?.store
        timeline.lanes.append(lane)
      }
      timeline.lanes[place].marks.append(
        Timeline.Mark(
          begin: event.begin > origin ? event.begin - origin : 0, duration: event.duration,
          rows: event.rows, key: event.object?.primaryKey))
    }
    timeline.leftOut = max(0, told.count - most)
    return timeline
  }
}
