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
