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
  case registered
  case peak
  case filepages
  case walpages
  case freepages
  case time

  /// The scopes that can follow the word in parentheses, as in `misses(Country)`.
  package struct Scopes: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// An entity's name: object events of that entity alone.
    package static let entity = Scopes(rawValue: 1)
    /// `Entity.relationship`: relationship faults of that relationship.
    package static let relationship = Scopes(rawValue: 2)
    /// The name of a step: what that step caused.
    package static let step = Scopes(rawValue: 4)
    /// The name of a context: what happened in it, or was asked on its behalf.
    package static let context = Scopes(rawValue: 8)
  }

  /// The scopes this metric accepts.
  package var scopes: Scopes {
    switch self {
    case .fetches, .selects, .rows, .scanned, .sorts, .calls, .vmsteps, .pageins, .inserts,
      .updates, .deletes:
      [.entity, .context, .step]
    case .faults, .hits, .misses: [.entity, .relationship, .context, .step]
    case .prefetches: [.relationship, .context, .step]
    case .saves, .transactions, .pageouts: [.context, .step]
    case .time: [.step]
    case .registered, .peak: [.entity, .context]
    case .filepages, .walpages, .freepages: []
    }
  }

  /// Whether two runs of the same work give the same number; only such metrics may be expected.
  package var isExact: Bool {
    self != .time
  }

  /// Whether it counts what lies below the rows: pages, files, and SQLite's own instructions.
  ///
  /// SQLite's version and the size of a page decide such a number, so a result has it only where an
  /// expectation asks for it.
  package var isOfPages: Bool {
    switch self {
    case .vmsteps, .pageins, .pageouts, .filepages, .walpages, .freepages: true
    default: false
    }
  }

  /// What is counted, in a sentence.
  package var meaning: String {
    switch self {
    case .fetches:
      "Fetch requests executed, whatever their result type; loading a batch isn't a fetch."
    case .saves:
      "Saves that wrote to a store; a save without changes doesn't count."
    case .selects:
      "SELECT statements that read rows of entities: fetches, batches, prefetches, and faults. "
        + "Housekeeping (metadata, primary keys, pragmas) does not count."
    case .inserts:
      "INSERT statements run for entities and join tables, one a row."
    case .updates:
      "UPDATE statements run for entities, one a row; primary-key reservations do not count."
    case .deletes:
      "DELETE statements run for entities and join tables, one a row."
    case .transactions:
      "Write transactions committed: two for a save that inserts, one for any other save."
    case .rows:
      "Rows that the counted SELECTs returned."
    case .scanned:
      "Steps from row to row in scans of whole tables or whole indexes, by SQLite's own counter: a "
        + "scan of N rows takes N - 1, however few are wanted. The plan decides, so indexes and "
        + "SQLite's version do; an SQL log doesn't contain them."
    case .sorts:
      "Sorts that SQLite did outside of an index, in a temporary b-tree. As for `scanned`, the plan "
        + "decides."
    case .calls:
      "Calls that SQLite made to functions and collations it does not have itself, such as the one "
        + "for `[cd]`. As for `scanned`, the plan decides."
    case .vmsteps:
      "Instructions of SQLite's virtual machine that the counted statements took, a measure of the "
        + "processor's work. SQLite's version and the plan decide: expect bounds, not a number."
    case .pageins:
      "Pages that the counted statements read from the file or its log, as SQLite had not cached "
        + "them; a page is 4,096 bytes as a rule."
    case .pageouts:
      "Pages that statements and their COMMIT wrote to the log, or to the file where there is none. "
        + "What a checkpoint moves does not count."
    case .faults:
      "Object and relationship faults that fired, whatever fulfilled them (Instruments: Faults)."
    case .hits:
      "Faults filled from the row cache, without a statement."
    case .misses:
      "Faults filled from the database (Instruments: Cache Misses)."
    case .prefetches:
      "Relationships loaded ahead, one for each step of a prefetched key path."
    case .registered:
      "Objects that contexts have registered now, after deregistering those that nothing else references."
    case .peak:
      "The most objects any one context had registered at once, seen after each load."
    case .filepages:
      "Pages of the store's file, by its length; pages that are only in the WAL aren't counted."
    case .walpages:
      "Pages in the write-ahead log, by its length; a WAL that was restarted keeps its length."
    case .freepages:
      "Free pages of the store, including changes in the WAL."
    case .time:
      "Time of the steps by the wall clock: this machine, informational."
    }
  }
}
