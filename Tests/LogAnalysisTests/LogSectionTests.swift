import ProfileEvents
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import LogAnalysis

@Suite("Sections of a log")
struct LogSectionTests {
  @Test func sectionsAreCountedSeparately() {
    let report = SampleLogs.report(
      SampleLogs.fault("Mood", 1) + "cdprof: begin list\n" + SampleLogs.fault("Mood", 2)
        + "2024-01-01 10:00:00.000 App[1:2] cdprof: begin detail view \n"
        + SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 3) + "cdprof: end\n"
        + SampleLogs.fault("Mood", 3))
    #expect(report.sections.map(\.name) == ["list", "detail view"])
    #expect(
      report.sections.map(\.costs.all) == [
        [.selects: 1, .rows: 1, .misses: 1], [.selects: 1, .rows: 3, .fetches: 1],
      ])
    #expect(report.sections.map(\.firstLine) == [5, 10])
    #expect(report.kinds[.section] == 3)
    #expect(report.costs.all[.misses] == 3)
  }

  /// The rows and the time of a fetch during which another thread prints a mark are counted, in the
  /// log as a whole.
  @Test func timesAfterAMarkBelongToTheFetchBeforeIt() throws {
    func lines(_ thread: Int, _ text: String) -> [String] {
      text.split(separator: "\n").map { "2024-01-01 10:00:00.000 App[1:\(thread)] \($0)\n" }
    }
    let fetch = lines(22, SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 500))
    let fault = lines(22, SampleLogs.fault("Mood", 1))
    let own = lines(11, SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZTAG t0", rows: 3))
    let inside = Array(fetch.dropFirst()) + own + [fault[0]]
    let report = SampleLogs.report(
      fetch[0] + "cdprof: begin list\n" + inside.joined() + "cdprof: end\n"
        + fault.dropFirst().joined())
    #expect(report.statements.map(\.rows) == [500, 3, 1])
    #expect(report.statements.map(\.own) == [200, 200, 200])
    #expect(report.costs.all == [.selects: 3, .rows: 504, .fetches: 2, .misses: 1])
    let section = try #require(report.sections.first)
    #expect(section.costs.all == [.selects: 2, .rows: 3, .fetches: 2])
    #expect(report.unmatchedTimes == 0)
  }

  @Test("only the words `begin` and `end` mark a section, not longer words")
  func longerWordsAreNoMarks() {
    let fetch = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZITEM t0", rows: 3)
    let report = SampleLogs.report(
      "cdprof: begin list\n\(fetch)cdprof: endpoint reached\ncdprof: beginning\n\(fetch)"
        + "cdprof: end\n\(fetch)\"cdprof: begin\"\n")
    #expect(report.sections.map(\.name).first == "list" && report.sections.count == 2)
    #expect(report.sections[0].costs.all[.selects] == 2)
    #expect(report.kinds[.section] == 3 && report.kinds[.cdprof] == 2)
  }

  @Test("Faults and prefetches whose SELECT is before a mark aren't part of the section")
  func selectsBeforeAMarkAreNotPartOfTheSection() throws {
    let fault = SampleLogs.fault("Mood", 1).split(separator: "\n", omittingEmptySubsequences: false)
    let prefetch = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZTAG t0", rows: 3)
    let key = "CoreData: annotation: Prefetching with key 'tags'.  Got 3 rows.\n"
    let mark = "cdprof: begin list\n"
    let log =
      fault.prefix(3).joined(separator: "\n") + "\n" + mark
      + fault.dropFirst(3).joined(separator: "\n") + "cdprof: end\n" + prefetch + mark + key
    let report = SampleLogs.report(log)
    #expect(report.costs.all == [.selects: 2, .rows: 4, .misses: 1, .prefetches: 1])
    #expect(report.sections.map(\.costs.all) == [[:], [:]])
  }

  @Test("Many marks take linear time while many threads wait for the rest of their SELECTs")
  func marksAreLinear() {
    let threads = (0..<10_000).map { thread in
      "2024-01-01 10:00:00.000 App[1:\(thread)] CoreData: sql: SELECT 0, t0.Z_PK FROM ZITEM t0\n"
    }
    let marks = String(repeating: "cdprof: begin list\n", count: 50_000)
    let begin = threadTime()
    let report = SampleLogs.report(threads.joined() + marks)
    #expect(threadTime() - begin < 30)
    #expect(report.costs.all == [.selects: 10_000, .fetches: 10_000])
    #expect(report.sections.count == 50_000)
  }
}
