import Foundation
import ProfileEvents
import RunReports
import RunResults
import ScenarioLanguage
import Testing
import WorkbenchFixtures

@testable import Profiling

@Suite("JSON report")
struct JSONReportTests {
  @Test func resultFileHasTheDocumentedShape() throws {
    let written = try JSONSerialization.jsonObject(with: JSONReport.data(FaultStormScenario.full))
    let file = try #require(written as? [String: Any])
    #expect(file["scenario"] as? String == "Fault storm")
    #expect(file["seed"] as? Int == 7)
    #expect(file["scale"] as? Int == 1)
    let variants = try #require(file["variants"] as? [[String: Any]])
    #expect(variants.compactMap { $0["holds"] as? Bool } == Array(repeating: true, count: 6))

    let storm = variants[0]
    #expect((storm["metrics"] as? [String: Int])?["selects"] == 5_061)
    #expect((storm["metrics"] as? [String: Int])?["peak(Mood)"] == 5_000)
    let expectation = try #require((storm["expectations"] as? [[String: Any]])?.first)
    #expect(expectation["metric"] as? String == "selects")
    #expect(expectation["law"] as? String == "1 + Mood + Country")
    #expect(expectation["expected"] as? Int == 5_061)
    #expect(expectation["found"] as? Int == 5_061)
    #expect(expectation["holds"] as? Bool == true)
    #expect(expectation["source"] as? String == "book")
    let finding = try #require((storm["findings"] as? [[String: Any]])?.last)
    #expect(finding["name"] as? String == "fault-storm(Mood.country)")
    #expect((finding["tried"] as? [String: Any])?["after"] as? Int == 2)
    let statements = try #require(storm["statements"] as? [[String: Any]])
    #expect(statements.compactMap { $0["count"] as? Int } == [1, 5_000, 60])
  }

  /// Expected values are numbers or lists of names.
  @Test func expectedValuesKeepTheirTypes() throws {
    var result = FaultStormScenario(moods: 20, countries: 5).result()
    let location = CallSite(file: "faults.yml", line: 9)
    result.variants[0].expectations = [
      ExpectationResult(
        metric: "findings", formula: "none", relation: .equal, expected: .names([]),
        actual: .names(["fault-storm(Mood)"]), isMet: false, source: .ours, location: location),
      ExpectationResult(
        metric: "peak(Mood)", formula: "at most 100", relation: .atMost, expected: .number(100),
        actual: .number(20), isMet: true, source: .derived, location: location),
    ]
    let text = String(decoding: try JSONReport.data(result), as: UTF8.self)
    #expect(text.contains("\"expected\": []"))
    #expect(text.contains("\"expected\": 100,"))
    #expect(result.variants[0].expectations[0].expectedText == "none")
    #expect(result.variants[0].expectations[1].expectedText == "at most 100")
    #expect(!result.passes)
  }

  @Test func equalRunsGiveEqualBytes() throws {
    let first = try JSONReport.data(FaultStormScenario(moods: 50).make())
    let second = try JSONReport.data(FaultStormScenario(moods: 50).make())
    #expect(first == second)
    #expect(first.last == UInt8(ascii: "\n"))
  }
}
