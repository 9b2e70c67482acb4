import Foundation
import ProfileEvents
import ScenarioLanguage
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults

@Suite("Reports as OpenTelemetry spans")
struct OpenTelemetryReportTests {
  private struct Request: Decodable {
    let resourceSpans: [Resource]
  }

  private struct Resource: Decodable {
    struct Attributes: Decodable {
      let attributes: [Attribute]
    }
    struct Scope: Decodable {
      let spans: [Span]
    }
    let resource: Attributes
    let scopeSpans: [Scope]
  }

  private struct Attribute: Decodable {
    let key: String
    let value: [String: String]
  }

  private struct Span: Decodable {
    struct Status: Decodable {
      let code: Int
    }
    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [Attribute]
    let status: Status?

    subscript(_ key: String) -> String? {
      attributes.first { $0.key == key }?.value.values.first
    }
    var begin: UInt64 { UInt64(startTimeUnixNano) ?? 0 }
    var end: UInt64 { UInt64(endTimeUnixNano) ?? 0 }
  }

  private static let result = FaultStormScenario(moods: 300, countries: 60).result()
  private static let date = Date(timeIntervalSince1970: 1_800_000_000)

  private func resource(_ result: RunResult) throws -> Resource {
    let data = OpenTelemetryReport.data(result, at: Self.date)
    #expect(data.count { $0 == UInt8(ascii: "\n") } == 1, "a receiver reads a request per line")
    return try #require(
      JSONDecoder().decode(Request.self, from: data).resourceSpans.first)
  }

  private func spans(_ result: RunResult) throws -> [Span] {
    try resource(result).scopeSpans.flatMap(\.spans)
  }

  @Test func eachVariantIsATraceOfItsStepsAndEvents() throws {
    let traces = Dictionary(grouping: try spans(Self.result), by: \.traceId)
    #expect(traces.count == Self.result.variants.count)
    for variant in Self.result.variants {
      let trace = try #require(traces.values.first { $0.first?.name == variant.name })
      #expect(trace.count == 1 + variant.steps.count + variant.timeline.events.count)
      #expect(trace[0]["cdprof.selects"] == variant.metrics[.selects].map(String.init))
      let statements = trace.filter { $0["db.operation.name"] == "SELECT" }
      #expect(statements.count == variant.metrics[.selects])
      #expect(
        statements.allSatisfy { $0.kind == 3 && $0["db.system.name"] == "sqlite" })
      let rows = statements.compactMap { $0["db.response.returned_rows"].flatMap { Int($0) } }
      #expect(rows.reduce(0, +) == variant.metrics[.rows])
    }
  }

  @Test func parentsEncloseTheirChildren() throws {
    let spans = try spans(Self.result)
    let known = Dictionary(uniqueKeysWithValues: spans.map { ($0.spanId, $0) })
    #expect(known.count == spans.count)
    for span in spans {
      #expect(span.traceId.count == 32 && span.spanId.count == 16)
      #expect(span.begin >= UInt64(1_800_000_000_000_000_000) && span.begin <= span.end)
      guard let id = span.parentSpanId else { continue }
      let parent = try #require(known[id])
      #expect(parent.traceId == span.traceId)
      #expect(parent.begin <= span.begin && span.end <= parent.end)
    }
    let miss = try #require(spans.first { $0.name == "fault Country (miss)" })
    let statement = try #require(spans.first { $0.parentSpanId == miss.spanId })
    #expect(statement["db.query.text"]?.hasPrefix("SELECT ") == true)
    #expect(statement["db.query.text"]?.contains("Z_PK = ?") == true, "no bound values")
  }

  @Test func unmetExpectationIsAnError() throws {
    var result = Self.result
    #expect(try spans(result).allSatisfy { $0.status == nil })
    let index = try #require(result.variants.firstIndex { !$0.expectations.isEmpty })
    result.variants[index].expectations[0].isMet = false
    let failed = try spans(result).filter { $0.status?.code == 2 }
    #expect(failed.map(\.name) == [result.variants[index].name])
  }

  @Test func identifiersDependOnlyOnTheGenerator() {
    var (one, other) = (ReportIdentifiers(state: 41), ReportIdentifiers(state: 41))
    let data = OpenTelemetryReport.data(Self.result, at: Self.date, using: &one)
    #expect(data == OpenTelemetryReport.data(Self.result, at: Self.date, using: &other))
    #expect(data != OpenTelemetryReport.data(Self.result, at: Self.date, using: &one))
  }

  /// The last identifier before zero is followed by one, because zeros are invalid.
  @Test func noIdentifierIsZero() throws {
    var identifiers = ReportIdentifiers(state: .max - 3)
    let data = OpenTelemetryReport.data(Self.result, at: Self.date, using: &identifiers)
    let text = String(decoding: data, as: UTF8.self)
    #expect(!text.contains("\"spanId\":\"0000000000000000\""))
    #expect(text.contains("\"spanId\":\"0000000000000001\""))
  }
}

/// A generator of the numbers after another one.
struct ReportIdentifiers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 1
    return state
  }
}
