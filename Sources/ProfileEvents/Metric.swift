/// One number the workbench counts: the word a scenario, a shell line and a report use for it.
///
/// The catalog exists here and nowhere else. `Documentation/metrics.md` is written from it and a
/// test compares the two.
package enum Metric: String, CaseIterable, Sendable, Codable {
  case fetches
  case saves
  case selects
  case inserts
  case updates
  case deletes
  case transactions
  case rows
  case scanned
  case sorts
  case calls
  case vmsteps
  case pageins
  case pageouts
  case faults
  case hits
  case misses
  case prefetches
  case roundtrips
  case registered
  case peak
  case filepages
  case walpages
  case freepages
  case migrations
  case ddl
  case dml
  case migratedrows
  case copiedtables
  case addedcolumns
  case createdindexes
  case instances
  case time

  /// The scopes that can follow the word in parentheses, as in `misses(Country)`.
  package struct Scopes: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// An entity's name: events of objects of that entity.
    package static let entity = Scopes(rawValue: 1)
    /// `Entity.relationship`: events of that relationship.
    package static let relationship = Scopes(rawValue: 2)
    /// The name of a step: the events that it caused.
    package static let step = Scopes(rawValue: 4)
    /// The name of a context: the events in it, and those of its parents on its behalf.
    package static let context = Scopes(rawValue: 8)
  }

  /// The scopes that the metric supports.
  package var scopes: Scopes {
    switch self {
    case .fetches, .selects, .rows, .scanned, .sorts, .calls, .vmsteps, .pageins, .inserts,
      .updates, .deletes:
      [.entity, .context, .step]
    case .faults, .hits, .misses: [.entity, .relationship, .context, .step]
    case .prefetches: [.relationship, .context, .step]
    case .saves, .transactions, .pageouts, .roundtrips: [.context, .step]
    case .time, .migrations, .ddl, .dml, .migratedrows, .copiedtables, .addedcolumns,
      .createdindexes:
      [.step]
    case .instances: [.entity, .step]
    case .registered, .peak: [.entity, .context]
    case .filepages, .walpages, .freepages: []
    }
  }

  /// Whether equal work gives equal counts, which expectations require.
  package var isExact: Bool {
    self != .time
  }

  /// Whether the metric counts pages or SQLite's instructions.
  ///
  /// These counts depend on SQLite's version and the page size, so a result contains them only if
  /// an expectation uses them.
  package var isOfPages: Bool {
    switch self {
    case .vmsteps, .pageins, .pageouts, .filepages, .walpages, .freepages: true
    default: false
    }
  }

  /// Whether the metric counts the work of migrations, which a result contains only if a store was
  /// migrated.
  package var isOfMigration: Bool {
    switch self {
    case .migrations, .ddl, .dml, .migratedrows, .copiedtables, .addedcolumns, .createdindexes,
      .instances:
      true
    default: false
    }
  }

  /// A description of the counted events.
  package var meaning: String {
    switch self {
    case .fetches:
      "Executed fetch requests of any result type; loading a batch isn't a fetch."
    case .saves:
      "Saves that wrote to a store; a save without changes doesn't count."
    case .selects:
      "SELECT statements that read rows of entities: fetches, batches, prefetches, and faults. "
        + "Metadata, primary keys, and pragmas don't count."
    case .inserts:
      "INSERT statements for entities and join tables, one for each row."
    case .updates:
      "UPDATE statements for entities, one for each row; primary-key reservations don't count."
    case .deletes:
      "DELETE statements for entities and join tables, one for each row."
    case .transactions:
      "Committed write transactions: two for a save that inserts, one for any other save."
    case .rows:
      "Rows that the counted SELECTs returned."
    case .scanned:
      "Steps between rows in full table and full index scans, by SQLite's counter: N - 1 for a scan "
        + "of N rows. They depend on the plan, and so on indexes and SQLite's version. A SQL log "
        + "doesn't contain them."
    case .sorts:
      "Sorts in a temporary B-tree instead of an index. Like `scanned`, they depend on the plan."
    case .calls:
      "SQLite's calls to functions and collations of the framework, such as the one for `[cd]`. Like "
        + "`scanned`, they depend on the plan."
    case .vmsteps:
      "Operations of SQLite's bytecode engine for the counted statements, a measure of CPU work. "
        + "They depend on the plan and SQLite's version: expect bounds, not exact numbers."
    case .pageins:
      "Pages that the counted statements read from the file or the WAL because they weren't in "
        + "SQLite's page cache; a page usually has 4,096 bytes."
    case .pageouts:
      "Pages that statements and their COMMIT wrote to the WAL, or to the file if there's no WAL. "
        + "Pages that a checkpoint copies don't count."
    case .faults:
      "Object and relationship faults that fired (Instruments: Faults)."
    case .hits:
      "Faults fulfilled from the row cache, without a statement."
    case .misses:
      "Faults fulfilled from the database (Instruments: Cache Misses)."
    case .prefetches:
      "Prefetched relationships, one for each step of a key path."
    case .roundtrips:
      "Exchanges of a program's own store with its server, each of which takes at least the network's "
        + "latency. A store that doesn't report them has one for each call to it. Other stores have none."
    case .registered:
      "Objects registered with contexts, after removing those that nothing else references."
    case .peak:
      "The maximum number of objects registered with one context, counted after each load."
    case .filepages:
      "Pages of the store file, by its size; pages that are only in the WAL aren't counted."
    case .walpages:
      "Pages in the write-ahead log, by its size; restarting a WAL doesn't shrink it."
    case .freepages:
      "Free pages of the store, including changes in the WAL."
    case .migrations:
      "Migrations of the store from one version of the model to another, in place or into a new "
        + "file. Opening a store that already has the version, and finishing a deferred migration, "
        + "don't count."
    case .ddl:
      "CREATE, ALTER, and DROP statements of in-place migrations."
    case .dml:
      "INSERT, UPDATE, and DELETE statements of in-place migrations; one can change many rows. The "
        + "metadata and the stored model don't count."
    case .migratedrows:
      "Rows of entities and join tables that migrations inserted, updated, or deleted. Rows that "
        + "`ALTER TABLE` and `CREATE INDEX` leave as they are don't count."
    case .copiedtables:
      "Tables whose rows an in-place migration copied to a new table, because a column was removed "
        + "or its type changed, or because rows moved."
    case .addedcolumns:
      "Columns that in-place migrations added to existing tables, without rewriting rows."
    case .createdindexes:
      "Indexes that in-place migrations created; those of copied tables are re-created."
    case .instances:
      "Rows that migrations with mapping models inserted when they created instances."
    case .time:
      "Wall-clock time of the steps on this machine; informational."
    }
  }
}
