import CoreDataCosts
import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import InMemoryTracing
import MetricsTestKit
import MoodService
import OpenCoreData
import Testing
import Tracing

@Suite("Requests of the service")
struct MoodServiceTests {
  @Test func aListWithoutAPrefetchIsAFaultStorm() async throws {
    let service = try await InstrumentedService(moods: 30)
    let answer = try await service.send(.get, "/moods")
    #expect(answer.status == .ok && answer.body.contains(#""text":"mood 29""#))
    #expect(answer.costs.fetches == 1 && answer.costs.selects == 31 && answer.costs.rows == 60)
    #expect(answer.costs.misses == 30 && answer.costs.hits == 30 && answer.costs.faults == 60)
    #expect(
      answer.spanCounts == [
        "/moods": 1, "fetch Mood": 1, "SELECT ZMOOD": 1, "fault Country": 30, "SELECT ZCOUNTRY": 30,
      ])
  }

  @Test func aListWithAPrefetchHasTwoStatements() async throws {
    let service = try await InstrumentedService(moods: 30)
    let answer = try await service.send(.get, "/moods?prefetch=true")
    #expect(answer.status == .ok && answer.body.contains(#""text":"mood 29""#))
    #expect(answer.costs.fetches == 1 && answer.costs.selects == 2 && answer.costs.rows == 60)
    #expect(answer.costs.misses == 0 && answer.costs.hits == 60 && answer.costs.prefetches == 1)
    #expect(
      answer.spanCounts == [
        "/moods": 1, "fetch Mood": 1, "SELECT ZMOOD": 1, "prefetch Mood.country": 1,
        "SELECT ZCOUNTRY": 1,
      ])
    let request = try #require(answer.spans.first { $0.kind == .server })
    let fetch = try #require(answer.spans.first { $0.operationName == "fetch Mood" })
    #expect(fetch.parentSpanID == request.spanID && request.parentSpanID == nil)
    #expect(answer.spans.allSatisfy { $0.traceID == request.traceID })
  }

  @Test func aNewMoodIsOneSave() async throws {
    let service = try await InstrumentedService(moods: 1)
    let answer = try await service.send(.post, "/moods", #"{"text": "glad", "country": "0"}"#)
    #expect(answer.status == .created)
    // The country has another mood, so the version of its row changes, too.
    #expect(answer.costs.selects == 1 && answer.costs.inserts == 1 && answer.costs.updates == 1)
    #expect(answer.costs.saves == 1 && answer.costs.transactions == 2 && answer.costs.misses == 0)
    #expect(
      answer.spanCounts == [
        "/moods": 1, "fetch Country": 1, "SELECT ZCOUNTRY": 1, "save": 1, "transaction": 2,
        "INSERT ZMOOD": 1, "UPDATE ZCOUNTRY": 1,
      ])
    #expect(answer.spans.allSatisfy { $0.status == nil })
    let saves = service.metrics.counters(label: "coredata.saves")
    #expect(saves.map(\.totalValue) == [1])
  }

  @Test func anInvalidMoodIsAFailedSave() async throws {
    let service = try await InstrumentedService(moods: 1)
    let answer = try await service.send(.post, "/moods", #"{"text": "", "country": "0"}"#)
    #expect(answer.status == .unprocessableContent)
    #expect(answer.costs.selects == 1 && answer.costs.statements == 1 && answer.costs.saves == 0)
    #expect(
      answer.spanCounts == ["/moods": 1, "fetch Country": 1, "SELECT ZCOUNTRY": 1, "save": 1])
    let save = try #require(answer.spans.first { $0.operationName == "save" })
    let request = try #require(answer.spans.first { $0.kind == .server })
    #expect(save.parentSpanID == request.spanID && save.status?.code == .error)
    let type = "NSCocoaErrorDomain.\(NSValidationStringTooShortError)"
    #expect(save.attributes.get("error.type") == .string(type))
    #expect(service.metrics.counters(label: "coredata.failures").map(\.totalValue) == [1])
    #expect(
      service.log.entries.map { "\($0.level) \($0.message)" } == [
        "debug fetch Country", "error failed save",
      ])
    // The next request isn't affected.
    let next = try await service.send(.post, "/moods", #"{"text": "sad", "country": "0"}"#)
    #expect(next.status == .created && next.costs.inserts == 1)
  }

  @Test func concurrentMoodsOfOneCountryAreAllSaved() async throws {
    let service = try await InstrumentedService(moods: 1)
    try await withThrowingTaskGroup { group in
      for number in 0..<40 {
        // One is stored, the other is new.
        group.addTask {
          try await service.store.add(.init(text: "new \(number)", country: "\(number % 2)"))
        }
      }
      try await group.waitForAll()
    }
    let all = try await service.store.moods(prefetching: true)
    let moods = all.filter { $0.text.hasPrefix("new") }
    #expect(moods.count == 40 && Set(moods.map(\.country)) == ["0", "1"])
  }

  @Test func concurrentRequestsHaveTheirOwnSpans() async throws {
    let service = try await InstrumentedService(moods: 5)
    try await service.withClient { client in
      try await withThrowingTaskGroup { group in
        for _ in 0..<40 {
          group.addTask {
            let response = try await client.execute(uri: "/moods?prefetch=true", method: .get)
            #expect(response.status == .ok)
          }
        }
        try await group.waitForAll()
      }
    }
    let traces = Dictionary(grouping: service.tracer.popFinishedSpans(), by: \.traceID)
    #expect(traces.count == 40)
    for spans in traces.values {
      #expect(
        spans.map(\.operationName).sorted() == [
          "/moods", "SELECT ZCOUNTRY", "SELECT ZMOOD", "fetch Mood", "prefetch Mood.country",
        ])
    }
    #expect(service.metrics.counters(label: "coredata.fetches").map(\.totalValue) == [40])
  }
}
