/// What a line of a log is; every line is of one kind, or not understood.
///
/// `Documentation/log-formats.md` has the table of them, which is written from this file.
package enum LogKind: String, CaseIterable, Sendable {
  case sql
  case bind
  case connectionTime = "connection-time"
  case fetchTime = "fetch-time"
  case countTime = "count-time"
  case executionTime = "execution-time"
  case fetchResult = "fetch-result"
  case countResult = "count-result"
  case objectFault = "object-fault"
  case relationshipFault = "relationship-fault"
  case prefetch
  case intarray
  case explain
  case plan
  case connecting
  case disconnecting
  case setUp = "set-up"
  case schema
  case migration
  case maintenance
  case checkpoint
  case remoteChange = "remote-change"
  case history
  case cloudKit = "cloudkit"
  case concurrency
  case repair
  case error
  case warning
  case fault
  case debug
  case info
  case message
  case rowCacheHit = "row-cache-hit"
  case saveTime = "save-time"
  case ours
  case section
  case continuation
  case metadata
  case blank
  case app

  /// What such a line tells, in a sentence for the documentation.
  package var meaning: String {
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

  /// The kind of a text of a class; nil when it is not understood.
  init?(_ logClass: LogClass, _ text: LogBytes) {
    switch logClass {
    case .sql: self = .sql
    case .annotation:
      guard let kind = LogKind(annotation: text) else { return nil }
      self = kind
    case .details:
      guard let kind = LogKind(details: text) else { return nil }
      self = kind
    case .debug: self = LogKind(shared: text) ?? .debug
    case .error: self = .error
    case .warning: self = .warning
    case .fault: self = .fault
    case .info: self = LogKind(shared: text) ?? .info
    case .cloudKit: self = .cloudKit
    case .message: self = LogKind(shared: text) ?? .message
    case .cdprof: self = LogKind(ours: text)
    }
  }

  private init?(details text: LogBytes) {
    if text.contains("EXPLAIN QUERY PLAN") {
      self = .explain
    } else if text.starts(with: "SQLite bind[") || text.starts(with: "bind[") {
      self = .bind
    } else if LogKind.isPlanRow(text) {
      self = .plan
    } else {
      return nil
    }
  }

  private init(ours text: LogBytes) {
    if text.starts(with: "begin") || text.starts(with: "end") {
      self = .section
    } else if text.starts(with: "annotation: fault fulfilled from row cache")
      || text.contains("fulfilled from row cache.")
    {
      self = .rowCacheHit
    } else if text.starts(with: "annotation: save execution time") {
      self = .saveTime
    } else if text.starts(with: "plan: ") {
      self = .plan
    } else {
      self = .ours
    }
  }

  /// Whether a text is a row of EXPLAIN QUERY PLAN, in any of SQLite's forms.
  static func isPlanRow(_ text: LogBytes) -> Bool {
    let row = LogBytes(
      text.bytes.drop { $0.isDigit || $0.isBlank || "|`-,()\"'".utf8.contains($0) })
    return row.starts(with: "SCAN ") || row.starts(with: "SEARCH ")
      || row.starts(with: "USE TEMP B-TREE")
      || row.starts(with: "QUERY PLAN") || row.starts(with: "MULTI-INDEX OR")
      || row.starts(with: "COMPOUND ") || row.starts(with: "CO-ROUTINE ")
      || row.starts(with: "MATERIALIZE ") || row.starts(with: "LIST SUBQUERY ")
      || row.starts(with: "SCALAR SUBQUERY ") || row.starts(with: "CORRELATED ")
      || row.starts(with: "EXECUTE ") || row.starts(with: "UNION ALL")
      || row.starts(with: "MERGE (")
      || row.starts(with: "LEFT-MOST SUBQUERY") || row.starts(with: "REUSE LIST SUBQUERY")
      || row.starts(with: "USING ROWID SEARCH") || row.starts(with: "BLOOM FILTER ON ")
      || row.starts(with: "RIGHT-JOIN ") || row.isIndexBranch
  }
}

extension LogBytes {
  /// `INDEX 1`, one branch of a multi-index OR.
  fileprivate var isIndexBranch: Bool {
    starts(with: "INDEX ") && after("INDEX ")?.trimmed.bytes.allSatisfy(\.isDigit) == true
  }
}
