@testable import LogAnalysis

extension LogKind {
  /// What such a line tells, in a sentence for the documentation.
  var meaning: String {
    switch self {
    case .sql: "a statement"
    case .bind: "a value bound to the statement before (level 2)"
    case .connectionTime: "what SQLite took for a SELECT"
    case .fetchTime: "what a SELECT took in all, with its rows; closes the innermost open one"
    case .countTime: "what a count took"
    case .executionTime: "what a pragma, a change or another request took"
    case .fetchResult: "the statement of a fetch and its rows once more (level 2), with values (3)"
    case .countResult: "the request of a count (level 3)"
    case .objectFault: "an object fault that missed the row cache; names the object"
    case .relationshipFault: "a to-many fault, and what filled it"
    case .prefetch: "that the SELECT before was a prefetch, and of which relationship"
    case .intarray: "that a list of keys was bound as `_Z_intarrayN`"
    case .explain: "a statement whose plan follows (level 4)"
    case .plan: "a row of a query plan"
    case .connecting: "the file of a store that is opened"
    case .disconnecting: "that a store is closed"
    case .setUp: "how a store is opened: its type, URL, options"
    case .schema: "that tables are made or compared with the model"
    case .migration: "a step of a migration"
    case .maintenance: "vacuuming and pruning after a save"
    case .checkpoint: "a checkpoint of the write-ahead log"
    case .remoteChange: "notifications of other processes' changes"
    case .history: "persistent history"
    case .cloudKit: "mirroring to CloudKit"
    case .concurrency: "that the guard of queues is on"
    case .repair: "something that the framework mended in the objects"
    case .error: "an error, whatever its text"
    case .warning: "a warning, whatever its text"
    case .fault: "a programmer's mistake, as the system's log calls it"
    case .debug: "other debug output"
    case .info: "other information"
    case .message: "a text of Core Data's without a class"
    case .rowCacheHit: "a fault that the row cache filled; only our framework's log has it"
    case .saveTime: "what a save took; only our framework's log has it"
    case .ours: "other lines that only our framework writes"
    case .section: "`cdprof: begin NAME`, `cdprof: end`"
    case .continuation:
      "the rest of the line before: wrapped SQL, a list of values, an error's details"
    case .metadata: "what Xcode prints below a message: its time, process, category"
    case .blank: "nothing"
    case .app: "the app's own output"
    }
  }
}
