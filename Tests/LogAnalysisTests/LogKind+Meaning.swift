@testable import LogAnalysis

extension LogKind {
  /// The contents of such a line, for the documentation.
  var meaning: String {
    switch self {
    case .sql: "a statement"
    case .bind: "a value bound to the preceding statement (level 2)"
    case .connectionTime: "SQLite's time for a SELECT"
    case .fetchTime: "the total time of a SELECT and its rows; ends the innermost open one"
    case .countTime: "the time of a count request"
    case .executionTime: "the time of a pragma, a change, or another request"
    case .fetchResult: "the statement of a fetch and its rows again (level 2), with values (3)"
    case .countResult: "the request of a count (level 3)"
    case .objectFault: "an object fault that missed the row cache; names the object"
    case .relationshipFault: "a to-many relationship fault, and what fulfilled it"
    case .prefetch: "the relationship that the preceding SELECT prefetched"
    case .intarray: "a list of primary keys bound as `_Z_intarrayN`"
    case .explain: "a statement whose plan follows (level 4)"
    case .plan: "a row of a query plan"
    case .connecting: "the file of a store that is being opened"
    case .disconnecting: "the closing of a store"
    case .setUp: "the type, URL, and options of a store"
    case .schema: "the creation of tables, or their comparison with the model"
    case .migration: "a step of a migration"
    case .maintenance: "vacuuming and pruning after a save"
    case .checkpoint: "a checkpoint of the WAL"
    case .remoteChange: "notifications of other processes' changes"
    case .history: "persistent history"
    case .cloudKit: "mirroring to CloudKit"
    case .concurrency: "that concurrency debugging is on"
    case .repair: "a repair of objects by Core Data"
    case .error: "an error with any other text"
    case .warning: "a warning with any other text"
    case .fault: "a programmer error (log type Fault)"
    case .debug: "other debug output"
    case .info: "other information"
    case .message: "a Core Data message without a class"
    case .rowCacheHit: "a fault fulfilled from the row cache; only from OpenCoreData"
    case .saveTime: "the time of a save; only from OpenCoreData"
    case .cdprof: "other lines that only OpenCoreData writes"
    case .section: "`cdprof: begin NAME`, `cdprof: end`"
    case .continuation:
      "the rest of the preceding line: wrapped SQL, a list of values, an error's details"
    case .metadata: "what Xcode prints below a message: its time, process, and category"
    case .blank: "an empty line"
    case .app: "the app's own output"
    }
  }
}
