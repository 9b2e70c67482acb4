import Foundation
import OpenCoreData
import ProfileEvents
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunResults
@testable import ScenarioLanguage
@testable import StatementAnalysis
@testable import WorkbenchText

@Suite("Running scenarios")
struct ScenarioRunnerTests {
  /// At scale 1, the reports of all are checked too: `PackagedScenarioTests`.
  @Test(arguments: PackagedScenarios.all)
  func everyPackagedScenarioMeetsItsExpectationsAtAnotherScale(file: URL) throws {
    #expect(try run(file, scale: 2).result.unmetExpectations == [])
  }

  @Test
  func faultStormScenarioHasTheDocumentedCounts() throws {
    let file = PackagedScenarios.folder.appendingPathComponent("faults.yml")
    let (result, folder) = try run(file, scale: 1)
    #expect(result.summary == "6 of 6 variants, 23 of 23 expectations")
    #expect(result.seed == 7)
    #expect(result.data.map(\.count) == [6, 60, 5000])
    func column(_ metric: Metric) -> [Int?] { result.variants.map { $0.metrics[metric] } }
    #expect(column(.selects) == [5061, 61, 61, 2, 2, 252])
    #expect(column(.faults) == [5060, 5060, 60, 5060, 0, 0])
    #expect(column(.hits) == [0, 5000, 0, 5060, 0, 0])
    #expect(column(.rows) == [10060, 5060, 5060, 5060, 5060, 10060])
    let peaks = result.variants.map { $0.scopedMetrics[ScopedMetric(.peak, .entity("Mood"))] }
    #expect(peaks == [5000, 5000, 5000, 5000, 5000, 100])

    let storm = result.variants[0]
    #expect(storm.findings.map(\.name) == ["fault-storm(Mood)", "fault-storm(Mood.country)"])
    #expect(storm.findings[0].callSite?.description == "faults.yml:17")
    #expect(storm.findings[0].verification?.description == "verified: 5,061 → 61 SELECTs (plain)")
    #expect(
      result.variants[1].findings.first?.verification?.description
        == "verified: 61 → 2 SELECTs (prefetched)")
    #expect(storm.requestSwift.contains("request.includesPropertyValues = false"))
    #expect(storm.statements.contains { $0.plan.first?.contains("INTEGER PRIMARY KEY") == true })
    #expect(
      storm.steps.map(\.summary) == [
        "moods: 5,000 Mood, all faults", "read 2 key paths of 5,000 objects",
      ])

    let offsets = storm.steps.map(\.offset)
    #expect(offsets[0] == 0 && offsets[1] >= storm.steps[0].costs.nanoseconds)

    let store = folder.file("faults.sqlite")
    #expect(
      try ScenarioData.counts(in: store, model: NSManagedObjectModel.inStore(at: store))
        .map(\.count)
        == [6, 60, 5000])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["faults.sqlite"])
  }

  @Test
  func unmetExpectationNamesTheEvents() throws {
    let result = try run(
      """
      name: Wrong on purpose
      model: Moody
      data: {Country: {count: 12}, Mood: {count: 24, country: cycle}}
      steps:
        - {fetch: Mood, as: moods}
        - {touch: moods, read: [country.updatedAt], expect: {selects: 0}}
        - {save: null, fails: 1570}
      variants:
        - name: wrong
          expect: {misses: 0, hits: at most 3, rows(moods): 24, fetches: 1..2, peak(Mood): 1}
      """)
    #expect(!result.passes)
    let expectations = result.variants[0].expectations
    #expect(expectations.map(\.isMet) == [false, false, true, true, false, false, false, false])
    #expect(
      expectations.map(\.metric) == [
        "misses", "hits", "rows(moods)", "fetches", "peak(Mood)", "findings", "selects", "fails",
      ])
    let misses = expectations[0]
    #expect(misses.expected == .number(0) && misses.actual == .number(12))
    #expect(misses.location.description == "wrong.yml:10")
    #expect(misses.differences.count == 2 && misses.differences[1].hasPrefix("likely: "))
    #expect(
      misses.differences[0].hasPrefix(
        "12 misses: 12 x fault Country (miss) from wrong.yml:6 touch moods; first at "))
    #expect(expectations[1].differences.count == 1)
    #expect(expectations[4].differences == ["the context had 24 registered objects at once"])
    #expect(
      expectations[5].expected == .names([])
        && expectations[5].actual == .names(["fault-storm(Mood.country)"]))
    #expect(expectations[6].location.line == 6)
    #expect(expectations[7].actual == .number(0))
    #expect(expectations[7].expectedText == "1570" && expectations[7].actualText == "no error")
  }

  /// Transactions and saves are reported by step, and inserted join rows as such.
  @Test
  func unmetExpectationsListTransactionsContextsAndJoinRows() throws {
    let result = try run(
      """
      name: Wrong on purpose
      model: Cities
      data: {City: {count: 2}, Person: {count: 3}}
      steps:
        - {context: sync}
        - {fetch: City, as: cities}
        - {fetch: Person, as: people}
        - {relate: cities, with: {visitors: people}}
        - {save: null}
        - {insert: Person, times: 4, with: {familyName: A, givenName: B, age: 3}, in: sync, as: new}
        - {save: null, in: sync}
      variants:
        - name: wrong
          expect: {transactions: 0, saves(sync): 0, inserts: 0, deletes(sync): 1}
      """)
    let differences = result.variants[0].expectations.map(\.differences)
    #expect(
      differences[0] == [
        "2 transactions from wrong.yml:11 save", "1 transaction from wrong.yml:9 save",
      ])
    #expect(differences[1] == ["1 save from wrong.yml:11 save"])
    #expect(differences[2].count == 2)
    #expect(differences[2][0].hasPrefix("4 INSERTs: 4 x insert Person from wrong.yml:11 save"))
    #expect(differences[2][1].hasPrefix("3 INSERTs: 3 x insert join rows of "), "\(differences[2])")
    #expect(differences[3] == ["no such events were recorded"])
  }

  /// A batch request's statements are counted as INSERTs, and a prefetch's SELECT as one of the
  /// destination.
  @Test
  func unmetExpectationsListStatementsOfBatchRequestsAndPrefetches() throws {
    let result = try run(
      """
      name: Wrong on purpose
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 4, country: cycle, date: every 1 minute}}
      steps:
        - {fetch: Country, as: countries, prefetch: moods}
        - {batch-insert: Mood, times: 3, with: {latitude: 4}}
      variants:
        - name: wrong
          expect: {inserts: 0, selects(Mood): 0, rows(Mood): 0, selects(Country): 0}
      """)
    let differences = result.variants[0].expectations.map { $0.differences.joined(separator: "\n") }
    #expect(differences[0].contains(" x batch request Mood from wrong.yml:6 batch-insert Mood"))
    #expect(
      differences[1].hasPrefix(
        "1 SELECT: 1 x prefetch Country.moods from wrong.yml:5 fetch Country"))
    #expect(differences[2].hasPrefix("4 rows: 1 x prefetch Country.moods from wrong.yml:5"))
    #expect(differences[3].hasPrefix("1 SELECT: 1 x fetch Country from wrong.yml:5"))
  }

  /// The counts of migrations are reported by step, whose subject can be several words.
  @Test
  func unmetExpectationsListTheStepsThatMigrate() throws {
    let result = try run(
      """
      name: Wrong on purpose
      model: Articles
      data: {version: Articles, Article: {count: 3, title: text 8}}
      steps:
        - {migrate: Articles reindexed}
      variants:
        - name: wrong
          expect: {ddl: 0, createdindexes: 5, dml: 5}
      """)
    let differences = result.variants[0].expectations.map(\.differences)
    #expect(
      differences[0] == ["1 DDL statement from wrong.yml:5 migrate \"Articles reindexed\""])
    #expect(
      differences[1] == ["1 created index from wrong.yml:5 migrate \"Articles reindexed\""])
    #expect(differences[2] == ["no such events were recorded"])
  }

  /// `limit`, `batch`, `times`, `every`, and `set` accept formulas; the request contains their
  /// values.
  @Test(arguments: [1, 3])
  func stepOptionsCanBeFormulas(scale: Int) throws {
    let result = try run(
      """
      name: Numbers
      model: Moody
      data: {Country: {count: 4}, Mood: {count: 40 * scale, country: cycle}}
      steps:
        - {fetch: Mood, limit: Mood / 10, offset: 2 * Country, as: some}
        - walk some every 2 * scale
        - {insert: Country, times: scale + 1, as: new}
      variants:
        - {name: part, expect: {"rows(some)": Mood / 10, registered(Country): scale + 1}}
        - name: more
          set: {some.limit: ceil(Mood / 3)}
          expect: {"rows(some)": ceil(Mood / 3)}
        - name: batched
          set: {some.batch: 5 * scale}
          expect: {selects: 2, "rows(some)": at least Mood / 10}
      """, scale: scale)
    #expect(result.unmetExpectations == [])
    let (part, batched) = (result.variants[0], result.variants[2])
    #expect(part.steps[0].text == "fetch Mood limit Mood / 10 offset 2 * Country as some")
    #expect(part.requestSwift.contains("request.fetchLimit = \(4 * scale)"))
    #expect(part.steps[1].summary == "walked 2 objects")
    #expect(result.variants[1].set == ["some.limit: ceil(Mood / 3)"])
    #expect(batched.requestSwift.contains("request.fetchBatchSize = \(5 * scale)"))
  }

  @Test func invalidNumbersAtAScaleFailBeforeTheRun() throws {
    let text = """
      name: Numbers
      model: Moody
      data: {Country: {count: 1}, Mood: {count: 40, country: cycle}}
      steps: [{fetch: Mood, limit: Mood / scale, as: some}]
      """
    _ = try run(text, scale: 4)
    let error = try #require(throws: ScenarioDiagnostics.self) { try run(text, scale: 3) }
    let problem = try #require(error.diagnostics.first).problem
    #expect(problem.message.hasPrefix("`Mood / scale` has no value at scale 3: the result 40/3"))
    #expect(problem.range.line == 4 && problem.range.column == 30)
  }

  /// Reading all entries of a partial index that contains exactly the requested rows isn't a full
  /// scan.
  @Test
  func partialIndexScanReadsOnlyItsRows() throws {
    let result = try run(
      """
      name: Partial
      model: Moody
      data: {Country: {count: 4}, Mood: {count: 400, country: cycle, latitude: "one of [1, 2, 3, 4]"}}
      steps: [{index: Mood, keys: longitude, where: "latitude == 3", as: three}]
      variants:
        - name: its rows
          then: [{fetch: Mood, where: "latitude == 3", sort: longitude, as: some}]
          expect: {plan(some): [uses three, avoids scan, avoids temp b-tree], rows: 100}
        - name: some of them
          then: [{fetch: Mood, where: "latitude == 3 AND date != nil", sort: longitude, as: some}]
          expect: {plan(some): [uses three, avoids scan]}
        - name: all
          then: [{fetch: Mood, as: some}]
          expect: {plan(some): [uses primary key, avoids scan]}
        - name: one
          then: [{fetch: Mood, limit: 1, values: no, as: one}, {touch: one, read: date}]
          expect: {plan: uses primary key}
      """)
    #expect(
      result.variants.map { $0.expectations.map(\.isMet) } == [
        [true, true, true, true], [true, false], [false, false], [true],
      ])
    let (its, some) = (result.variants[0].statements[0], result.variants[1].statements[0])
    #expect(its.plan == ["`--SCAN t0 USING INDEX Z_Mood_three WHERE ZLATITUDE = 3.0"])
    #expect(
      its.assessment
        == "Reads every entry of the partial index Z_Mood_three, which contains the rows with "
        + "ZLATITUDE = 3.0.")
    #expect(its.notes.map(\.name) == ["partial index scan"])
    #expect(some.assessment.hasSuffix("and checks the rest of the condition on each."))
    #expect(result.variants[2].statements[0].notes.map(\.name) == ["scan"])
    #expect(result.variants[2].expectations[0].actual.description == "no index")
  }

  /// SQLite uses a partial index depending on the bound value, so plans are explained with the
  /// values.
  @Test
  func plansUseTheBoundValues() throws {
    let result = try run(
      """
      name: Partial
      model: Moody
      data: {Country: {count: 4}, Mood: {count: 40, country: cycle, date: every 1 minute}}
      steps: [{index: Mood, keys: date, where: "latitude == 7", as: seven}]
      variants:
        - name: seven
          then: [{fetch: Mood, where: "latitude == 7", as: some}]
          expect: {plan(some): uses seven, rows: 0}
        - name: eight
          then: [{fetch: Mood, where: "latitude == 8", as: some}]
          expect: {plan(some): uses seven}
      """)
    #expect(result.variants.map { $0.expectations.allSatisfy(\.isMet) } == [true, false])
    #expect(result.variants[0].statements[0].plan.first?.contains("Z_Mood_seven") == true)
    #expect(result.variants[1].expectations[0].actual.description == "no index")
  }

  @Test
  func plansAreThoseAtTheTimeOfTheStep() throws {
    let result = try run(
      """
      name: Plans
      model: Moody
      data: {Country: {count: 4}, Mood: {count: 40, country: cycle, date: every 1 minute}}
      steps:
        - {fetch: Mood, where: "latitude > 10", sort: latitude, as: some, expect: {plan: avoids scan}}
      variants:
        - name: bare
          expect: {plan(some): [avoids scan, avoids temp b-tree, uses byLatitude]}
        - name: indexed
          first: [{index: Mood, keys: latitude, as: byLatitude}, {analyze: }]
          then: [{index: Mood, remove: byLatitude}]
          expect:
            plan(some): [uses byLatitude, uses Z_Mood_byLatitude]
            plan: {expected: avoids temp b-tree, source: book}
      """)
    let (bare, indexed) = (result.variants[0].expectations, result.variants[1].expectations)
    #expect(bare.map(\.isMet) == [false, false, false, false])
    #expect(bare.map(\.metric) == ["plan(some)", "plan(some)", "plan(some)", "plan"])
    #expect(
      bare.map(\.actual.description) == [
        "SCAN t0", "temp B-tree for ORDER BY", "no index", "SCAN t0",
      ])
    #expect(bare[0].differences.first?.hasPrefix("SELECT 0, t0.Z_PK") == true)
    #expect(indexed.map(\.isMet) == [true, true, true, true])
    #expect(indexed.map(\.source) == [.ours, .ours, .book, .ours])
  }

  @Test
  func findingsMustMatchTheList() throws {
    let result = try run(
      """
      name: Another finding
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 24, country: cycle}}
      steps:
        - {fetch: Mood, values: no, as: moods}
        - {touch: moods, read: [date]}
      expect: {selects: 1 + Mood, findings: [fault-storm(Mood.country)]}
      """)
    let findings = try #require(result.variants[0].expectations.last)
    #expect(!findings.isMet)
    #expect(findings.differences.count == 2)
    #expect(findings.differences[0] == "fault-storm(Mood.country) didn't fire")
    #expect(findings.differences[1].hasPrefix("fault-storm(Mood) fired: 24 single-row SELECTs"))
  }

  @Test
  func expectationsOfRepeatedStepsApplyToEachRepetition() throws {
    let result = try run(
      """
      name: Repeated
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 24, country: cycle}}
      steps:
        - repeat: 3
          steps:
            - {fetch: Mood, faults: no, as: moods, expect: {rows: 24}}
            - {touch: moods, read: [country.numericISO3166Code], expect: {misses: 2}}
      expect: {selects: 3 + 2, selects(moods): 3}
      """)
    let expectations = result.variants[0].expectations
    #expect(expectations.map(\.isMet) == [true, true, true, true, true, false, true, false])
  }

  @Test
  func failedStepStopsTheRunWithItsLocation() throws {
    let error = try #require(throws: StepFailure.self) {
      try run(
        """
        name: Invalid
        model: Moody
        steps:
          - {insert: Mood}
          - {save: null}
        """)
    }
    #expect(error.location.description == "wrong.yml:5")
    #expect(error.step == "save")
    #expect(error.error.domain == NSCocoaErrorDomain)
  }

  @Test
  func copiedStoresAreNotModified() throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      PackagedScenarios.folder.appendingPathComponent("08-performance/departments.yml"))
    let store = folder.file("own.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 2, at: store)
    let before = try Data(contentsOf: store)
    let url = folder.file("copied.yml")
    let text = """
      name: Copied
      data: {store: own.sqlite}
      steps:
        - {fetch: Employee, as: all}
        - {delete: all}
        - {save: null}
        - {count: Employee, expect: {selects: 1}}
      expect: {deletes: Employee, rows(all): 12}
      """
    let copied = try ScenarioReader.read(text: text, url: url, path: "copied.yml")
    let result = try ScenarioRunner(
      scenario: copied, outputDirectory: folder.url.appendingPathComponent("out")
    ).run()
    #expect(result.unmetExpectations == [])
    #expect(result.data.map(\.name) == ["Department", "Employee"])
    #expect(try Data(contentsOf: store) == before)
  }

  /// The generated store replaces neither a folder nor the store that was copied.
  @Test
  func runDoesNotReplaceForeignFiles() throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      PackagedScenarios.folder.appendingPathComponent("08-performance/departments.yml"))
    let existing = folder.file("departments.sqlite")
    try FileManager.default.createDirectory(at: existing, withIntermediateDirectories: true)
    let error = try #require(throws: InvalidInputError.self) {
      try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
    }
    #expect(error.message.contains("departments.sqlite can't be written"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        == ["departments.sqlite"])
    try FileManager.default.removeItem(at: existing)

    let store = folder.file("own.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: store)
    let inode = try FileManager.default.attributesOfItem(atPath: store.path)[.systemFileNumber]
    let own = try ScenarioReader.read(
      text: "name: Own\ndata: {store: own.sqlite}\nsteps: [count Employee]",
      url: folder.file("own.yml"), path: "own.yml")
    _ = try ScenarioRunner(scenario: own, outputDirectory: folder.url).run()
    let after = try FileManager.default.attributesOfItem(atPath: store.path)[.systemFileNumber]
    #expect(inode as? UInt64 == after as? UInt64 && inode is UInt64)
  }

  @Test
  func expectationThatFailsAtAScaleNamesIt() throws {
    let url = PackagedScenarios.folder.appendingPathComponent("half.yml")
    let scenario = try ScenarioReader.read(
      text: """
        name: Half
        model: Moody
        data: {Country: {count: 8}}
        steps: [count Country]
        expect: {selects: 2 / scale}
        """, url: url, path: "half.yml")
    let folder = try TemporaryFolder()
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try ScenarioRunner(scenario: scenario, scale: 3, outputDirectory: folder.url).run()
    }
    #expect(
      error.description.hasPrefix("half.yml:5:19: error: `2 / scale` has no value at scale 3"))
    #expect(error.description.contains("\n  expect: {selects: 2 / scale}\n"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test
  func savedShellRunsMeetTheirExpectations() throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      PackagedScenarios.folder.appendingPathComponent("mood-list.yml"))
    let store = folder.file("scratch.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: store)
    var runs: [RecordedRun] = []
    for option in ["values no", "faults no", "prefetch country"] {
      let session = try Session(storeURL: store, model: scenario.model, readOnly: false)
      let outcomes = try [
        "fetch Mood sort date- \(option) as moods", "touch moods date country.updatedAt",
      ].map { try session.run(try ShellLine.parse($0, number: 1)) }
      runs.append(
        RecordedRun(
          steps: outcomes.map(\.step), counters: session.recording.counters,
          findings: outcomes.flatMap(\.findings).map(\.name)))
    }
    let draft = ScenarioDraft(
      name: "Mine", modelURL: scenario.modelURL, data: scenario.data, runs: runs)
    let url = folder.file("mine.yml")
    try Data(draft.yaml(in: folder.url).utf8).write(to: url)
    let result = try run(url, scale: 1).result
    #expect(result.unmetExpectations == [])
    #expect(result.summary == "3 of 3 variants, 12 of 12 expectations")
  }

  @Test func commandQuotesThePath() throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: "name: A\nmodel: Moody\ndata: {Continent: {count: 1}}\nsteps: [{count: Continent}]\n",
      url: PackagedScenarios.folder.appendingPathComponent("a.yml"), path: "my $(x)/a.yml")
    let result = try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
    #expect(result.command.hasPrefix("cdprof run 'my $(x)/a.yml' --scale 1 --seed 1"))
  }

  private func run(_ file: URL, scale: Int) throws -> (result: RunResult, folder: TemporaryFolder) {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(file)
    let runner = ScenarioRunner(scenario: scenario, scale: scale, outputDirectory: folder.url)
    return (try runner.run(), folder)
  }

  @discardableResult private func run(_ text: String, scale: Int = 1) throws -> RunResult {
    let folder = try TemporaryFolder()
    let url = PackagedScenarios.folder.appendingPathComponent("wrong.yml")
    let scenario = try ScenarioReader.read(text: text, url: url, path: "wrong.yml")
    return try ScenarioRunner(scenario: scenario, scale: scale, outputDirectory: folder.url).run()
  }
}
