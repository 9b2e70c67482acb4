import ProfileEvents

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
