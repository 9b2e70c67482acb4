import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import LogAnalysis
@testable import ScenarioLanguage

@Suite("Every line of a modified log is counted once")
struct HostileLogTests {
  /// Lines that the genuine logs lack: those of OpenCoreData and of other loggers.
  private static let synthetic = """
    CoreData: annotation: Connecting to sqlite database file at "/tmp/A B/Store.sqlite"
    cdprof: annotation: this log has row-cache hits and save times
    cdprof: begin list
    CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0 WHERE  t0.ZNAME = ?
    CoreData: details: SQLite bind[0] = "a ( \\"b"
    CoreData: annotation: sql connection fetch time: 0.0001s
    CoreData: annotation: fetch using NSSQLiteStatement <0x1> on entity 'Item' with sql text 'SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0 WHERE  t0.ZNAME = ? ' returned 2 rows with values: (
        "<Item: 0x1> (entity: Item; id: 0x1 <x-coredata://S/Item/p1> ; data: <fault>)",
        "<Item: 0x2> (entity: Item; id: 0x2 <x-coredata://S/Item/p2> ; data: <fault>)"
    )
    CoreData: annotation: total fetch execution time: 0.0002s for 2 rows.
    CoreData: details: SQLite: EXPLAIN QUERY PLAN SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0 WHERE  t0.ZNAME = ?
    cdprof: plan: `--SCAN t0
    cdprof: annotation: fault fulfilled from row cache for : 0x1 <x-coredata://S/Item/p1>
    CoreData: sql: BEGIN EXCLUSIVE
    CoreData: sql: INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(?, ?, ?, ?)
    CoreData: sql: COMMIT
    cdprof: annotation: save execution time: 0.0012s for 1 objects.
    cdprof: end
    CoreData: error: (1) failed with {
        NSFilePath = "/x";
    }

    """

  private static let logs: [(name: String, bytes: [UInt8])] = {
    var logs = [(name: "synthetic", bytes: Array(synthetic.utf8))]
    guard SharedData.moodyStores != nil, let folder = try? SharedData.url("sqldebug") else {
      return logs
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() {
      guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else { continue }
      logs.append((name, Array(data)))
    }
    return logs
  }()

  /// Returns a log's lines; the last one is empty if the log ends with a line break.
  ///
  /// The standard library's `split` calls a closure for each of millions of bytes.
  private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    bytes.withUnsafeBytes { buffer in
      while start < buffer.count, let base = buffer.baseAddress,
        let end = memchr(base + start, 0x0A, buffer.count - start)
      {
        let length = UnsafeRawPointer(end) - (base + start)
        lines.append(bytes[start..<start + length])
        start += length + 1
      }
    }
    lines.append(bytes[start...])
    return lines
  }

  /// Joins lines with a line break.
  private static func log(
    _ lines: [ArraySlice<UInt8>], separator: [UInt8] = [0x0A]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    for (number, line) in lines.enumerated() {
      if number > 0 { bytes.append(contentsOf: separator) }
      bytes.append(contentsOf: line)
    }
    return bytes
  }

  /// Reads a log's lines one by one.
  private func report(_ bytes: [UInt8]) -> LogReport {
    var reader = LogReader(file: "log")
    var lines = Self.lines(bytes)
    if lines.last?.isEmpty == true { lines.removeLast() }
    for line in lines { reader.take(line) }
    let report = reader.finish()
    #expect(report.lines == lines.count)
    return report
  }

  private func countedLines(_ report: LogReport) -> Int {
    report.kinds.values.reduce(report.unrecognized, +)
  }

  private func executions(_ report: LogReport) -> [String: Int] {
    Dictionary(report.statements.map { ($0.sql, $0.calls) }, uniquingKeysWith: +)
  }

  /// Truncates the log before and after each byte, as a ring buffer or a copied excerpt does.
  @Test(arguments: logs.indices)
  func countsEveryLineOfTruncatedLogs(index: Int) {
    let lines = Self.lines(Self.logs[index].bytes)
    for (number, line) in lines.enumerated() {
      // Lines further away don't affect how a line is read.
      let before = Array(lines[max(0, number - 4)..<number])
      let after = Array(lines[(number + 1)..<min(lines.count, number + 5)])
      for offset in line.indices {
        let parts: [[ArraySlice<UInt8>]] = [before + [line[..<offset]], [line[offset...]] + after]
        for part in parts {
          let report = report(Self.log(part))
          guard countedLines(report) == report.lines else {
            Issue.record(
              "\(Self.logs[index].name):\(number + 1) truncated at \(offset): \(report.kinds)")
            return
          }
        }
      }
    }
  }

  /// Overwrites random bytes, swaps two lines, and repeats one.
  @Test(arguments: logs.indices)
  func countsEveryLineOfCorruptLogs(index: Int) {
    var random = SeededGenerator(seed: UInt64(index), stream: "log")
    for _ in 0..<60 {
      var bytes = Self.logs[index].bytes
      for _ in 0..<4 {
        let offset = Int.random(in: bytes.indices, using: &random)
        bytes[offset] = UInt8.random(in: 0...255, using: &random)
      }
      var lines = Self.lines(bytes)
      lines.swapAt(
        Int.random(in: lines.indices, using: &random), Int.random(in: lines.indices, using: &random)
      )
      lines.append(lines[Int.random(in: lines.indices, using: &random)])
      let report = report(Self.log(lines))
      #expect(countedLines(report) == report.lines)
    }
  }

  /// Line endings, colors, and a logger's prefix don't change the result.
  @Test(arguments: logs.indices)
  func resultIsIndependentOfLineEndingsColorsAndPrefixes(index: Int) {
    let bytes = Self.logs[index].bytes
    let plain = report(bytes)
    func lines(_ change: (ArraySlice<UInt8>) -> [UInt8]) -> [UInt8] {
      Self.log(Self.lines(bytes).map { change($0)[...] })
    }
    let ends = report(Self.log(Self.lines(bytes), separator: [0x0D, 0x0A]))
    let colors = report(
      lines { $0.isEmpty ? [] : Array("\u{1B}[1;34m".utf8) + $0 + Array("\u{1B}[0m".utf8) })
    for (format, other) in [("CRLF", ends), ("colors", colors)] {
      #expect(other.kinds == plain.kinds, "\(Self.logs[index].name) with \(format)")
      #expect(executions(other) == executions(plain), "\(Self.logs[index].name) with \(format)")
      #expect(other.costs.all == plain.costs.all, "\(Self.logs[index].name) with \(format)")
    }
    guard Self.logs[index].name == "synthetic" else { return }
    let prefix = Array("2024-05-01 10:00:00.000 App[12:345] ".utf8)
    let logged = report(
      lines { line in
        let isMarked = line.starts(with: Array("CoreData: ".utf8))
        return (isMarked ? prefix : []) + line
      })
    #expect(logged.kinds == plain.kinds && logged.costs.all == plain.costs.all)
    #expect(logged.statements.map(\.own) == plain.statements.map(\.own))
  }

  /// An app prints after every line.
  @Test func appOutputDoesNotChangeTheResult() {
    let whole =
      Array(SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 3).utf8)
      + Array((0..<12).map { SampleLogs.fault("Tag", $0) }.joined().utf8)
    let plain = report(whole)
    let text = String(decoding: whole, as: UTF8.self)
    let prints = [
      "tapped", "From here", "{\"a\": 1}", "WHERE am I", "0.0002s for 3 rows", "(null)",
    ]
    for print in prints {
      let mixed = report(Array(text.replacing("\n", with: "\n\(print)\n").utf8))
      #expect(mixed.kinds[.app] == plain.lines, "\(print)")
      #expect(mixed.kinds.filter { $0.key != .app } == plain.kinds, "\(print)")
      #expect(mixed.costs.all == plain.costs.all)
      #expect(mixed.storms.map(\.name) == ["fault-storm(Tag)"])
      #expect(mixed.statements.map(\.own) == plain.statements.map(\.own))
    }
  }

  /// The subjects of a statement's faults are searched one by one, so only a few are separate.
  @Test func faultsOfManyEntitiesTakeLinearTime() {
    let select = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZPLACE t0 WHERE  t0.Z_PK = ?", rows: 1)
    let count = InputLimits.logSubjects + 5_000
    let fault = "CoreData: annotation: fault fulfilled from database for : <x-coredata://S/E"
    let log = (0..<count).map { "\(select)\(fault)\($0)/p1>\n" }.joined()
    let begin = threadTime()
    let report = report(Array(log.utf8))
    #expect(threadTime() - begin < 30)
    #expect(report.costs.all[.misses] == count)
    #expect(report.costs.byEntity.count == InputLimits.logSubjects)
    #expect(report.storms.map(\.name) == ["fault-storm(?)"])
    #expect(report.storms.map(\.count) == [count - InputLimits.statementSubjects])
  }

  /// Statements and values of any length take a limited memory; all are counted.
  @Test func sizesOfStatementsAndValuesAreLimited() {
    func message(_ logClass: LogClass, _ text: String, thread: Int = 0) -> LogMessage {
      LogMessage(
        line: 1, logClass: logClass, text: LogBytes(text), thread: LogThread(LogBytes("\(thread)")))
    }
    var shapes = LogShapes()
    shapes.sizeLimit = 60
    for number in 0..<5 {
      let text = LogBytes("SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZN\(number) = ?")
      _ = shapes.index(of: text, line: 1, time: LogTime())
    }
    #expect(shapes.all.map(\.isOther) == [false, true])
    var tally = LogAggregator()
    tally.bindLimit = 100
    tally.take(message(.sql, "SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZNAME IN (?, ?)"), .sql)
    for _ in 0..<1_000 { tally.take(message(.details, "SQLite bind[0] = \"abc\""), .bind) }
    #expect((1...6).contains(tally.shapes[0].binds.count))
    // Each waits for the time of its statement.
    let threads = InputLimits.logThreads + 5_000
    for thread in 1...threads {
      tally.take(message(.sql, "SELECT 0, t0.Z_PK FROM ZITEM t0", thread: thread), .sql)
    }
    #expect(tally.threads.count <= InputLimits.logThreads)
    tally.countPendingSelects()
    #expect(tally.costs.all == [.selects: threads + 1, .fetches: threads + 1])
  }

  /// Their counts remain; only the statements aren't listed.
  @Test func statementsOfSectionsAreLimited() {
    func message(_ logClass: LogClass, _ text: String) -> LogMessage {
      LogMessage(line: 1, logClass: logClass, text: LogBytes(text))
    }
    var tally = LogAggregator()
    tally.sectionStatementLimit = 5
    for section in 0..<3 {
      tally.mark(message(.cdprof, "begin \(section)"))
      for number in 0...section {
        let sql = "SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZN\(number) = ?"
        tally.take(message(.sql, sql), .sql)
      }
    }
    tally.mark(message(.cdprof, "end"))
    #expect(tally.sections.map { $0.costs[.selects] } == [1, 2, 3])
    #expect(tally.sections.map(\.reads.count) == [1, 2, 0])
    #expect(tally.sections.map(\.calls.count) == [1, 2, 0])
    #expect(tally.sections.map(\.keepsStatements) == [true, true, false])
    #expect(tally.sectionsWithoutStatements == 1)
    var report = LogReport(file: "log")
    report.sectionsWithoutStatements = tally.sectionsWithoutStatements
    let lines = LogText.lines(report)
    #expect(lines.contains { $0.hasPrefix("the statements of 1 section aren't kept") })
  }

  /// Their totals remain.
  @Test func subjectsOfSectionsAreLimited() {
    func message(_ logClass: LogClass, _ text: String) -> LogMessage {
      LogMessage(line: 1, logClass: logClass, text: LogBytes(text))
    }
    var tally = LogAggregator()
    tally.sectionSubjectLimit = 5
    for section in 0..<3 {
      tally.mark(message(.cdprof, "begin \(section)"))
      for number in 0...section {
        tally.take(message(.sql, "INSERT INTO ZMOOD\(number)(Z_PK) VALUES(?)"), .sql)
      }
    }
    tally.mark(message(.cdprof, "end"))
    #expect(tally.sections.map { $0.costs[.inserts] } == [1, 2, 3])
    #expect(tally.sections.map(\.costs.subjects) == [1, 2, 0])
    #expect(tally.sections.map(\.keepsSubjects) == [true, true, false])
    #expect(tally.sectionsWithoutSubjects == 1)
    var report = LogReport(file: "log")
    report.sectionsWithoutSubjects = tally.sectionsWithoutSubjects
    let reason = "all sections together have more than 500,000 tables, entities, and relationships"
    #expect(LogText.lines(report).contains("1 section without separate counts: \(reason)"))
  }

  @Test func sectionsBeyondTheLimitAreNoted() {
    let log = String(repeating: "cdprof: begin list\n", count: InputLimits.logSections + 3)
    let report = report(Array(log.utf8))
    #expect(report.sections.count == InputLimits.logSections)
    #expect(report.leftOutSections == 3)
    let lines = LogText.lines(report)
    #expect(lines.contains("3 sections beyond the limit of 100,000 aren't counted separately"))
  }

  /// The lines of two threads alternate.
  @Test func interleavedThreadsAreSeparated() {
    let lines =
      ((0..<5).map { SampleLogs.fault("Tag", $0) }.joined()
      + SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 3, time: "0.0300s"))
      .split(separator: "\n")
    func line(_ thread: Int, _ line: Substring) -> String {
      "2024-05-01 10:00:00.000 App[12:\(thread)] \(line)\n"
    }
    // The second thread is two lines behind.
    var mixed = ""
    for index in 0..<(lines.count + 2) {
      if lines.indices.contains(index) { mixed += line(1, lines[index]) }
      if lines.indices.contains(index - 2) { mixed += line(2, lines[index - 2]) }
    }
    let report = report(Array(mixed.utf8))
    #expect(report.unmatchedTimes == 0)
    #expect(report.costs.all == [.selects: 12, .rows: 16, .fetches: 2, .misses: 10])
    #expect(report.statements.map(\.own) == [2_000, 60_000])
  }
}
