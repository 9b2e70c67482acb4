import Foundation
import Testing
import WorkbenchFixtures

@testable import LogAnalysis
@testable import RunReports
@testable import WorkbenchText

@Suite("The trace of a log")
struct LogTraceTests {
  /// Returns lines with the prefix of NSLog, at seconds after 12:00 or another time.
  private static func lines(
    _ second: String, _ text: String, thread: String = "1", at minute: String = "2026-11-27 12:00"
  ) -> String {
    text.split(separator: "\n").map { "\(minute):\(second) App[7:\(thread)] \($0)\n" }.joined()
  }

  private static func fetch(_ table: String, rows: Int, time: String) -> String {
    SampleLogs.fetch("SELECT 0, t0.Z_PK FROM \(table) t0", rows: rows, time: time)
  }

  private func events(_ log: String) throws -> [ChromeTrace.Event] {
    let report = SampleLogs.report(log, tracing: true)
    let data = try LogReportFormat.trace.data(LogReportInput(report: report))
    return try JSONDecoder().decode(ChromeTrace.self, from: data).traceEvents
  }

  private func slices(_ log: String, _ category: String) throws -> [String] {
    try events(log).filter { $0.ph == "X" && $0.cat == category }.map {
      "\($0.pid) \($0.name) \(Int($0.ts ?? -1)) \(Int($0.dur ?? -1))"
    }
  }

  @Test func statementsArePlacedByTheirTimes() throws {
    let log =
      "cdprof: begin list\n" + Self.lines("01.000", Self.fetch("ZMOOD", rows: 20, time: "0.0300s"))
      + Self.lines("01.500", SampleLogs.fault("Country", 1)) + "cdprof: end\n"
      + Self.lines("02.000", Self.fetch("ZTAG", rows: 1, time: "0.5000s"), thread: "2")
      + Self.lines("03.000", "CoreData: sql: INSERT INTO ZMOOD(Z_PK) VALUES(?)\n")
      + Self.lines("03.250", "CoreData: sql: COMMIT\n")
    #expect(
      try slices(log, "statement") == [
        "1 SELECT ZMOOD 0 30000", "1 SELECT Country 500000 200", "1 INSERT ZMOOD 2000000 0",
        "1 COMMIT 2250000 0", "2 SELECT ZTAG 1000000 500000",
      ])
    #expect(try slices(log, "fetch") == ["1 fetch ZMOOD 0 30000", "2 fetch ZTAG 1000000 500000"])
    // A miss is on two tracks.
    #expect(
      try slices(log, "objectFault")
        == Array(
          repeating: "1 fault Country (miss) 500000 200", count: 2))
    #expect(try slices(log, "step") == ["1 list 0 500200"])
    let names = try events(log).filter { $0.name == "process_name" }.map(\.args?.name)
    #expect(names == ["thread 1", "thread 2"])
    let first = try #require(try events(log).first { $0.cat == "statement" }?.args)
    #expect(first.rows == 20 && first.sql?.hasPrefix("SELECT 0") == true)
    #expect(first.location?.hasSuffix(".log:2") == true)
    #expect(SampleLogs.report(log, tracing: true).untraced == nil)
  }

  /// A log without years continues from February to March, and from December to January.
  @Test(arguments: [
    ["Feb 27 23:59", "Feb 28 23:59", "Mar  1 23:59"],
    ["Dec 30 23:59", "Dec 31 23:59", "Jan  1 23:59"],
    ["Feb 28 23:59", "Feb 29 23:59", "Mar  1 23:59"],
  ])
  func datesWithoutYearsAreInOrder(minutes: [String]) throws {
    let log = minutes.map { minute in
      Self.lines("30.000", Self.fetch("ZMOOD", rows: 2, time: "0.0300s"), at: minute)
    }.joined()
    let days = try slices(log, "statement").map { $0.split(separator: " ")[3] }
    let day = 86_400_000_000
    let isLeapYear = minutes.contains { $0.hasPrefix("Feb 29") }
    let march = minutes[0].hasPrefix("Feb") && !isLeapYear ? 3 * day : 2 * day
    #expect(days == ["0", "\(day)", "\(march)"])
  }

  /// Executions in the same millisecond follow each other; a prefetch is inside its fetch.
  @Test func executionsOfOneMillisecondDontOverlap() throws {
    let faults = (1...3).map { Self.lines("01.000", SampleLogs.fault("Country", $0)) }.joined()
    #expect(
      try slices(faults, "statement").map { $0.suffix(8) }
        == [
          "ry 0 200", " 200 200", " 400 200",
        ].map { $0.suffix(8) })
    let nested =
      "CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0\n"
      + "CoreData: annotation: sql connection fetch time: 0.0001s\n"
      + Self.fetch("ZCOUNTRY", rows: 2, time: "0.0002s")
      + "CoreData: annotation: Prefetching with key 'country'.  Got 2 rows.\n"
      + "CoreData: annotation: total fetch execution time: 0.0009s for 9 rows.\n"
    #expect(
      try slices(Self.lines("01.000", nested), "statement") == [
        "1 SELECT ZMOOD 0 900", "1 SELECT ZCOUNTRY 0 200",
      ])
  }

  @Test func whatCannotBePlacedIsCounted() throws {
    let timed = Self.lines("01.000", Self.fetch("ZMOOD", rows: 1, time: "0.0001s"))
    let far = Self.lines(
      "01.000", Self.fetch("ZMOOD", rows: 1, time: "0.0001s"), at: "9999-11-27 12:00")
    let open = Self.lines("02.000", "CoreData: sql: SELECT 0, t0.Z_PK FROM ZTAG t0\n")
    for rest in [Self.fetch("ZTAG", rows: 1, time: "0.0001s"), far, open] {
      let report = SampleLogs.report(timed + rest, tracing: true)
      #expect(try slices(timed + rest, "statement") == ["1 SELECT ZMOOD 0 100"])
      #expect(report.untraced?.hasPrefix("not in the trace: 1 of 2 executions, for which") == true)
    }
    let untimed = SampleLogs.report(Self.fetch("ZMOOD", rows: 1, time: "0.0001s"), tracing: true)
    let error = #expect(throws: InvalidInputError.self) {
      try LogReportFormat.trace.data(LogReportInput(report: untimed))
    }
    #expect(error?.message.hasSuffix("which a trace needs to place statements") == true)
  }

  /// A log without dates starts over at midnight.
  @Test func midnightPasses() throws {
    let log =
      Self.lines("59.000", Self.fetch("ZMOOD", rows: 1, time: "0.0001s"), at: "23:59")
      + Self.lines("01.000", Self.fetch("ZTAG", rows: 1, time: "0.0001s"), at: "00:00")
    #expect(
      try slices(log, "statement") == ["1 SELECT ZMOOD 0 100", "1 SELECT ZTAG 2000000 100"])
  }

  /// The prefetch of a fetch that began before midnight is logged before the fetch's time.
  @Test func fetchLastsAcrossMidnight() throws {
    func line(_ time: String, _ text: String) -> String { "\(time) App[1:1] CoreData: \(text)\n" }
    let log =
      line("23:59:59.000", "sql: SELECT 0, t0.Z_PK FROM ZMOOD t0")
      + line("23:59:59.000", "annotation: sql connection fetch time: 0.0001s")
      + line("00:00:00.000", "sql: SELECT 0, t0.Z_PK FROM ZCOUNTRY t0 WHERE  t0.Z_PK IN (?,?)")
      + line("00:00:01.000", "annotation: sql connection fetch time: 0.0001s")
      + line("00:00:01.000", "annotation: total fetch execution time: 0.0002s for 2 rows.")
      + line("00:00:01.000", "annotation: Prefetching with key 'country'.  Got 2 rows.")
      + line("00:00:01.000", "annotation: total fetch execution time: 2.0000s for 9 rows.")
      + line("00:00:02.000", "sql: SELECT 0, t0.Z_PK FROM ZTAG t0")
      + line("00:00:02.000", "annotation: sql connection fetch time: 0.0001s")
      + line("00:00:02.000", "annotation: total fetch execution time: 0.0002s for 1 rows.")
    let timeline = SampleLogs.report(log, tracing: true).timeline
    let seconds = timeline?.executions.sorted { $0.line < $1.line }.map(\.seconds) ?? []
    #expect(seconds.map { $0 - (seconds.first ?? 0) } == [0, 1, 3])
  }

  /// Clocks are set back by an hour, or a log has lines of devices in several zones.
  @Test(arguments: [
    "25 02:00:01.000+01:00", "25 02:00:01.000+0100", "25 01:00:01.000Z", "24 18:00:01.000-0700",
  ])
  func timeZonesChange(later: String) {
    func fetch(_ time: String) -> String {
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0", rows: 1).split(separator: "\n")
        .map { "2026-10-\(time) App[1:1] \($0)\n" }.joined()
    }
    let log = fetch("25 02:59:59.000+0200") + fetch(later)
    let executions = SampleLogs.report(log, tracing: true).timeline?.executions ?? []
    #expect(executions.count == 2)
    #expect((executions.last?.seconds ?? 0) - (executions.first?.seconds ?? 0) == 2)
  }

  @Test(arguments: ["-2345", "-12345", "+9900"])
  func otherNumbersAreNoTimeZones(number: String) {
    let log = ["02:59:59.000\(number)", "03:00:01.000"].map { time in
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0", rows: 1).split(separator: "\n")
        .map { "2026-10-25 \(time) App[1:1] \($0)\n" }.joined()
    }
    let found = SampleLogs.report(log.joined(), tracing: true).timeline?.executions ?? []
    #expect(found.count == 2)
    #expect((found.last?.seconds ?? 0) - (found.first?.seconds ?? 0) == 2)
  }

  @Test func executionsBeyondTheLimitAreCounted() {
    var timeline = LogTimeline()
    let message = LogMessage(
      line: 1, logClass: .sql, text: LogBytes("COMMIT"), time: LogTime(in: LogBytes("12:00:00 ")))
    for _ in 0...InputLimits.tracedExecutions { timeline.add(change: 0, at: message) }
    #expect(timeline.executions.count == InputLimits.tracedExecutions && timeline.leftOut == 1)
  }
}
