import ProfileEvents
import RunResults
import WorkbenchText

/// The first events of a kind.
struct ReportEvents {
  struct Row {
    var at: String
    var took: String
    var what: String
    var source: String
    var rows: String
    /// The number of the statement, such as `#2`; empty if none ran.
    var shape: String
    var site: String
  }

  /// The maximum number of rows on the page; at about 90 bytes each, half a megabyte.
  private static let budget = 4_800

  /// The number and kind of all events, such as `5,060 object faults`.
  let counted: String
  /// A prefix such as `first 200 of`; `nil` if all events are shown.
  let cut: String?
  let lines: [Row]

  /// Returns the number of events of each kind to show: 200, or fewer if there are many variants.
  static func limit(for variants: [VariantResult]) -> Int {
    ReportPage.rows(
      of: variants.flatMap { $0.events.map(\.events.count) }, atMost: 200, budget: budget)
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
  /// The object or relationship, such as `Mood p17` or `Country.moods of p3`.
  fileprivate var what: String {
    if let migration { return migration.purpose }
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
  /// Returns a number of events with their kind, such as `1 fetch` or `5,060 object faults`.
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
      case .batchLoad: ("batch", "batches")
      case .batchRequest: ("batch request", nil)
      case .statement: ("statement", nil)
      case .transaction: ("transaction", nil)
      case .notification: ("notification", nil)
      case .merge: ("merge", nil)
      case .migration: ("migration", nil)
      case .migrationStep: ("migration step", nil)
      case .storeOpening: ("store opening", nil)
      case .roundTrip: ("round trip", nil)
      case .failure: ("failure", nil)
      }
    return NumberText.counted(number, one, many)
  }
}
