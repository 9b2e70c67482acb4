import ProfileEvents
import Profiling
import WorkbenchText

/// The first events of one kind.
struct ReportEvents {
  struct Row {
    var at: String
    var took: String
    var what: String
    var source: String
    var rows: String
    /// `#2`, the statement's shape; empty when none ran.
    var shape: String
    var site: String
  }

  /// Rows the whole page may have; at some 90 bytes each they stay under half a megabyte.
  private static let budget = 4_800

  /// All of them with their word: `5,060 object faults`.
  let counted: String
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
    counted = sample.kind.counted(sample.count)
    cut = shown.count < sample.count ? "first \(NumberText.grouped(shown.count)) of" : nil
    lines = shown.map { event in
      let sql = event.statement?.sql ?? sample.texts[event.id]
      let shape = sql.flatMap { shapes[$0] }
      return Row(
        at: NumberText.milliseconds(event.begin > begin ? event.begin - begin : 0),
        took: NumberText.milliseconds(event.duration), what: event.what,
        source: event.sourceWord, rows: NumberText.grouped(event.rows),
        shape: shape.map { "#\($0)" } ?? "",
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
  /// `1 fetch`, `5,060 object faults`.
  fileprivate func counted(_ number: Int) -> String {
    let (one, many): (String, String?) =
      switch self {
      case .fetch: ("fetch", "fetches")
      case .save: ("save", nil)
      case .objectFault: ("object fault", nil)
      case .relationshipFault: ("relationship fault", nil)
      case .rowCacheHit: ("row-cache hit", nil)
      case .rowCacheMiss: ("row-cache miss", "row-cache misses")
      case .prefetch: ("prefetch", "prefetches")
      case .batchLoad: ("page", nil)
      case .batchRequest: ("batch request", nil)
      case .statement: ("statement", nil)
      case .transaction: ("transaction", nil)
      case .notification: ("notification", nil)
      case .merge: ("merge", nil)
      case .migrationStep: ("migration step", nil)
      case .storeOpening: ("store opening", nil)
      }
    return NumberText.counted(number, one, many)
  }
}
