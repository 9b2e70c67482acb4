import ProfileEvents
package import RunResults
package import ScenarioLanguage
import StatementAnalysis
import Synchronization
import WorkbenchText

/// The results of the fault storm scenario's six variants.
///
/// The events are recorded without a store; the code under test counts them.
package struct FaultStormScenario: Hashable, Sendable {
  private let moods: Int
  private let countries: Int

  package init(moods: Int = 5_000, countries: Int = 60) {
    self.moods = moods
    self.countries = countries
  }

  private static let moodSQL =
    "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, t0.ZDATE, t0.ZLATITUDE, t0.ZLONGITUDE, t0.ZCOUNTRY"
    + " FROM ZMOOD t0"
  package static let all = moodSQL + " ORDER BY t0.ZDATE DESC"
  package static let idsOnly = "SELECT 0, t0.Z_PK FROM ZMOOD t0 ORDER BY t0.ZDATE DESC"
  package static let oneMood = moodSQL + " WHERE  t0.Z_PK = ?"
  package static let batch = moodSQL + " WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT 20"
  private static let countrySQL =
    "SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZNUMERICISO3166CODE, t0.ZUPDATEDAT, t0.ZCONTINENT"
    + " FROM ZREGION t0"
  package static let oneCountry = countrySQL + " WHERE  t0.Z_PK = ?"
  package static let prefetched = countrySQL + " WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)"
  package static let allCountries = countrySQL + " WHERE  t0.Z_ENT = ?"

  /// The result of the scenario at scale 1, shared by all tests that don't change it.
  package static let full = FaultStormScenario().result()

  package static let plain = Step(
    verb: .fetch, subject: "Mood",
    options: [StepOption(.sort, .sortKeys([SortKey(keyPath: "date", isAscending: false)]))],
    name: "moods", location: EventScript.moodFetch)
  package static let reached = [
    "Country": StepContext.Path(owner: "Mood", relationship: "country", keyPath: "country")
  ]

  /// The fetch of a variant, and the events that it and the touch step record.
  private struct Variant {
    var name: String
    var why: String
    var fetch: Step
    var set: [String] = []
    var sql = FaultStormScenario.all
    var prefetches = false
    var fetchesCountries = false
    var moodMisses = false
    var moodFaults = true
    var countryMisses = true
    var batchSize: Int?
    var expectations: [(String, String, Int)]
  }

  /// The results that a test asked for before, by scenario; the second is `missing`.
  private static let known = Mutex<[FaultStormScenario: [Bool: RunResult]]>([:])

  /// Returns a result, which is made only once.
  ///
  /// - Parameter missing: Whether the rows that a prefetch loads are released before they're read.
  package func result(missing: Bool = false) -> RunResult {
    if let known = Self.known.withLock({ $0[self]?[missing] }) { return known }
    let made = make(missing: missing)
    Self.known.withLock { $0[self, default: [:]][missing] = made }
    return made
  }

  /// Makes a result, for tests that compare two made one after another.
  package func make(missing: Bool = false) -> RunResult {
    RunResult(
      scenario: "Fault storm", file: "Scenarios/faults.yml", chapter: 15,
      story: """
        A list shows the date and the country code of every mood. All variants do this same work; \
        only the fetch differs.
        Before you read on, guess for each: how many SELECTs, how many faults, how many of them \
        miss the row cache?
        """,
      covers: ["S6.01", "S6.03", "S6.04", "S6.33", "S8.14", "S8.18"].map {
        CatalogReference(id: $0, source: .book)
      } + ["S15-8", "S15-10", "S15-12"].map { CatalogReference(id: $0, source: .derived) },
      seed: 7, scale: 1,
      data: [
        EntityCount(name: "Continent", count: 6), EntityCount(name: "Country", count: countries),
        EntityCount(name: "Mood", count: moods),
      ],
      variants: FixVerification.noting(
        in: variants.enumerated().map { variant($1, line: 20 + $0 * 4, missing: missing) },
        steps: variants.map(steps)),
      environment: RunEnvironment(
        cdprof: "0.1.0", sqlite: "3.40.1", swift: "6.3.1", machine: "Linux x86-64, 2 cores",
        build: "release"),
      command: "cdprof run Scenarios/faults.yml --report html")
  }

  private var variants: [Variant] {
    let plain = FaultStormScenario.plain
    let both = moods + countries
    let ready = plain.with(.faults, .flag(false))
    return [
      Variant(
        name: "fault storm",
        why: "The fetch brings IDs only, so each mood, then each country, is a trip of its own.",
        fetch: plain.with(.values, .flag(false)), set: ["moods.values: no"],
        sql: FaultStormScenario.idsOnly, moodMisses: true,
        expectations: [
          ("selects", "1 + Mood + Country", 1 + both), ("misses", "Mood + Country", both),
        ]),
      Variant(
        name: "plain", why: "The rows came with the fetch. Mood faults are row-cache hits now.",
        fetch: plain, expectations: [("selects", "1 + Country", 1 + countries)]),
      Variant(
        name: "realized", why: "No mood is a fault any more.", fetch: ready,
        set: ["moods.faults: no"], moodFaults: false,
        expectations: [("selects", "1 + Country", 1 + countries)]),
      Variant(
        name: "prefetched", why: "One more SELECT brings every country the moods point at.",
        fetch: plain.prefetching("country"), set: ["moods.prefetch: [country]"],
        prefetches: true, countryMisses: false,
        expectations: [("selects", "2", 2), ("hits", "Mood + Country", both), ("misses", "0", 0)]),
      Variant(
        name: "held",
        why: "Sixty countries are few. Fetched once and held, nothing is left to fire.",
        fetch: ready, set: ["moods.faults: no"], fetchesCountries: true, moodFaults: false,
        expectations: [("selects", "2", 2), ("faults", "0", 0)]),
      Variant(
        name: "batched", why: "More SELECTs than before, on purpose.",
        fetch: ready.with(.batch, .number(StepNumber(20))),
        set: ["moods.faults: no", "moods.batch: 20"],
        sql: FaultStormScenario.idsOnly, fetchesCountries: true, moodFaults: false, batchSize: 20,
        expectations: [("selects", "2 + ceil(Mood / 20)", 2 + (moods + 19) / 20)]),
    ]
  }

  private func variant(_ variant: Variant, line: Int, missing: Bool) -> VariantResult {
    let script = EventScript()
    record(variant, on: script, releasesPrefetchedRows: missing && variant.prefetches)
    let peak = ScopedMetric(.peak, .entity("Mood"))
    let recording = script.recorder.recording(
      steps: script.steps, gauges: [peak: variant.batchSize.map { $0 * 5 } ?? moods])
    var result = VariantResult(name: variant.name, why: variant.why)
    result.take(recording)
    result.statements = result.statements.map { $0.explained(by: plan(of: $0)) }
    result.set = variant.set
    result.first = variant.fetchesCountries ? ["fetch Country faults no as countries"] : []
    result.requestSwift = request(variant)
    result.steps = zip(script.steps, steps(of: variant)).map { step, source in
      StepResult(
        text: step.text, name: step.name, location: step.location,
        summary: step.name == nil ? "read 2 key paths of 5,000 objects" : "moods: 5,000 Mood",
        costs: recording.slice(of: step).costs, offset: step.begin - recording.begin,
        fetch: source.fetch, groups: recording.groups.filter { step.contains($0.firstEvent) })
    }
    let context = StepContext(fetch: variant.fetch, reachedThrough: FaultStormScenario.reached)
    result.findings = script.steps.flatMap {
      FindingSearch.findings(in: recording.slice(of: $0), context: context)
    }
    result.expectations = expectations(variant, result, line: line)
    return result
  }

  private static let countries = Step(
    verb: .fetch, subject: "Country", options: [StepOption(.faults, .flag(false))],
    name: "countries", location: EventScript.countryFetch)
  private static let reading = Step(
    verb: .touch, subject: "moods", reads: ["date", "country.numericISO3166Code"],
    location: EventScript.touch)

  private func steps(of variant: Variant) -> [Step] {
    (variant.fetchesCountries ? [FaultStormScenario.countries] : []) + [
      variant.fetch, FaultStormScenario.reading,
    ]
  }

  private func record(_ variant: Variant, on script: EventScript, releasesPrefetchedRows: Bool) {
    if variant.fetchesCountries {
      script.step(
        FaultStormScenario.countries.text, name: "countries", at: EventScript.countryFetch
      ) {
        script.fetch("Country", sql: FaultStormScenario.allCountries, rows: countries)
      }
    }
    script.step(variant.fetch.text, name: "moods", at: EventScript.moodFetch) {
      script.fetch(
        "Mood", sql: variant.sql, rows: moods,
        prefetch: variant.prefetches ? ("country", FaultStormScenario.prefetched, countries) : nil)
    }
    let misses = variant.countryMisses || releasesPrefetchedRows
    script.step(FaultStormScenario.reading.text, at: EventScript.touch) {
      for mood in 0..<moods {
        if let size = variant.batchSize, mood.isMultiple(of: size) {
          script.batchLoad("Mood", sql: FaultStormScenario.batch, rows: size)
        }
        if variant.moodFaults {
          script.fault(
            "Mood", key: mood + 1, sql: variant.moodMisses ? FaultStormScenario.oneMood : nil)
        }
        if mood < countries, !variant.fetchesCountries {
          script.fault("Country", key: mood + 1, sql: misses ? FaultStormScenario.oneCountry : nil)
        }
      }
    }
  }

  private func expectations(_ variant: Variant, _ result: VariantResult, line: Int)
    -> [ExpectationResult]
  {
    variant.expectations.map { metric, formula, expected in
      let found = Metric(rawValue: metric).flatMap { result.metrics[$0] } ?? -1
      return ExpectationResult(
        metric: metric, formula: formula, relation: .equal, expected: .number(expected),
        actual: .number(found), isMet: found == expected, source: .book,
        location: CallSite(file: "Scenarios/faults.yml", line: line),
        differences: found == expected
          ? []
          : [
            "the \(abs(found - expected)): fault Country (miss) from faults.yml:16 touch moods",
            "likely: the prefetched rows were let go before they were read",
          ])
    }
  }

  private func request(_ variant: Variant) -> [String] {
    variant.fetch.requestSwift.dropLast()
  }

  private func plan(of shape: StatementShape) -> [String] {
    if shape.sql.contains("_Z_intarray") {
      return [
        "|--SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)", "`--LIST SUBQUERY 1",
        "   `--SCAN _Z_intarray0 VIRTUAL TABLE INDEX 0:",
      ]
    }
    if shape.sql.contains("Z_PK = ?") {
      return ["`--SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"]
    }
    if shape.sql.contains("Z_ENT = ?") {
      return ["`--SEARCH t0 USING INDEX ZREGION_Z_ENT_INDEX (Z_ENT=?)"]
    }
    return ["|--SCAN t0", "`--USE TEMP B-TREE FOR ORDER BY"]
  }
}
