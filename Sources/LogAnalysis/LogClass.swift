/// What stands between `CoreData:` and the text of a log line.
package enum LogClass: String, CaseIterable, Sendable {
  case sql
  case annotation
  case details
  case debug
  case error
  case warning
  case fault
  case info
  /// `CoreData+CloudKit: …`, and `CoreData: CloudKit: …`.
  case cloudKit = "CloudKit"
  /// `CoreData: …` without a class.
  case message
  /// `cdprof: …`, which only our framework writes.
  case cdprof

  /// The class of a word before a colon; nil when it is none.
  init?(_ word: LogBytes) {
    guard word.count <= 10 else { return nil }
    switch word.string {
    case "message", "cdprof": return nil
    case "cloudkit", "Cloudkit": self = .cloudKit
    case let text:
      guard let known = LogClass(rawValue: text) else { return nil }
      self = known
    }
  }
}
