import Foundation

/// The kind of a log line.
///
/// Every line has one kind or is unrecognized.
///
/// The table of kinds in `Documentation/log-formats.md` is generated from this file.
package enum LogKind: UInt8, CaseIterable, Sendable {
  case sql
  case bind
  case connectionTime
  case fetchTime
  case countTime
  case executionTime
  case fetchResult
  case countResult
  case objectFault
  case relationshipFault
  case prefetch
  case intarray
  case explain
  case plan
  case connecting
  case disconnecting
  case setUp
  case schema
  case migration
  case maintenance
  case checkpoint
  case remoteChange
  case history
  case cloudKit
  case concurrency
  case repair
  case error
  case warning
  case fault
  case debug
  case info
  case message
  case rowCacheHit
  case saveTime
  case cdprof
  case section
  case continuation
  case metadata
  case blank
  case app

  /// The position among all kinds.
  var position: Int { Int(rawValue) }

  /// The name in JSON and in the documentation.
  package var name: String {
    switch self {
    case .connectionTime: "connection-time"
    case .fetchTime: "fetch-time"
    case .countTime: "count-time"
    case .executionTime: "execution-time"
    case .fetchResult: "fetch-result"
    case .countResult: "count-result"
    case .objectFault: "object-fault"
    case .relationshipFault: "relationship-fault"
    case .setUp: "set-up"
    case .remoteChange: "remote-change"
    case .cloudKit: "cloudkit"
    case .rowCacheHit: "row-cache-hit"
    case .saveTime: "save-time"
    default: "\(self)"
    }
  }

  /// Whether a line of this kind contains a time that is counted.
  var isTimed: Bool {
    switch self {
    case .connectionTime, .fetchTime, .countTime, .executionTime, .saveTime: true
    default: false
    }
  }

  /// Determines the kind of a message.
  ///
  /// Returns `nil` if it's unrecognized.
  init?(_ logClass: LogClass, _ text: borrowing LogBytes) {
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
    case .cdprof: self = LogKind(cdprof: text)
    }
  }

  private init?(details text: borrowing LogBytes) {
    if text.starts(with: "SQLite bind[") || text.starts(with: "bind[") {
      self = .bind
    } else if text.contains("EXPLAIN QUERY PLAN") {
      self = .explain
    } else if LogKind.isPlanRow(text) {
      self = .plan
    } else {
      return nil
    }
  }

  private init(cdprof text: borrowing LogBytes) {
    if LogKind.hasWord("begin", text) || LogKind.hasWord("end", text) {
      self = .section
    } else if text.starts(with: "annotation: fault fulfilled from ")
      || text.starts(with: "annotation: ") && text.contains("relationship fault ")
    {
      // A fault that the database fulfills has the mark of Core Data.
      self = .rowCacheHit
    } else if text.starts(with: "annotation: save execution time") {
      self = .saveTime
    } else if text.starts(with: "plan: ") {
      self = .plan
    } else {
      self = .cdprof
    }
  }

  /// Returns whether text begins with a word, and not only a longer word does.
  private static func hasWord(_ word: StaticString, _ text: LogBytes) -> Bool {
    text.starts(with: word)
      && text.bytes.dropFirst(word.utf8CodeUnitCount).first?.isWord != true
  }

  /// Returns whether text is a row of EXPLAIN QUERY PLAN, in any of SQLite's formats.
  static func isPlanRow(_ text: LogBytes) -> Bool {
    let row = LogBytes(
      text.bytes.drop { $0.isDigit || $0.isWhitespace || "|`-,()\"'".utf8.contains($0) })
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
  /// Whether the row is a branch of a multi-index OR, such as `INDEX 1`.
  fileprivate var isIndexBranch: Bool {
    starts(with: "INDEX ") && after("INDEX ")?.trimmed.bytes.allSatisfy(\.isDigit) == true
  }
}

extension LogKind {
  /// Determines the kind of an annotation.
  ///
  /// Returns `nil` if it's unrecognized.
  init?(annotation text: borrowing LogBytes) {
    // The most frequent kinds first.
    if text.starts(with: "sql connection fetch time: ") {
      self = .connectionTime
    } else if text.starts(with: "total fetch execution time: ") {
      self = .fetchTime
    } else if let kind = LogKind(filled: text) {
      self = kind
    } else if text.starts(with: "Bound intarray") {
      self = .intarray
    } else if text.starts(with: "Prefetching with key") {
      self = .prefetch
    } else if text.starts(with: "fetch using ") {
      self = .fetchResult
    } else if let kind = LogKind(timed: text) ?? LogKind(shared: text) {
      self = kind
    } else if text.starts(with: "-executeRequest: encountered exception") {
      self = .error
    } else if text.starts(with: "Failed to load optimized model") {
      self = .setUp
    } else if text.starts(with: "count request ") {
      self = .countResult
    } else if LogKind.isPlanRow(text) {
      self = .plan
    } else {
      return nil
    }
  }

  /// Determines the kind of an annotation that contains a time: `… time: 0.0002s …`.
  private init?(timed text: borrowing LogBytes) {
    guard let range = text.range(of: " time: ") else { return nil }
    let name = LogBytes(text.bytes[..<range.lowerBound])
    if name.starts(with: "sql connection fetch") {
      self = .connectionTime
    } else if name.starts(with: "total count request") {
      self = .countTime
    } else if name.starts(with: "total fetch") {
      self = .fetchTime
    } else if name.ends(with: "execution") {
      self = .executionTime
    } else {
      return nil
    }
  }

  /// Determines the kind of an annotation about a fault: `… fulfilled from database …`.
  private init?(filled text: borrowing LogBytes) {
    if text.starts(with: "fault fulfilled from ") {
      self = .objectFault
    } else if text.starts(with: "to-many relationship fault ")
      || text.starts(with: "relationship fault ") || text.starts(with: "to-one relationship fault ")
    {
      self = .relationshipFault
    } else {
      return nil
    }
  }

  /// Determines the kind of text that several classes share.
  ///
  /// Returns `nil` if it's none of these.
  init?(shared text: borrowing LogBytes) {
    for (beginning, kind) in LogKind.beginnings where text.starts(with: beginning) {
      self = kind
      return
    }
    if text.contains("ersistent"),
      text.contains("PersistentHistory") || text.contains("ersistent history")
        || text.contains("ersistent History")
    {
      self = .history
    } else {
      return nil
    }
  }

  /// The kinds that are determined only by how the text begins.
  private static let beginnings: [(StaticString, LogKind)] = [
    ("Connecting to sqlite database", .connecting),
    ("Disconnecting from sqlite database", .disconnecting),
    ("(migration)", .migration),
    ("Migration", .migration),
    ("migration", .migration),
    ("Beginning lightweight migration", .migration),
    ("Beginning migration", .migration),
    ("Finished lightweight migration", .migration),
    ("Finished migration", .migration),
    ("Incompatible version schema", .migration),
    ("store version hashes", .migration),
    ("current version hashes", .migration),
    ("PostSaveMaintenance", .maintenance),
    ("WAL checkpoint", .checkpoint),
    ("wal_checkpoint", .checkpoint),
    ("checkpoint", .checkpoint),
    ("Remote Change Notification", .remoteChange),
    ("Remote change notification", .remoteChange),
    ("CoreData+CloudKit", .cloudKit),
    ("CloudKit", .cloudKit),
    ("NSCloudKitMirroring", .cloudKit),
    ("Core Data multi-threading assertions", .concurrency),
    ("repairing ", .repair),
    ("creating ", .schema),
    ("Creating ", .schema),
    ("storeType:", .setUp),
    ("configuration:", .setUp),
    ("URL:", .setUp),
    ("options:", .setUp),
    ("NSMigratePersistentStoresAutomatically", .setUp),
    ("NSInferMappingModelAutomatically", .setUp),
    ("NSPersistentHistoryTrackingKey", .setUp),
    ("NSPersistentStore", .setUp),
    ("NSSQLite", .setUp),
    ("NSReadOnlyPersistentStoreOption", .setUp),
    ("<NSPersistentStoreCoordinator:", .setUp),
    ("-addPersistentStoreWithType", .setUp),
    ("Added persistent store", .setUp),
    ("Will add persistent store", .setUp),
  ]
}

/// The class of a log line, between `CoreData:` and the text.
package enum LogClass: UInt8, CaseIterable, Sendable {
  case sql
  case annotation
  case details
  case debug
  case error
  case warning
  case fault
  case info
  /// `CoreData+CloudKit: …`, and `CoreData: CloudKit: …`.
  case cloudKit
  /// `CoreData: …` without a class.
  case message
  /// `cdprof: …`, which only OpenCoreData writes.
  case cdprof

  /// The position among all classes.
  var position: Int { Int(rawValue) }

  /// The word before the colon in a line, and the name in JSON.
  package var name: String { self == .cloudKit ? "CloudKit" : "\(self)" }

  /// Returns the class for a word before a colon, or `nil` if the word isn't a class.
  init?(_ word: LogBytes) {
    guard
      let known = LogClass.words.first(where: {
        word.count == $0.word.utf8CodeUnitCount && word.starts(with: $0.word)
      })
    else { return nil }
    self = known.logClass
  }

  /// Returns the class that text in memory begins with, before a colon; `nil` if there's none.
  @inline(__always) static func beginning(
    _ text: UnsafeBufferPointer<UInt8>
  ) -> (word: StaticString, logClass: LogClass)? {
    guard let start = text.baseAddress else { return nil }
    return words.first { word, _ in
      let length = word.utf8CodeUnitCount
      return length < text.count && text[length] == UInt8(ascii: ":")
        && memcmp(start, word.utf8Start, length) == 0
    }
  }

  /// The words, most frequent first.
  private static let words: [(word: StaticString, logClass: LogClass)] = [
    ("sql", .sql), ("annotation", .annotation), ("details", .details), ("debug", .debug),
    ("error", .error), ("warning", .warning), ("fault", .fault), ("info", .info),
    ("CloudKit", .cloudKit), ("cloudkit", .cloudKit), ("Cloudkit", .cloudKit),
  ]
}
