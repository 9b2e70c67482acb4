import Foundation
import ProfileEvents
import ScenarioFiles
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import LogAnalysis
@testable import ScenarioLanguage

@Suite("Budgets for sections of a log")
struct LogBudgetTests {
  private static let log =
    "cdprof: begin list\n" + (1...12).map { SampleLogs.fault("Country", $0) }.joined()
    + "cdprof: begin count\n" + SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0", rows: 3)
    + "cdprof: end\n" + SampleLogs.fault("Mood", 1)

  /// Reads a budget from a file next to a link to the scenarios' models.
  private func budget(_ text: String) throws -> LogBudget {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      at: folder.file("Models"),
      withDestinationURL: PackagedScenarios.folder.appendingPathComponent("Models"))
    let file = folder.file("budget.yml")
    try Data(text.utf8).write(to: file)
    return try withExtendedLifetime(folder) { try LogBudget.read(path: file.path) }
  }

  @Test func budgetSectionsAreEvaluated() throws {
    let budget = try budget(
      """
      model: Moody
      data: {Country: 12}
      sections:
        - name: list
          expect: {selects: Country, misses(Country): 12, misses: at most 3, findings: [fault-storm(Country)]}
        - name: count
          expect: {selects(Mood): 1, rows: 1..3, fetches: 1, saves: 0, misses: 0}
        - {name: absent, expect: {selects: 1}}
      """)
    let report = SampleLogs.report(Self.log)
    let evaluation = try LogBudgetEvaluator(budget: budget).evaluation(of: report)
    #expect(!evaluation.passes)
    #expect(evaluation.missing.map(\.name) == ["absent"])
    #expect(evaluation.results[1]?.allSatisfy(\.isMet) == true)
    let list = try #require(evaluation.results[0])
    #expect(list.filter { !$0.isMet }.map(\.metric) == ["misses"])
    #expect(list.count == 4)
    let missed = try #require(list.first { !$0.isMet })
    #expect(missed.actual == .number(12))
    #expect(missed.differences.first?.hasPrefix("12 x #1 SELECT 0, t0.Z_PK") == true)
    let text = LogEvaluationText.lines(evaluation, of: report)
    #expect(text.first == "✗ 1 of 3 sections, 8 of 9 expectations")
    #expect(
      text.contains { $0.hasPrefix("✗ list · misses   expected at most 3, actual 12   ") },
      "\(text)")
    #expect(
      text.contains { $0.hasPrefix("✗ absent   the log doesn't contain `cdprof: begin absent`") })
  }

  @Test func differencesAreTheStatementsOfTheMetric() throws {
    let log =
      "cdprof: begin list\n"
      + String(repeating: SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0", rows: 30), count: 5)
      + (1...3).map { SampleLogs.fault("Country", $0) }.joined()
      + "CoreData: sql: INSERT INTO ZMOOD(Z_PK) VALUES(?)\nCoreData: sql: COMMIT\ncdprof: end\n"
    let budget = try budget(
      "model: Moody\nsections: [{name: list, expect: {misses: 0, rows: 0, inserts: 0, saves: 0}}]")
    let results = try LogBudgetEvaluator(budget: budget).evaluation(
      of: SampleLogs.report(log)
    ).results[0]
    let differences = Dictionary(
      uniqueKeysWithValues: (results ?? []).map { ($0.metric, $0.differences) })
    #expect(differences["misses"]?.count == 1)
    #expect(differences["misses"]?.first?.hasPrefix("3 x #2 SELECT") == true)
    #expect(differences["rows"]?.first?.hasPrefix("150 rows of #1 SELECT") == true)
    #expect(differences["inserts"]?.map { $0.prefix(15) } == ["1 x #3 INSERT I"])
    // No statement is one: a save has several.
    #expect(differences["saves"] == [])
  }

  @Test func scenarioExpectationThatIsNotEvaluatedIsListedOnce() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("list.yml")
    try Data(
      """
      name: A list
      model: Moody
      data:
        Continent: {count: 1}
        Country: {count: 1, continent: cycle}
        Mood: {count: 3, country: cycle}
      steps:
        - {fetch: Mood}
      variants:
        - name: list
          expect: {selects: 1, vmsteps: at least 1}
      """.utf8
    ).write(to: file)
    try FileManager.default.createSymbolicLink(
      at: folder.file("Models"),
      withDestinationURL: PackagedScenarios.folder.appendingPathComponent("Models"))
    let budget = try withExtendedLifetime(folder) {
      try LogBudget.read(path: file.path)
    }
    let section = "cdprof: begin list\n" + SampleLogs.fetch("SELECT 0 FROM ZMOOD t0", rows: 3)
    let evaluation = try LogBudgetEvaluator(budget: budget).evaluation(
      of: SampleLogs.report(section + section + section + "cdprof: end\n"))
    #expect(evaluation.results.count == 3)
    #expect(evaluation.notEvaluated == ["list · vmsteps: logs don't contain `vmsteps`"])
  }

  /// The system log hides statements, or truncates them before their table.
  @Test(arguments: ["<private>", "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, t0.ZLATI<…>"])
  func statementWithoutATableCanBeOfAnyEntity(sql: String) throws {
    let expected =
      "{selects(Mood): at most 2, fetches(Mood): at most 3, selects: 3, inserts(Mood): 0}"
    let budget = try budget("model: Moody\nsections: [{name: list, expect: \(expected)}]")
    let log =
      "cdprof: begin list\n" + SampleLogs.fetch(sql, rows: 1) + SampleLogs.fetch(sql, rows: 2)
      + SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0", rows: 3) + "cdprof: end\n"
    let results = try #require(
      try LogBudgetEvaluator(budget: budget).evaluation(of: SampleLogs.report(log)).results[0])
    #expect(results.filter { !$0.isMet }.map(\.metric) == ["selects(Mood)"])
    let missed = try #require(results.first { !$0.isMet })
    #expect(missed.actual == .number(1))
    #expect(missed.differences.last?.hasPrefix("up to 2 more: the log doesn't contain") == true)
  }

  @Test("Statements beyond the limit are the reason why a count can be greater, not the log")
  func statementsBeyondTheLimitAreTheReason() throws {
    let kept = (0..<InputLimits.logStatements).map {
      "CoreData: sql: SELECT 0, t0.Z_PK FROM ZREGION t0 WHERE  t0.ZN\($0) = ?\n"
    }
    let more = (0..<3).map {
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZM\($0) = ?", rows: 2)
    }
    let log =
      kept.joined() + "cdprof: begin list\n" + more.joined() + "cdprof: end\n"
    let budget = try budget(
      "model: Moody\nsections: [{name: list, expect: {rows(Mood): 1}}]")
    let results = try LogBudgetEvaluator(budget: budget).evaluation(
      of: SampleLogs.report(log)
    ).results[0]
    let missed = try #require(results?.first)
    #expect(missed.metric == "rows(Mood)" && !missed.isMet)
    let reasons = missed.differences.filter { $0.hasPrefix("up to ") }
    #expect(reasons.count == 1, "\(missed.differences)")
    #expect(
      reasons.first?.hasPrefix("up to 6 more: the log has more than 20,000 different statements")
        == true, "\(reasons)")
  }

  @Test func countsOfAnEntityAreNotMetIfTheyAreNotKept() throws {
    let budget = try budget(
      "model: Moody\nsections: [{name: list, expect: {selects(Mood): at most 9, selects: 1}}]")
    var report = SampleLogs.report(
      "cdprof: begin list\n" + SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0", rows: 3)
        + "cdprof: end\n")
    let evaluator = LogBudgetEvaluator(budget: budget)
    #expect(try evaluator.evaluation(of: report).passes)
    report.sections[0].costs.removeSubjects()
    report.sections[0].keepsSubjects = false
    let results = try evaluator.evaluation(of: report).results[0] ?? []
    #expect(results.filter { !$0.isMet }.map(\.metric) == ["selects(Mood)"])
    #expect(
      results.first { !$0.isMet }?.differences.first?
        .hasPrefix("all sections together have more than 500,000 tables") == true)
  }

  @Test("A fault of a hidden object can be one of each entity in the table of its SELECT")
  func faultsOfHiddenObjectsCanBeOfAnyEntity() throws {
    let budget = try budget(
      "model: Moody\nsections: [{name: list, expect: "
        + "{misses(Mood): 0, misses(Country): 1, misses(Country.moods): 0, misses: 3}}]")
    let select = SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.Z_PK = ?", rows: 1)
    let report = SampleLogs.report(
      "cdprof: begin list\n\(select)"
        + "CoreData: annotation: fault fulfilled from database for : <private>\n"
        + SampleLogs.fault("Country", 1) + select
        + "CoreData: annotation: to-many relationship fault \"moods\" for objectID <private> "
        + "fulfilled from database.  Got 3 rows\ncdprof: end\n")
    let results = try LogBudgetEvaluator(budget: budget).evaluation(of: report).results[0] ?? []
    let missed = results.filter { !$0.isMet }
    #expect(Set(missed.map(\.metric)) == ["misses(Mood)", "misses(Country.moods)"])
    #expect(missed.allSatisfy { $0.actual == .number(0) })
    #expect(
      missed.allSatisfy { $0.differences.last?.hasPrefix("up to 1 more: the log hides") == true })
  }

  /// Beyond the maximum number of entities, a fault can be one of any entity without a count.
  @Test func faultsThatAreNotCountedSeparatelyCanBeOfAnyEntity() throws {
    let expected = "{misses(Mood): at most 1, misses(Country): 12, misses(Country.moods): 0}"
    let budget = try budget("model: Moody\nsections: [{name: list, expect: \(expected)}]")
    let evaluator = LogBudgetEvaluator(budget: budget)
    var report = SampleLogs.report(Self.log)
    func unmet() throws -> [ExpectationResult] {
      try evaluator.evaluation(of: report).results[0]?
        .filter { !$0.isMet && $0.metric != "findings" } ?? []
    }
    #expect(try unmet().isEmpty)
    for number in 0..<InputLimits.logSubjects {
      report.sections[0].costs.count(.misses, entity: "E\(number)")
      report.sections[0].costs.count(.misses, relationship: "E\(number).list")
    }
    #expect(try unmet().isEmpty)
    report.sections[0].costs.count(.misses, entity: "Mood")
    report.sections[0].costs.count(.misses, relationship: "Country.moods")
    let found = try unmet()
    #expect(found.map(\.metric) == ["misses(Mood)", "misses(Country.moods)"])
    #expect(found.map(\.actual) == [.number(0), .number(0)])
    #expect(
      found.first?.differences.last
        == "up to 2 more: the log has more than 20,000 entities or relationships, and the others "
        + "aren't counted separately")
  }

  @Test func unexpectedFaultStormFails() throws {
    let budget = try budget("model: Moody\nsections: [{name: list, expect: {selects: 12}}]")
    let evaluation = try LogBudgetEvaluator(budget: budget).evaluation(
      of: SampleLogs.report(Self.log))
    #expect(evaluation.results[0]?.map(\.isMet) == [true, false])
    #expect(evaluation.results[0]?.last?.metric == "findings")
  }

  /// A log contains the objects that were faults, but not the relationship that was traversed.
  @Test func faultStormMatchesExpectationsWithTheSameDestination() throws {
    func isMet(_ findings: String) throws -> Bool {
      let budget = try budget(
        "model: Moody\nsections: [{name: list, expect: {selects: 12, findings: [\(findings)]}}]")
      return try LogBudgetEvaluator(budget: budget).evaluation(of: SampleLogs.report(Self.log))
        .results[0]?.allSatisfy(\.isMet) == true
    }
    #expect(try isMet("fault-storm(Country)"))
    #expect(try isMet("fault-storm(Mood.country)"))
    #expect(try isMet("fault-storm(Region)"))
    #expect(try isMet("ineffective-prefetch(Mood.country)"))
    #expect(try !isMet("ineffective-prefetch(Country.moods)"))
    #expect(try isMet("fault-storm(Continent.countries)"))
    #expect(try !isMet("fault-storm(Country.moods)"))
    #expect(try !isMet("fault-storm(Mood)"))
    #expect(try !isMet("fault-storm(Mood.country), fault-storm(Mood)"))
  }

  /// A log doesn't show whether a fulfilled to-many relationship was only counted.
  @Test(arguments: [
    ("count-per-row(Country.moods)", true), ("fault-storm(Country.moods)", true),
    ("count-per-row(Continent.countries)", false), ("", false),
  ])
  func relationshipFaultsMatchCountPerRowAndFaultStorm(finding: String, isMet: Bool) throws {
    let lists = (1...12).map { key in
      SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZCOUNTRY = ?", rows: 5)
        + "CoreData: annotation: to-many relationship fault \"moods\" for objectID 0xa7 "
        + "<x-coredata://0/Country/p\(key)> fulfilled from database.  Got 5 rows\n"
    }
    let budget = try budget(
      "model: Moody\nsections: [{name: list, expect: {selects: 12, findings: [\(finding)]}}]")
    let report = SampleLogs.report("cdprof: begin list\n" + lists.joined())
    let results = try LogBudgetEvaluator(budget: budget).evaluation(of: report).results[0]
    #expect(results?.last?.metric == "findings" && results?.last?.isMet == isMet)
  }

  /// A fetch loop has the rule's name, and fails a budget that doesn't list it.
  @Test(arguments: [
    ("[fetch-loop(Mood)]", 12, true), ("[fetch-loop(Mood)]", 3, false), ("[]", 12, false),
    ("[]", 3, true),
  ])
  func budgetEvaluatesFetchLoops(findings: String, times: Int, isMet: Bool) throws {
    let budget = try budget(
      "model: Moody\nsections: [{name: list, expect: {selects: \(times), findings: \(findings)}}]")
    let loop = String(
      repeating: SampleLogs.fetch(
        "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZDATE = ?", rows: 1), count: times)
    var report = SampleLogs.report("cdprof: begin list\n" + loop + "cdprof: end\n")
    report.resolveEntities(with: LogTables(budget.model))
    let results = try LogBudgetEvaluator(budget: budget).evaluation(of: report).results[0]
    #expect(results?.allSatisfy(\.isMet) == isMet, "\(String(describing: results))")
  }

  /// A log doesn't show transactions per object, so a budget can't expect `chatty-saves`.
  @Test func findingsThatLogsCannotShowAreErrors() throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try budget(
        "model: Moody\nsections: [{name: list, expect: {findings: [chatty-saves(Mood)]}}]")
    }
    #expect(error.description.contains("logs don't show `chatty-saves`"))
  }

  /// A log contains neither query plans nor steps, so these expectations can't be evaluated.
  @Test func plansAndStepsInBudgetsAreReported() throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try budget(
        "model: Moody\nsections: [{name: list, expect: {plan: avoids scan, selects: 12}}]")
    }
    #expect(error.diagnostics.map(\.line) == [2])
    #expect(error.description.contains("query plans aren't evaluated in a log"))
    let scenario = try budget(
      """
      name: Planned
      model: Moody
      data: {Country: {count: 12}, Mood: {count: 12, country: cycle}}
      steps: [{fetch: Mood, as: m, expect: {selects: 1}}]
      variants:
        - {name: list, expect: {selects: 12, plan(m): avoids scan, findings: [fault-storm(Country)]}}
      """)
    let evaluation = try LogBudgetEvaluator(budget: scenario).evaluation(
      of: SampleLogs.report(Self.log))
    #expect(
      evaluation.notEvaluated == [
        "list · plan(m): query plans aren't evaluated in a log",
        "list · the expectations of `fetch Mood as m`: logs don't contain steps",
      ])
  }

  /// Sections beyond the limit can be those that the budget expects.
  @Test func budgetIsNotMetIfSectionsAreLeftOut() throws {
    let budget = try budget(
      "model: Moody\nsections: [{name: count, expect: {selects: 1, findings: []}}]")
    var report = SampleLogs.report(Self.log)
    let evaluator = LogBudgetEvaluator(budget: budget)
    #expect(try evaluator.evaluation(of: report).passes)
    report.leftOutSections = 3
    let evaluation = try evaluator.evaluation(of: report)
    #expect(!evaluation.passes && evaluation.notEvaluated.isEmpty)
    let text = LogEvaluationText.lines(evaluation, of: report)
    #expect(
      text == [
        "✗ 1 of 1 section, 2 of 2 expectations",
        "✗ 3 sections beyond the limit of 100,000   not evaluated",
      ])
  }

  /// A scenario's `silence` also applies to its log.
  @Test(arguments: [
    ("[fault-storm]", true), ("[fault-storm(Mood.country)]", true), ("[fault-storm(Mood)]", false),
    ("[fetch-loop]", false), ("[ineffective-prefetch(Mood.country)]", true),
    ("[ineffective-prefetch(Mood)]", false), ("[count-per-row]", false),
    ("[ineffective-prefetch]", true), ("[unused-prefetch]", false),
  ])
  func suppressedFindingsAreNotUnexpected(silence: String, isMet: Bool) throws {
    let budget = try budget(
      """
      name: Silent
      model: Moody
      data: {Country: {count: 12}, Mood: {count: 12, country: cycle}}
      silence: \(silence)
      steps: [{fetch: Mood, as: m}]
      variants: [{name: list, expect: {selects: 12}}]
      """)
    let results = try LogBudgetEvaluator(budget: budget).evaluation(of: SampleLogs.report(Self.log))
      .results[0]
    #expect(results?.allSatisfy(\.isMet) == isMet)
  }

  /// The formulas of a scenario that was exported at a scale.
  @Test func scenarioIsABudgetAtAnyScale() throws {
    let scenario = PackagedScenarios.folder.appendingPathComponent("08-performance/who-sorts.yml")
    let budget = try LogBudget.read(path: scenario.path, scale: 10)
    #expect(budget.scope.rows["Mood"] == 1_000 && budget.scope.scale == 10)
  }

  /// Errors of a budget are reported before a log is read.
  @Test(arguments: [
    ("model: Moody\nsections: [{name: a, expect: {peak: 1}}]", "logs don't contain `peak`"),
    (
      "model: Moody\nsections: [{name: a, expect: {selects(Country): 1}}]",
      "also contains rows of `Region`"
    ),
    ("model: Moody\nsections: [{name: a, expect: {selects: Mood}}]", "has no value"),
    ("model: Moody\nsections: []", "`sections` is empty"),
    ("model: Moody\nsections: [{name: a}, {name: a}]", "two sections are named `a`"),
    ("model: Moody\nsections: [{name: a, expekt: {}}]", "did you mean `expect`?"),
    ("sections: [{name: a}]", "the budget has no `model`"),
    ("model: Moody\nsection: [{name: a}]", "no key `section`; did you mean `sections`?"),
    ("model: Moody\nname: Empty", "the budget has no `sections`"),
  ])
  func budgetErrorsAreReported(text: String, message: String) {
    let error = #expect(throws: ScenarioDiagnostics.self) { try budget(text) }
    #expect(error?.description.contains(message) == true)
  }

  @Test("A formula that uses an entity with an error in the data isn't another error")
  func invalidDataIsOneDiagnostic() {
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try budget(
        "model: Moody\ndata: {Contry: 6}\nsections: [{name: a, expect: {selects: 1 + Country}}]")
    }
    #expect(error?.diagnostics.map(\.line) == [2], "\(error as Any)")
  }

  /// A scenario's variants are the sections; expectations that a log can't show are listed.
  @Test func scenarioServesAsBudget() throws {
    let scenario = PackagedScenarios.folder.appendingPathComponent("faults.yml")
    let budget = try LogBudget.read(path: scenario.path)
    #expect(budget.isScenario && budget.sections.count == 6)
    let evaluation = try LogBudgetEvaluator(budget: budget).evaluation(
      of: SampleLogs.report(
        "cdprof: begin countries retained\n" + SampleLogs.fetch("SELECT 0 FROM ZMOOD t0", rows: 1)))
    #expect(evaluation.missing.count == 5)
    #expect(evaluation.results[0]?.map(\.metric) == ["selects", "misses"])
    #expect(evaluation.notEvaluated.contains { $0.hasPrefix("countries retained · faults") })
  }
}
