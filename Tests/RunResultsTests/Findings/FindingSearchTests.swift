import Foundation
import OpenCoreData
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunResults
@testable import ScenarioLanguage

/// Runs, the shell, and its reports use the same search.
@Suite("Detection of findings")
struct FindingSearchTests {
  private static func finding(
    _ rule: RuleName = .faultStorm, line: Int = 1, count: Int = 12, what: String = "faults"
  ) -> Finding {
    Finding(
      rule: rule, subject: "Mood", count: count, callSite: CallSite(file: "a.yml", line: line),
      what: what, fix: SuggestedFix(advice: "hold them"))
  }

  @Test func findingsMergeOnlyForTheSameLineAndKind() {
    let found = FindingSearch.grouped(
      [
        Self.finding(), Self.finding(line: 2), Self.finding(count: 3),
        Self.finding(what: "relationships"),
      ], silence: [])
    #expect(found.findings.map(\.count) == [15, 12, 12])
    #expect(found.silenced.isEmpty)
  }

  @Test(
    "The rows of one result, or the objects of one save, aren't those of all repetitions",
    arguments: [.partlyRead, .busyMainQueue, .batchWalked] as [RuleName])
  func countsOfOneOperationDoNotAddUp(rule: RuleName) {
    let findings = [1_000, 1_200, 1_100].map { Self.finding(rule, count: $0) }
    #expect(FindingSearch.grouped(findings, silence: []).findings.map { $0.count } == [1_200])
  }

  @Test func suppressedFindingsAreSeparate() {
    let found = FindingSearch.grouped(
      [Self.finding(), Self.finding(.fetchLoop), Self.finding(line: 2)],
      silence: [FindingSuppression(rule: "fault-storm")])
    #expect(found.findings.map(\.name) == ["fetch-loop(Mood)"])
    #expect(found.silenced.count == 2 && found.silencedNames == ["fault-storm(Mood)"])
  }

  @Test func unmetExpectationListsAllFindings() throws {
    let evaluator = ExpectationEvaluator(scope: CountExpressionScope(), path: "a.yml")
    let result = try #require(
      evaluator.result(
        of: ExpectBlock(line: 4), firing: [Self.finding(), Self.finding(line: 2, count: 30)]))
    #expect(!result.isMet)
    #expect(result.actual == .names(["fault-storm(Mood)", "fault-storm(Mood)"]))
    #expect(
      result.differences.count == 2 && result.differences[1].contains("30 faults from a.yml:2"))
  }

  @Test(arguments: [
    ("rows prefetched and never read", "1 row prefetched and never read"),
    ("single-row SELECTs", "1 single-row SELECT"),
    ("SELECTs, one per relationship,", "1 SELECT, one per relationship,"),
    ("VM steps without an index", "1 VM step without an index"),
    ("fetches with the same SQL", "1 fetch with the same SQL"),
    ("objects saved at once", "1 object saved at once"),
    ("entities without the index byDate", "1 entity without the index byDate"),
  ])
  func singleFindingIsSingular(what: String, text: String) {
    #expect(Self.finding(count: 1, what: what).counted == text)
    #expect(Self.finding(count: 2, what: what).counted == "2 \(what)")
  }
}
