import Foundation
import Testing

@testable import LogAnalysis

@Suite("Log lines from different sources")
struct LogLineTests {
  /// The same statement as different loggers write it, its thread, and its time.
  @Test(arguments: [
    ("CoreData: sql: SELECT COUNT(*) FROM ZITEM", "", ""),
    ("  CoreData: sql: SELECT COUNT(*) FROM ZITEM  ", "", ""),
    ("sql: SELECT COUNT(*) FROM ZITEM", "", ""),
    ("ata: sql: SELECT COUNT(*) FROM ZITEM", "", ""),
    (
      "2014-07-31 15:29:04.797 WordList[73416:2971038] CoreData: sql: SELECT COUNT(*) FROM ZITEM",
      "2971038", "2014-07-31 15:29:04.797"
    ),
    (
      "2018-06-12 20:30:00.123456+0200 App[4000:12345] [sql] sql: SELECT COUNT(*) FROM ZITEM",
      "12345", "2018-06-12 20:30:00.123456+0200"
    ),
    (
      "2023-05-01 12:00:00.123456+0200 0x1a2b     Default     0x0                  123    0    "
        + "App: (CoreData) [com.apple.coredata:sql] CoreData: sql: SELECT COUNT(*) FROM ZITEM",
      "0x1a2b", "2023-05-01 12:00:00.123456+0200"
    ),
    (
      "2023-05-01 12:00:00.123 Df App[123:1a2b] [com.apple.coredata:sql] SELECT COUNT(*) FROM ZITEM",
      "1a2b", "2023-05-01 12:00:00.123"
    ),
    (
      "May  1 12:00:00 iPhone App(CoreData)[123] <Notice>: CoreData: sql: SELECT COUNT(*) FROM ZITEM",
      "123", "May  1 12:00:00"
    ),
    (
      "2023-05-01 12:00:00.123456+0200  localhost App[123]: (CoreData) [com.apple.coredata:sql] "
        + "CoreData: sql: SELECT COUNT(*) FROM ZITEM", "123", "2023-05-01 12:00:00.123456+0200"
    ),
    ("12:00:05 [123] CoreData: sql: SELECT COUNT(*) FROM ZITEM", "", "12:00:05"),
    (
      #"{"timestamp":"2023-05-01 12:00:00.5+0200","threadID":77,"processID":5,"category":"sql","#
        + #""eventMessage":"CoreData: sql: SELECT COUNT(*) FROM ZITEM","subsystem":"x"}"#,
      "77", "2023-05-01 12:00:00.5+0200"
    ),
    (#"  "eventMessage" : "CoreData: sql: SELECT COUNT(*) FROM ZITEM","#, "", ""),
    // A time in brackets isn't a thread.
    ("[12:00:05]: ▸ CoreData: sql: SELECT COUNT(*) FROM ZITEM", "", "12:00:05"),
    ("[12:00:05][Step 2/3] CoreData: sql: SELECT COUNT(*) FROM ZITEM", "", "12:00:05"),
    (
      "2024-01-01T12:00:00.1230000Z 2024-01-01 12:00:00.123 App[12:34] CoreData: sql: SELECT "
        + "COUNT(*) FROM ZITEM", "34", "2024-01-01T12:00:00.1230000Z"
    ),
    ("\u{1B}[36mCoreData: sql: \u{1B}[0mSELECT \u{1B}[1;32mCOUNT(*)\u{1B}[0m FROM ZITEM", "", ""),
    ("\u{1B}[fg0,0,255;CoreData: sql: SELECT COUNT(*) FROM ZITEM\u{1B}[;", "", ""),
  ])
  func findsStatementThreadAndTime(text: String, thread: String, time: String) throws {
    let line = LogLine(ArraySlice(text.utf8))
    let message = try #require(line.message)
    #expect(message.logClass == .sql)
    #expect(message.text.string == "SELECT COUNT(*) FROM ZITEM")
    #expect(line.thread.string == thread)
    #expect(line.time.text == time)
  }

  @Test(arguments: [
    "sql: connected to the server", "we use CoreData: yes", "error: no network",
    "annotation: pin dropped", "MyCoreData: sql: SELECT 1", "saved: 20 | temporary IDs: 0",
    #"  "formatString" : "CoreData: sql: %{public}@","#,
    "debug: view did load", "2023-05-01 12:00:00.1 App[1:2] error: no network",
  ])
  func appOutputIsNotCoreData(text: String) {
    #expect(LogLine(ArraySlice(text.utf8)).message == nil)
  }

  /// The class before a message of mirroring to CloudKit, which an app's logger can precede.
  @Test(
    arguments: [
      ("CoreData+CloudKit: -[A b](1): done", .cloudKit, "-[A b](1): done"),
      ("debug: CoreData+CloudKit: -[A b](1): done", .cloudKit, "-[A b](1): done"),
      (
        "CoreData: error: CoreData+CloudKit: -[A b](1): no", .error,
        "CoreData+CloudKit: -[A b](1): no"
      ),
      ("error: CoreData+CloudKit: -[A b](1): no", .error, "CoreData+CloudKit: -[A b](1): no"),
      (
        "2019-11-04 13:25:52.712867+0100 App[12:34] [error] error: CoreData+CloudKit: -[A b](1): no",
        .error, "CoreData+CloudKit: -[A b](1): no"
      ),
      (
        "warning: CoreData+CloudKit: -[A b](1): slow", .warning,
        "CoreData+CloudKit: -[A b](1): slow"
      ),
      ("my_error: CoreData+CloudKit: -[A b](1): done", .cloudKit, "-[A b](1): done"),
    ] as [(String, LogClass, String)])
  func problemsOfMirroringAreProblems(line: String, logClass: LogClass, text: String) throws {
    let message = try #require(LogLine(ArraySlice(line.utf8)).message)
    #expect(message.logClass == logClass && message.text.string == text)
  }

  /// The message of a record can be without `CoreData:`, which its subsystem and category state.
  @Test(
    arguments: [
      ("com.apple.coredata", "error", "error: no such table", .error, "no such table"),
      ("com.apple.coredata", "error", "no such table", .error, "no such table"),
      ("com.apple.coredata", "sql", "SELECT 1", .sql, "SELECT 1"),
      ("com.apple.coredata", "other", "a message", .message, "a message"),
      ("com.example.app", "error", "error: no such table", nil, ""),
    ] as [(String, String, String, LogClass?, String)])
  func categoriesOfRecordsAreClasses(
    subsystem: String, category: String, message: String, logClass: LogClass?, text: String
  ) {
    let line =
      #"{"eventMessage":"\#(message)","subsystem":"\#(subsystem)","category":"\#(category)"}"#
    let found = LogLine(ArraySlice(line.utf8)).message
    #expect(found?.logClass == logClass && (found?.text.string ?? "") == text)
  }

  /// A message of a log class, and its kind; `nil` if it's unrecognized.
  @Test(
    arguments: [
      (LogClass.annotation, "sql connection fetch time: 0.4789s.", LogKind.connectionTime),
      (.annotation, "sql execution time: 0.0001s", .executionTime),
      (.annotation, "total count request execution time: 0.0528s for count of 10456.", .countTime),
      (.annotation, "Bound intarray values.", .intarray),
      (.annotation, "(migration)\t in-place migration completed in 0.01 seconds", .migration),
      (.annotation, "Disconnecting from sqlite database.", .disconnecting),
      (.annotation, "PostSaveMaintenance: wal_checkpoint(TRUNCATE)", .maintenance),
      (.annotation, "options:", .setUp),
      (.annotation, "Failed to load optimized model at path '/x/M.omo'", .setUp),
      (.annotation, "Finished lightweight migration on connection", .migration),
      (.annotation, "-executeRequest: encountered exception = no such table", .error),
      (.annotation, "something unknown", nil),
      (.details, #"SQLite bind[0] = "s""#, .bind),
      (.details, "SQLite bind[3] = (int64)5", .bind),
      (.details, "SQLite: EXPLAIN QUERY PLAN SELECT 1", .explain),
      (.details, "2 0 0 SCAN TABLE ZITEM AS t0", .plan),
      (.details, "what is this", nil),
      (.debug, "WAL checkpoint: Database busy", .checkpoint),
      (.debug, "Remote Change Notification - registered core observer for UUID", .remoteChange),
      (
        .debug, "CoreData+CloudKit: -[NSCloudKitMirroringDelegate x](433): <y>: Observing",
        .cloudKit
      ),
      (.debug, "whatever", .debug),
      (.warning, "Multiple NSEntityDescriptions claim the NSManagedObject subclass 'A'", .warning),
      (.message, "Failed to load optimized model at path '/x'", .message),
    ] as [(LogClass, String, LogKind?)])
  func classifiesMessages(logClass: LogClass, text: String, kind: LogKind?) {
    #expect(LogKind(logClass, LogBytes(text)) == kind)
  }
}
