import ProfileEvents

extension Recording {
  /// The call stacks of fetches, saves, merges, faults and batch requests, alike ones counted together, the
  /// most frequent first.
  ///
  /// Reads symbols: for reports, not while the measured work runs. Empty when none were recorded.
  /// - Parameter limit: how many stacks are told at most.
  package func stackShapes(limit: Int = 20) -> [StackShape] {
    struct Key: Hashable {
      var kind: EventKind
      var subject: String
      var stack: [UInt]
    }
    var order: [Key] = []
    var counts: [Key: Int] = [:]
    for event in events where !event.stack.isEmpty && event.kind.hasStack {
      let key = Key(kind: event.kind, subject: event.subject, stack: event.stack)
      if counts[key] == nil { order.append(key) }
      counts[key, default: 0] += 1
    }
    let most = order.enumerated().sorted { first, second in
      let (one, other) = (counts[first.element] ?? 0, counts[second.element] ?? 0)
      return one == other ? first.offset < second.offset : one > other
    }
    return most.prefix(limit).map { _, key in
      StackShape(
        kind: key.kind, subject: key.subject, count: counts[key] ?? 0,
        frames: StackText.frames(key.stack))
    }
  }
}

extension EventKind {
  /// Whether its stack says more than that of the event it happened inside of.
  fileprivate var hasStack: Bool {
    switch self {
    case .fetch, .save, .objectFault, .relationshipFault, .batchRequest, .batchLoad, .merge: true
    case .rowCacheHit, .rowCacheMiss, .prefetch, .statement, .transaction, .notification,
      .migrationStep, .storeOpening:
      false
    }
  }
}
