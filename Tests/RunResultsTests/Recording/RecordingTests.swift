import ProfileEvents
import RunResults
import ScenarioLanguage
import Testing
import WorkbenchFixtures

@testable import StatementAnalysis

@Suite("Recording")
struct RecordingTests {
  /// The expected SELECTs, rows, faults, hits, and misses of each variant.
  @Test(arguments: [
    ("fault storm", [5_061, 10_060, 5_060, 0, 5_060]), ("plain", [61, 5_060, 5_060, 5_000, 60]),
    ("realized", [61, 5_060, 60, 0, 60]), ("prefetched", [2, 5_060, 5_060, 5_060, 0]),
    ("held", [2, 5_060, 0, 0, 0]), ("batched", [252, 10_060, 0, 0, 0]),
  ])
  func countsEventsOfEachVariant(name: String, expected: [Int]) throws {
    let variant = try #require(FaultStormScenario.full.variants.first { $0.name == name })
    let metrics: [Metric] = [.selects, .rows, .faults, .hits, .misses]
    #expect(metrics.map { variant.metrics[$0] ?? -1 } == expected)
    #expect(variant.metrics[.time] == nil)
  }

  @Test func countsWithinScopes() {
    let recording = Self.smallRecording()
    let expected: [(Metric, MetricScope, Int)] = [
      (.misses, .entity("Country"), 2), (.hits, .entity("Country"), 1), (.faults, .all, 5),
      (.faults, .relationship(entity: "Country", name: "moods"), 2),
      (.misses, .relationship(entity: "Country", name: "moods"), 1),
      (.faults, .entity("Mood"), 0), (.selects, .step("moods"), 1), (.rows, .step("moods"), 3),
      (.selects, .step("unknown"), 0), (.selects, .entity("Country"), 3),
      (.peak, .entity("Mood"), 7), (.peak, .entity("Country"), 0), (.fetches, .entity("Mood"), 1),
    ]
    for (metric, scope, count) in expected {
      #expect(recording.value(of: metric, scope: scope) == count, "\(ScopedMetric(metric, scope))")
    }
    #expect(recording.counters.faults == 5)
    #expect(recording.counters.relationshipFaultHits == 1)
  }

  /// Both steps have the same call site, so only the event numbers distinguish them.
  @Test func slicesContainOneStep() {
    let recording = Self.smallRecording()
    let parts = recording.steps.map { recording.slice(of: $0) }
    #expect(parts.map { $0.value(of: .selects) } == [1, 3])
    #expect(parts.map { $0.value(of: .faults) } == [0, 5])
    #expect(parts.map(\.steps.count) == [1, 1])
    #expect(parts[0].nanoseconds + parts[1].nanoseconds == recording.nanoseconds)
    #expect(recording.event(1)?.kind == .fetch)
    #expect(recording.event(99) == nil)
  }

  @Test func equalTextsAreOneStatementShape() {
    let shapes = Self.smallRecording().statementShapes
    #expect(shapes.map(\.sql) == ["fetch moods", "one country", "moods of a country"])
    #expect(shapes.map(\.count) == [1, 2, 1])
    #expect(shapes.map(\.rows) == [3, 2, 4])
    #expect(shapes[1].firstCallSite == EventScript.touch)
    #expect(shapes[1].logLine == "CoreData: sql: one country")
  }

  @Test func groupsMatchTheOutputOfLast() {
    let recording = Self.smallRecording()
    #expect(
      EventGroup.lines(recording.groups.filter { recording.steps[1].contains($0.firstEvent) }) == [
        "  #2  2 x  fault Country                     miss   one country",
        "  #3  1 x  fault Country                     hit",
        "  #4  1 x  relationship fault Country.moods  miss   moods of a country",
        "  #5  1 x  relationship fault Country.moods  hit",
      ])
  }

  /// The prefetch of a many-to-many relationship runs two SELECTs.
  @Test func anEventWithSeveralStatementsIsCountedOnce() {
    let script = EventScript()
    script.step("fetch Mood prefetch tags", at: EventScript.touch) {
      script.fetch("Mood", sql: "moods", rows: 3, prefetch: ("Tag", "join rows", 9))
      // The fetch is the first event, its statement the second.
      script.statement("tags", entity: "Tag", rows: 4, parent: 3, time: 100)
    }
    let recording = script.recorder.recording(steps: script.steps)
    #expect(recording.value(of: .prefetches) == 1 && recording.value(of: .selects) == 3)
    #expect(recording.groups.map(\.count) == [1, 1, 1])
    #expect(recording.groups.map(\.events) == [1, 1, 0])
    func lines(_ metric: Metric) -> [String] {
      EventDifferences(
        recording: recording, metric: ScopedMetric(metric), found: recording.value(of: metric)
      ).lines
    }
    #expect(lines(.prefetches).count == 1 && lines(.selects).count == 3)
  }

  @Test func eventsOfOnePixelAreMergedWithTheirCount() throws {
    let marks = [(0, 10), (12, 20), (40, 41)].map {
      Track.Mark(begin: UInt64($0.0), end: UInt64($0.1), count: 1)
    }
    #expect(Track.merged(marks, pixel: 5).map(\.count) == [2, 1])
    #expect(Track.merged(marks, pixel: 1).map(\.count) == [1, 1, 1])

    let storm = try #require(FaultStormScenario.full.variants.first)
    #expect(storm.tracks.map(\.name.rawValue) == ["Fetches", "Saves", "Faults", "Cache Misses"])
    #expect(storm.tracks.map(\.count) == [1, 0, 5_060, 5_060])
    #expect(storm.tracks.map(\.isDensity) == [false, false, true, true])
    for track in storm.tracks {
      #expect(track.marks.reduce(0) { $0 + $1.count } == track.count)
      #expect(zip(track.marks, track.marks.dropFirst()).allSatisfy { $0.begin < $1.begin })
    }
  }

  @Test func recorderReceivesEventsOfEveryThread() async {
    let recorder = Recorder()
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for index in 0..<500 {
            recorder.record(
              Event(
                id: thread * 500 + index + 1, parent: 0, kind: .fetch, begin: 0, duration: 0,
                thread: UInt64(thread)))
          }
        }
      }
    }
    #expect(recorder.mark == 2_000)
    #expect(recorder.recording().events.map(\.id) == Array(1...2_000))
    #expect(recorder.recording().value(of: .fetches) == 2_000)
  }

  /// A fetch of three moods, then three country faults and two relationship faults.
  private static func smallRecording() -> Recording {
    let script = EventScript()
    script.step("fetch Mood as moods", name: "moods", at: EventScript.touch) {
      script.fetch("Mood", sql: "fetch moods", rows: 3)
    }
    script.step("touch moods country.name", at: EventScript.touch) {
      script.fault("Country", key: 1, sql: "one country")
      script.fault("Country", key: 2, sql: "one country")
      script.fault("Country", key: 3)
      script.relationshipFault("Country", "moods", key: 1, rows: 4, sql: "moods of a country")
      script.relationshipFault("Country", "moods", key: 2, rows: 4, sql: nil)
    }
    return script.recorder.recording(
      steps: script.steps, gauges: [ScopedMetric(.peak, .entity("Mood")): 7])
  }
}
