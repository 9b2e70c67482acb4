import ProfileEvents

extension Metric {
  /// What the metric counts, for the documentation.
  var unit: String {
    switch self {
    case .fetches: "fetch requests"
    case .saves: "saves"
    case .selects, .inserts, .updates, .deletes: "statements"
    case .transactions: "write transactions"
    case .rows, .scanned: "rows"
    case .sorts: "sorts"
    case .calls: "calls"
    case .vmsteps: "VM steps"
    case .pageins, .pageouts, .filepages, .walpages, .freepages: "pages"
    case .faults, .hits, .misses: "faults"
    case .prefetches: "prefetches"
    case .roundtrips: "round trips"
    case .registered, .peak: "objects"
    case .migrations: "migrations"
    case .ddl, .dml: "statements"
    case .migratedrows, .instances: "rows"
    case .copiedtables: "tables"
    case .addedcolumns: "columns"
    case .createdindexes: "indexes"
    case .time: "nanoseconds"
    }
  }
}
