import Foundation
import OpenCoreData
import ProfileEvents
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunResults
@testable import ScenarioLanguage

/// Verified and suppressed findings, and findings as likely causes.
@Suite("Findings of a scenario run")
struct ScenarioFindingTests {
  private func run(_ text: String) throws -> RunResult {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: text, url: PackagedScenarios.folder.appendingPathComponent("found.yml"),
      path: "found.yml")
    defer { withExtendedLifetime(folder) {} }
    return try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
  }

  private func text(moods: Int = 5_000, _ rest: String) -> String {
    """
    name: Found
    model: Moody
    data:
      Country: {count: 20}
      Mood: {count: \(moods), country: cycle, date: every 1 minute, remoteIdentifier: text 9}
    \(rest)
    """
  }

  @Test(arguments: [
    ("{fetch: Mood, where: \"remoteIdentifier == 'x'\", as: m}", ["missing-index(Mood)"]),
    ("{fetch: Mood, sort: latitude, limit: 5, as: m}", ["missing-index(Mood)"]),
    // All rows are fetched, or there's an index.
    ("{fetch: Mood, sort: remoteIdentifier, as: m}", []), ("{fetch: Mood, sort: date-, as: m}", []),
  ])
  func scanIsAFindingIfAnIndexHelped(step: String, names: [String]) throws {
    let variant = try #require(try run(text("steps: [\(step)]")).variants.first)
    #expect(variant.findings.map(\.name) == names)
    for finding in variant.findings {
      let verification = try #require(finding.verification)
      #expect(verification.measure == "VM steps" && verification.after * 5 <= verification.before)
      #expect(finding.fix.text.contains("<fetchIndex name=\""))
      #expect(finding.verificationText.contains("VM steps (on a copy)"))
    }
  }

  /// The index is tried after the work, when the rows are deleted or no longer match.
  @Test(
    "A batch request whose condition needs an index is a finding",
    arguments: [
      ("{batch-delete: Mood, where: \"longitude < 0.01\"}", ["missing-index(Mood)"]),
      (
        "{batch-update: Mood, with: {latitude: 2}, where: \"longitude < 0.01\"}",
        ["missing-index(Mood)"]
      ),
      (
        "{batch-update: Mood, with: {longitude: 2}, where: \"longitude < 0.01\"}",
        ["missing-index(Mood)"]
      ),
      // The work of changing half of the rows remains.
      ("{batch-update: Mood, with: {longitude: 2}, where: \"longitude < 0.5\"}", []),
      ("{batch-delete: Mood, where: \"longitude >= 0\"}", []), ("{batch-delete: Mood}", []),
    ] as [(String, [String])])
  func scanOfABatchRequestIsAFinding(step: String, names: [String]) throws {
    let data = text("steps: [\(step)]").replacing("text 9}", with: "text 9, longitude: random}")
    let findings = try #require(try run(data).variants.first).findings
    #expect(findings.map(\.name) == names)
    #expect(findings.allSatisfy { $0.what == "VM steps without an index of Mood (longitude)" })
  }

  @Test("An OR that needs two indexes is one finding, whose fix has both")
  func indexesOfAnORAreOneFinding() throws {
    let step = "{fetch: Mood, where: \"remoteIdentifier == 'x' OR latitude == 3\", as: m}"
    let data = text("steps: [\(step)]").replacing("text 9}", with: "text 9, latitude: random}")
    let findings = try #require(try run(data).variants.first).findings
    #expect(findings.map(\.name) == ["missing-index(Mood)"])
    let finding = try #require(findings.first)
    #expect(finding.what.hasPrefix("VM steps without indexes of Mood ("))
    #expect(finding.fix.text.components(separatedBy: "<fetchIndex name=").count == 3)
    #expect(finding.fix.advice.components(separatedBy: "CREATE INDEX ").count == 3)
  }

  /// Another variant sorts in the request and walks the result in its order.
  @Test func sortInAnotherVariantCountsAsVerified() throws {
    let result = try run(
      text(
        moods: 100,
        """
        steps: [{fetch: Mood, as: m}]
        variants:
          - {name: memory, then: [{walk: m, sort: date-, limit: 5}]}
          - {name: memory in batches, set: {m.batch: 20}, then: [{walk: m, sort: date-, limit: 5}]}
          - {name: other part, set: {m.sort: date-}, then: [{walk: m, limit: 6}]}
          - {name: request, set: {m.sort: date-}, then: [{walk: m, limit: 5}]}
          - {name: batches, set: {m.sort: date-, m.batch: 20}, then: [{walk: m, limit: 5}]}
        """))
    #expect(
      result.variants.map { $0.findings.map(\.verificationText) } == [
        ["verified: 100 → 0 faults (request)"], ["verified: 6 → 2 SELECTs (batches)"], [], [], [],
      ])
  }

  /// A count has no result to walk, and a batch takes one more SELECT, but lowers the peak.
  @Test func fixIsVerifiedByTheCountThatItLowers() throws {
    let result = try run(
      text(
        moods: 1_000,
        """
        steps: []
        variants:
          - {name: walked, then: [{fetch: Mood, as: m}, {walk: m}]}
          - {name: counted, then: [{fetch: Mood, result: count}]}
          - {name: read, then: [{fetch: Mood, as: m}, {touch: m, read: [date], limit: 20}]}
          - {name: batched, then: [{fetch: Mood, batch: 20, as: m}, {touch: m, read: [date], limit: 20}]}
        """))
    #expect(
      result.variants.map { $0.findings.map(\.verificationText) } == [
        ["verified: 1,000 → 1 row (counted)"], [],
        ["verified: 1,000 → 20 objects at the peak (batched)"], [],
      ])
    #expect(result.variants[0].findings.map { $0.fix.step } == ["fetch Mood result count"])
  }

  @Test func fixIsVerifiedInAllRepetitions() throws {
    let result = try run(
      text(
        moods: 100,
        """
        steps:
          - repeat: 2
            steps: [{fetch: Mood, as: m}, {touch: m, read: [country.numericISO3166Code]}, {drop: m}]
        variants: [{name: plain}, {name: prefetched, set: {m.prefetch: [country]}}]
        """))
    #expect(
      result.variants.map { $0.findings.map(\.verificationText) } == [
        ["verified: 42 → 4 SELECTs (prefetched)"], [],
      ])
  }

  @Test func fixThatLowersNoCountIsNotVerified() {
    let fetch = Step(
      verb: .fetch, subject: "Mood", name: "m", location: CallSite(file: "a.yml", line: 1))
    let fixed = fetch.with(.prefetch, .keyPaths(["country"]))
    var plain = VariantResult(name: "plain")
    plain.metrics = [.selects: 11]
    plain.findings = [
      Finding(
        rule: .faultStorm, subject: "Mood.country", count: 10, callSite: nil, what: "SELECTs",
        fix: SuggestedFix(fetch: fixed))
    ]
    var other = VariantResult(name: "prefetched")
    for (selects, verified) in [
      (2, "verified: 11 → 2 SELECTs (prefetched)"), (11, "not verified"), (12, "not verified"),
    ] {
      other.metrics = [.selects: selects]
      let noted = FixVerification.noting(in: [plain, other], steps: [[fetch], [fixed]])
      #expect(noted[0].findings.map(\.verificationText) == [verified])
    }
  }

  /// The second fetch has the same name as the first, and its prefetch adds a SELECT.
  @Test(
    "The fetch of a finding is fixed, also if another one is in the same line",
    arguments: [", ", ",\n     "])
  func onlyTheFetchOfTheFindingCountsAsFixed(separator: String) throws {
    func variant(_ name: String, _ first: String, _ second: String) -> String {
      let steps = [
        "{fetch: Mood, \(first)as: m}", "{touch: m, read: [country.numericISO3166Code]}",
        "{fetch: Mood, \(second)as: m}",
      ]
      return "  - name: \(name)\n    then: [\(steps.joined(separator: separator))]"
    }
    let prefetch = "prefetch: [country], "
    let variants = [
      variant("neither", "", ""), variant("second", "", prefetch), variant("first", prefetch, ""),
    ]
    let result = try run(
      text(moods: 100, "steps: []\nvariants:\n" + variants.joined(separator: "\n")))
    #expect(
      result.variants.map { $0.findings.map(\.verificationText) } == [
        ["verified: 22 → 3 SELECTs (first)"], ["not verified"], [],
      ])
  }

  @Test func smallTableIsNotAFinding() throws {
    let step = "steps: [{fetch: Mood, where: \"remoteIdentifier == 'x'\", as: m}]"
    #expect(try run(text(moods: 200, step)).variants[0].findings.isEmpty)
  }

  @Test(arguments: [
    ("", false), ("silence: [fault-storm]", true), ("silence: [fault-storm(Mood.country)]", true),
    ("silence: [fault-storm(Mood)]", false), ("silence: [unused-prefetch]", false),
  ])
  func findingsAreSuppressedByRuleAndScope(silence: String, isSuppressed: Bool) throws {
    let result = try run(
      text(
        moods: 40,
        """
        \(silence)
        steps: [{fetch: Mood, as: m}, {touch: m, read: [country.numericISO3166Code]}]
        """))
    #expect(result.variants[0].findings.isEmpty == isSuppressed)
    #expect(result.passes == isSuppressed)
  }

  @Test(arguments: [
    ("silence: [fault-strom]", "did you mean `fault-storm`"),
    ("silence: [fault-storm(Moo)]", "did you mean `Mood`"),
    ("silence: [fault-storm, fault-storm]", "the finding `fault-storm` is listed twice"),
    ("silence: [fault-storm(Mood), fault-storm(Mood)]", "`fault-storm(Mood)` is listed twice"),
  ])
  func suppressedRulesMustExist(silence: String, message: String) {
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try run(text(moods: 1, "\(silence)\nsteps: []"))
    }
    #expect(error?.description.lowercased().contains(message.lowercased()) == true)
  }

  @Test(arguments: [
    ("selects: 1", true), ("misses: 0", true), ("selects: at most 2", true), ("saves: 1", false),
    ("selects: at least 100", false), ("misses(Country): 0", true), ("selects(main): 1", true),
    // The finding is about another step or another entity.
    ("selects(m): 0", false), ("rows(Mood): 30", false),
  ])
  func failedExpectationReportsLikelyCause(expectation: String, isExplained: Bool) throws {
    let result = try run(
      text(
        moods: 40,
        """
        steps: [{fetch: Mood, as: m}, {touch: m, read: [country.numericISO3166Code]}]
        expect: {\(expectation), findings: [fault-storm(Mood.country)]}
        """))
    let missed = result.variants[0].expectations.filter { !$0.isMet }
    #expect(missed.count == 1)
    let likely = missed.flatMap(\.differences).filter { $0.hasPrefix("likely: ") }
    #expect(likely.count == (isExplained ? 1 : 0))
    if isExplained {
      #expect(likely[0].hasPrefix("likely: fault-storm(Mood.country) at found.yml:"))
      #expect(likely[0].contains("fix: request.relationshipKeyPathsForPrefetching"))
    }
  }
}
