/// An executed statement.
package struct StatementRecord: Sendable {
  /// The maximum length of a recorded array.
  package static let longestArray = 1_000

  package var kind: StatementKind
  /// The SQL with its placeholders, which identifies the statement.
  package var sql: String
  /// The number of arrays bound as `_Z_intarrayN`, which the log mentions.
  package var intArrays: Int
  var details: Details?

  /// What's recorded only if a sink requires it, in a block of its own.
  final class Details: Sendable {
    let binds: [String]?
    let arrays: [ContiguousArray<Int64>]?
    let work: StatementWork?
    let found: [FoundObject]?
    let plan: [String]?

    private init(
      _ binds: [String]?, _ arrays: [ContiguousArray<Int64>]?, _ work: StatementWork?,
      _ found: [FoundObject]?, _ plan: [String]?
    ) {
      (self.binds, self.arrays, self.work) = (binds, arrays, work)
      (self.found, self.plan) = (found, plan)
    }

    /// Returns a block, or `nil` if no sink requires any of this.
    static func containing(
      _ binds: [String]?, _ arrays: [ContiguousArray<Int64>]?, _ work: StatementWork?,
      _ found: [FoundObject]?, _ plan: [String]?
    ) -> Details? {
      guard binds != nil || arrays != nil || work != nil || found != nil || plan != nil else {
        return nil
      }
      return Details(binds, arrays, work, found, plan)
    }
  }

  /// An object whose row was read.
  package struct FoundObject: Sendable, Hashable {
    package var object: ObjectReference
    /// The name of the object's class.
    package var className: String

    package init(object: ObjectReference, className: String) {
      self.object = object
      self.className = className
    }
  }

  package init(
    kind: StatementKind, sql: String, binds: [String]? = nil, intArrays: Int = 0,
    arrays: [ContiguousArray<Int64>]? = nil, work: StatementWork? = nil,
    found: [FoundObject]? = nil, plan: [String]? = nil
  ) {
    self.kind = kind
    self.sql = sql
    self.intArrays = intArrays
    details = Details.containing(binds, arrays, work, found, plan)
  }

  init(kind: StatementKind, sql: String, intArrays: Int, _ details: Details?) {
    (self.kind, self.sql, self.intArrays, self.details) = (kind, sql, intArrays, details)
  }
}

extension StatementRecord {
  /// The bound values as SQLDebug prints them, or `nil` unless a sink requires them.
  package var binds: [String]? { details?.binds }

  /// The arrays bound as `_Z_intarrayN`, or `nil` unless a sink requires bound values, and if one
  /// is longer than `longestArray`.
  package var arrays: [ContiguousArray<Int64>]? { details?.arrays }

  /// The work that SQLite did, or `nil` unless a sink requires it.
  package var work: StatementWork? { details?.work }

  /// The objects of the rows, or `nil` unless a sink requires rows, and for rows that aren't
  /// objects.
  package var found: [FoundObject]? { details?.found }

  /// The query plan as the `sqlite3` shell draws it, or `nil` unless a sink requires plans.
  package var plan: [String]? { details?.plan }
}

/// The purpose of a statement, which determines how it's counted.
package enum StatementKind: String, Sendable, Codable {
  /// Reads rows of entities.
  case select
  case insert
  case update
  case delete
  /// `BEGIN`, `COMMIT`, or `ROLLBACK` of a write transaction.
  case transaction
  /// Metadata, primary keys, pragmas, schema.
  case housekeeping
}

/// The work that SQLite did for one execution of a statement, from SQLite's own counters.
///
/// The counts are reproducible: the same statement with the same file, values, and SQLite version
/// has the same counts on any machine. The page counts also depend on the connection's cache.
package struct StatementWork: Sendable, Hashable {
  /// The number of VM steps, the most exact measure of work.
  package var vmSteps: Int
  /// The number of rows stepped over in full table scans and full index scans.
  package var fullScanSteps: Int
  /// The number of sorts that didn't use an index.
  package var sorts: Int
  /// The number of rows inserted into automatic indexes.
  package var autoIndexRows: Int
  /// The number of calls of functions that aren't SQLite's own, such as `NSCoreDataStringSearch`.
  package var functionCalls: Int
  /// The number of comparisons by collations that aren't SQLite's own, such as
  /// `NSCollateLocaleSensitive`.
  package var collationCalls: Int
  /// The number of pages read from the file or its WAL because the connection hadn't cached them.
  package var pagesRead: Int
  /// The number of pages written to the WAL or the file.
  ///
  /// Those of a transaction belong to its COMMIT.
  package var pagesWritten: Int

  package init(
    vmSteps: Int = 0, fullScanSteps: Int = 0, sorts: Int = 0, autoIndexRows: Int = 0,
    functionCalls: Int = 0, collationCalls: Int = 0, pagesRead: Int = 0, pagesWritten: Int = 0
  ) {
    self.vmSteps = vmSteps
    self.fullScanSteps = fullScanSteps
    self.sorts = sorts
    self.autoIndexRows = autoIndexRows
    self.functionCalls = functionCalls
    self.collationCalls = collationCalls
    self.pagesRead = pagesRead
    self.pagesWritten = pagesWritten
  }

  /// Returns the sum of the work of two executions.
  package static func + (one: StatementWork, other: StatementWork) -> StatementWork {
    StatementWork(
      vmSteps: one.vmSteps + other.vmSteps,
      fullScanSteps: one.fullScanSteps + other.fullScanSteps, sorts: one.sorts + other.sorts,
      autoIndexRows: one.autoIndexRows + other.autoIndexRows,
      functionCalls: one.functionCalls + other.functionCalls,
      collationCalls: one.collationCalls + other.collationCalls,
      pagesRead: one.pagesRead + other.pagesRead,
      pagesWritten: one.pagesWritten + other.pagesWritten)
  }

  /// Returns the work since an earlier reading of the same counters.
  package static func - (later: StatementWork, earlier: StatementWork) -> StatementWork {
    StatementWork(
      vmSteps: later.vmSteps - earlier.vmSteps,
      fullScanSteps: later.fullScanSteps - earlier.fullScanSteps,
      sorts: later.sorts - earlier.sorts,
      autoIndexRows: later.autoIndexRows - earlier.autoIndexRows,
      functionCalls: later.functionCalls - earlier.functionCalls,
      collationCalls: later.collationCalls - earlier.collationCalls,
      pagesRead: later.pagesRead - earlier.pagesRead,
      pagesWritten: later.pagesWritten - earlier.pagesWritten)
  }
}
