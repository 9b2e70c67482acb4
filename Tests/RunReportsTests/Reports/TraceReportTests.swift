import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults

@Suite("Trace and JSON Lines reports")
struct TraceReportTests {
  private static let result = FaultStormScenario(moods: 300, countries: 60).result()

  private func trace(_ result: RunResult) throws -> [ChromeTrace.Event] {
    try JSONDecoder().decode(ChromeTrace.self, from: TraceReport.data(result)).traceEvents
  }

  /// The events of the tracks whose metadata name starts with `name`.
  private func trackEvents(
    _ name: String, _ variant: Int, in events: [ChromeTrace.Event]
  ) -> [ChromeTrace.Event] {
    let ids = Set(
      events.filter {
        $0.ph == "M" && $0.name == "thread_name" && $0.pid == variant
          && $0.args?.name?.hasPrefix(name) == true
      }.map(\.tid))
    return events.filter { $0.ph == "X" && $0.pid == variant && ids.contains($0.tid) }
  }

  @Test func tracksContainAllEventsWithTheirTimes() throws {
    let events = try trace(Self.result)
    let processes = events.filter { $0.name == "process_name" }
    #expect(processes.compactMap { $0.args?.name } == Self.result.variants.map(\.name))
    for (index, variant) in Self.result.variants.enumerated() {
      let count = { variant.metrics[$0] ?? 0 }
      #expect(trackEvents("Fetches", index + 1, in: events).count == count(.fetches))
      #expect(trackEvents("Faults", index + 1, in: events).count == count(.faults))
      #expect(trackEvents("Cache Misses", index + 1, in: events).count == count(.misses))
      #expect(trackEvents("Statements", index + 1, in: events).count == count(.selects))
      #expect(trackEvents("Steps", index + 1, in: events).count == variant.steps.count)
    }
    // A fault has its object, its statement, and its time in microseconds since the variant's
    // start.
    let storm = Self.result.variants[0]
    let fault = try #require(trackEvents("Faults", 1, in: events).first)
    let lane = try #require(storm.timeline.lanes.first { $0.kind == .objectFault })
    #expect(fault.ts == Double(lane.marks[0].begin) / 1_000)
    #expect(fault.dur == Double(lane.marks[0].duration) / 1_000)
    #expect(fault.name == "fault Mood (miss)")
    #expect(fault.args?.object?.hasSuffix("/Mood/p1") == true)
    #expect(fault.args?.sql == FaultStormScenario.oneMood)
  }

  @Test func counterTracksEndAtTheTotals() throws {
    let events = try trace(Self.result)
    for (index, variant) in Self.result.variants.enumerated() {
      for metric in [Metric.selects, .rows, .hits, .misses] {
        let samples = events.filter {
          $0.ph == "C" && $0.pid == index + 1 && $0.name == metric.rawValue
        }
        #expect((samples.last?.args?.count ?? 0) == variant.metrics[metric], "\(metric)")
        #expect(samples.map { $0.ts ?? 0 } == samples.map { $0.ts ?? 0 }.sorted())
      }
    }
  }

  /// Viewers require that the events of a track are nested or disjoint.
  @Test func overlappingEventsGetSeparateTracks() throws {
    var result = Self.result
    var lane = Timeline.Lane(kind: .fetch)
    lane.entity = "Mood"
    lane.marks = [(0, 100), (50, 100), (60, 20), (160, 10), (120, 100)].map {
      Timeline.Mark(begin: $0.0, duration: $0.1, rows: 1)
    }.sorted { $0.begin < $1.begin }
    result.variants = [result.variants[0]]
    result.variants[0].timeline = Timeline(lanes: [lane])
    let events = try trace(result)
    let fetches = trackEvents("Fetches", 1, in: events)
    #expect(fetches.count == 5)
    for track in Set(fetches.map(\.tid)) {
      let mine = fetches.filter { $0.tid == track }
      for (index, one) in mine.enumerated() {
        for other in mine.dropFirst(index + 1) {
          let (a, b) = ((one.ts ?? 0), (one.ts ?? 0) + (one.dur ?? 0))
          let (c, d) = ((other.ts ?? 0), (other.ts ?? 0) + (other.dur ?? 0))
          #expect(c >= b || d <= a || (c >= a && d <= b) || (a >= c && b <= d))
        }
      }
    }
    #expect(Set(fetches.map(\.tid)).count == 2)
  }

  @Test func everyEventIsOneLine() throws {
    let data = JSONLinesReport.data(Self.result)
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    let counts = Self.result.variants.map { variant in
      variant.timeline.lanes.reduce(variant.steps.count) { $0 + $1.marks.count }
        + 1 + variant.statements.count + variant.findings.count
    }
    #expect(lines.count == counts.reduce(1, +))
    var faults = 0
    for line in lines {
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      if object["kind"] as? String == "objectFault", object["variant"] as? String == "fault storm" {
        faults += 1
        #expect(object["source"] as? String == "database")
      }
    }
    #expect(faults == 360)
  }

  @Test func omittedEventsAreReported() throws {
    let events = (1...30).map { index in
      Event(
        id: index, parent: 0, kind: .statement, begin: UInt64(index) * 10, duration: 5, thread: 1)
    }
    var result = Self.result
    result.variants = [result.variants[0]]
    result.variants[0].timeline = Recording(events: events).timeline(most: 20)
    #expect(result.variants[0].timeline.leftOut == 10)
    #expect(result.variants[0].timeline.lanes.map(\.marks.count) == [20])
    let lines = String(decoding: JSONLinesReport.data(result), as: UTF8.self)
    #expect(lines.hasSuffix("\"kind\":\"left-out\",\"count\":10}\n"))
    let name = try trace(result).first { $0.name == "process_name" }?.args?.name
    #expect(name == "fault storm (without the last 10 events)")
  }

  @Test func valuesAndStorePathsAreRedacted() throws {
    var opening = Event(
      id: 1, parent: 0, kind: .storeOpening, begin: 1, duration: 0, thread: 1)
    opening.path = "/home/someone/secret.sqlite"
    var select = Event(id: 2, parent: 0, kind: .statement, begin: 2, duration: 1, thread: 1)
    select.statement = StatementRecord(kind: .select, sql: "SELECT ?", binds: ["\"secret\""])
    var result = Self.result
    result.variants[0].timeline = Recording(events: [opening, select]).timeline()
    for data in [TraceReport.data(result), JSONLinesReport.data(result)] {
      let text = String(decoding: data, as: UTF8.self)
      #expect(!text.contains("secret") && text.contains("SELECT ?"))
    }
  }
}

/// The parts of a trace that tests examine.
struct ChromeTrace: Decodable {
  struct Event: Decodable {
    struct Arguments: Decodable {
      var name: String?
      var rows: Int?
      var object: String?
      var sql: String?
      var location: String?
      var count: Int?
    }

    let ph: String
    let name: String
    let cat: String?
    let pid: Int
    let tid: Int
    let ts: Double?
    let dur: Double?
    let args: Arguments?
  }

  let traceEvents: [Event]
  let displayTimeUnit: String
}
