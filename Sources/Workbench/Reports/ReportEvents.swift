import ProfileEvents

/// The first events of one kind.
struct ReportEvents {
  struct Row {
    var at: String
    var took: String
    var what: String
    var source: String
    var rows: Int
    /// `#2`, the statement's shape; empty when none ran.
    var shape: String
    var site: String
  }

  /// Rows the whole page may have; at some 90 bytes each they stay under half a megabyte.
  private static let budget = 4_800

  let kind: String
  let count: String
  /// `first 200 of`, when not all are shown.
  let cut: String?
  let lines: [Row]

  /// How many events of each kind are shown: 200, or fewer when there are very many variants.
  static func limit(for result: RunResult) -> Int {
    var limit = 200
    let counts = result.variants.flatMap { $0.events.map(\.events.count) }
    while limit > 10, counts.reduce(0, { $0 + min($1, limit) }) > budget { limit -= 10 }
    return limit
  }

  init(_ sample: EventSample, begin: UInt64, shapes: [String: Int], limit: Int) {
    let shown = sample.events.prefix(limit)
    kind = sample.kind.plural
    count = NumberText.grouped(sample.count)
    cut = shown.count < sample.count ? "first \(NumberText.grouped(shown.count)) of" : nil
    lines = shown.map { event in
      let shape = event.statement.flatMap { shapes[$0.sql] }
      return Row(
        at: NumberText.milliseconds(event.begin > begin ? event.begin - begin : 0),
        took: NumberText.milliseconds(event.duration), what: event.what,
        source: event.sourceWord, rows: event.rows, shape: shape.map { "#\($0)" } ?? "",
        site: event.callSite?.description ?? "")
    }
  }
}

extension Event {
  /// `Mood p17`, `Country.moods of p3`.
  fileprivate var what: String {
    guard let object else { return subject }
    return relationship == nil
      ? "\(object.entity) p\(object.primaryKey)" : "\(subject) of p\(object.primaryKey)"
  }

  fileprivate var sourceWord: String {
    switch source {
    case .rowCache: "hit"
    case .database: "miss"
    case .parent: "parent"
    case nil: ""
    }
  }
}

extension EventKind {
  /// The kind's name for a heading.
  fileprivate var plural: String {
    switch self {
    case .fetch: "Fetches"
    case .save: "Saves"
    case .objectFault: "Object faults"
    case .relationshipFault: "Relationship faults"
    case .rowCacheHit: "Row-cache hits"
    case .rowCacheMiss: "Row-cache misses"
    case .prefetch: "Prefetches"
    case .batchLoad: "Pages"
    case .batchRequest: "Batch requests"
    case .statement: "Statements"
    case .transaction: "Transactions"
    case .notification: "Notifications"
    case .migrationStep: "Migration steps"
    }
  }
}
