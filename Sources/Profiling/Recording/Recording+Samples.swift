import ProfileEvents

extension Recording {
  /// The first events of each kind with the number of all, in the order of the kinds.
  ///
  /// Row-cache events are left out (faults say the same), and so is what the counters leave out.
  package func samples(limit: Int = 200) -> [EventSample] {
    let texts = statementTexts()
    return EventKind.allCases.compactMap { kind in
      guard kind != .rowCacheHit, kind != .rowCacheMiss else { return nil }
      let mine = events.filter { event in
        event.kind == kind && (kind != .statement || event.statement?.isCounted == true)
      }
      guard !mine.isEmpty else { return nil }
      let shown = Array(mine.prefix(limit))
      return EventSample(
        kind: kind, count: mine.count, events: shown,
        texts: shown.reduce(into: [:]) { $0[$1.id] = texts[$1.id] })
    }
  }
}
