import OpenCoreData
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunResults
@testable import ScenarioLanguage

/// Each rule is tested with steps for which it fires and steps for which it doesn't.
@Suite("Rules about a run")
struct WorkRuleTests {
  /// Returns the findings of steps on a store of moods in 20 countries.
  private func findings(_ lines: [String], moods: Int = 60) throws -> [Finding] {
    let typed = try TypedSession(moods: moods)
    let outcomes = try typed.run(lines)
    let work = FinishedWork(
      recording: typed.session.recording, steps: outcomes.map(\.step), model: typed.session.model)
    return outcomes.flatMap(\.findings) + FindingSearch.all(of: work, steps: []).findings
  }

  private static let prefetch = "fetch Mood prefetch country as moods"
  private static let manySaves = (0..<10).flatMap { round in
    ["set moods with latitude \(round) limit 1", "save"]
  }

  @Test(arguments: [
    ([prefetch, "touch moods date"], ["unused-prefetch(Mood.country)"]),
    ([prefetch, "touch moods country.numericISO3166Code"], []),
    ([prefetch, "touch moods country"], []),
    (
      ["fetch Mood batch 20 prefetch country as m", "touch m date"],
      ["unused-prefetch(Mood.country)"]
    ),
    (["fetch Mood batch 20 prefetch country as m", "touch m country.updatedAt"], []),
    // Nothing was read yet, or the rows were read through another result.
    ([prefetch], []),
    ([prefetch, "fetch Country as c", "touch c numericISO3166Code", "touch moods date"], []),
    (["fetch Mood prefetch country limit 5 as moods", "drop moods"], []),
    (
      ["fetch Mood prefetch country, country.continent as moods", "touch moods country.updatedAt"],
      ["unused-prefetch(Country.continent)"]
    ),
    (
      [
        "fetch Mood prefetch country values no as moods",
        "touch moods country.numericISO3166Code",
      ], ["fault-storm(Mood)", "ineffective-prefetch(Mood.country)"]
    ),
    (["fetch Mood as moods"] + manySaves, ["chatty-saves(Mood)"]),
    (["fetch Mood as moods"] + manySaves.dropLast(2), []),
    (["fetch Mood as moods", "set moods with latitude 1", "save"], []),
    (["fetch Mood as moods", "walk moods"], ["fetch-to-count(Mood)"]),
    (["fetch Mood as moods", "walk moods limit 5"], []),
    (["fetch Mood as moods", "walk moods every 5"], []),
    // The countries are used by another step.
    (["fetch Country as c", "walk c", "insert Mood times 2 with country c"], []),
    // The moods' countries are those that were fetched.
    (
      ["fetch Country faults no as c", "walk c", "fetch Mood as m", "touch m country.updatedAt"], []
    ),
    (
      ["fetch Country faults no as c", "walk c", "fetch Mood as m", "touch m date country"],
      ["fetch-to-count(Country)"]
    ),
    (
      [
        "context second coordinator second", "fetch Country faults no as c", "walk c",
        "fetch Mood in second as m", "touch m country.updatedAt",
      ], ["fault-storm(Mood.country)", "fetch-to-count(Country)"]
    ),
    // Another result has no rows of its own.
    (["fetch Mood as m", "walk m", "fetch Mood values no as n", "touch n date"], []),
    (["fetch Mood values no as n", "fetch Mood as m", "walk m", "set n with latitude 1"], []),
    (
      ["fetch Mood as m", "walk m", "fetch Mood values no as n", "walk n"],
      ["fetch-to-count(Mood)", "fetch-to-count(Mood)"]
    ),
    // They're used by a predicate.
    (["fetch Country as c", "walk c", "fetch Mood where country IN $c"], []),
    (["fetch Mood as m", "walk m", "fetch Mood where self IN $m as m"], []),
    (
      ["fetch Mood as m", "walk m", "fetch Mood as m", "fetch Mood where self IN $m"],
      ["fetch-to-count(Mood)"]
    ),
    (
      [prefetch, "fetch Mood where self IN $moods", "touch moods date"],
      ["unused-prefetch(Mood.country)"]
    ),
    (["fetch Mood result dictionaries columns latitude group latitude as d"], []),
    (["fetch Mood batch 20 as moods", "walk moods array yes"], ["batch-walked(Mood)"]),
    (["fetch Mood batch 20 as moods", "walk moods"], []),
    // A child context loads one batch, through its parent.
    (["context edit parent main", "fetch Mood batch 20 in edit as m", "walk m array yes"], []),
    (["results Mood sort date batch 20 sections date as moods"], ["batch-walked(Mood)"]),
    (["results Mood sort date batch 20 as moods", "walk moods"], []),
    // Fetches on different lines aren't a loop.
    ((0..<12).map { _ in "fetch Country" }, []),
  ])
  func rulesFireOnlyForTheirProblem(lines: [String], names: [String]) throws {
    #expect(try findings(lines).map(\.name) == names)
  }

  @Test(arguments: [
    ("touch moods date limit 20", ["partly-read(Mood)"]), ("touch moods date limit 500", []),
    ("touch moods date offset 990 limit 10", []), ("touch moods date", []),
  ])
  func partlyReadListIsFound(line: String, names: [String]) throws {
    let found = try findings(["fetch Mood as moods", line], moods: 1_000)
    #expect(found.map(\.name) == names)
    #expect(found.allSatisfy { $0.fix.step == "fetch Mood batch 20 as moods" })
  }

  @Test(arguments: [
    (["reset in other", "touch moods date"], []),
    (["reset", "fetch Mood as moods", "touch moods date"], ["partly-read(Mood)"]),
  ])
  func resetOfItsContextReleasesAList(lines: [String], names: [String]) throws {
    let read = ["context other", "fetch Mood as moods", "touch moods date limit 20"]
    #expect(try findings(read + lines, moods: 1_000).map { $0.name } == names)
  }

  @Test("Counted objects that are read by another step are prefetched")
  func countedObjectsThatAreReadArePrefetched() throws {
    func found(_ lines: [String]) throws -> [Finding] {
      let typed = try TypedSession(moods: 60)
      let outcomes = try typed.run(["fetch Country as c"] + lines)
      let work = FinishedWork(
        recording: typed.session.recording, steps: outcomes.map(\.step),
        model: typed.session.model)
      return FindingSearch.all(of: work, steps: outcomes.flatMap(\.findings)).findings
    }
    let read = try found(["touch c moods.@count", "touch c moods.date"])
    #expect(read.map { $0.rule } == [.faultStorm, .faultStorm])
    #expect(read.map { $0.count } == [20, 60])
    let prefetch = "request.relationshipKeyPathsForPrefetching = [\"moods\"]"
    #expect(read.map { $0.fix.text } == [prefetch, prefetch])
    let other = try found(["touch c moods.@count", "touch c numericISO3166Code"])
    #expect(other.map { $0.name } == ["count-per-row(Country.moods)"])
  }

  @Test("Each relationship that a step counts has a fix of its own")
  func countedRelationshipsAreFixedSeparately() throws {
    func found(_ fetch: [String]) throws -> [String] {
      let typed = try TypedSession(moods: 60)
      let outcomes = try typed.run(fetch + ["touch c moods.@count", "touch c moods.date"])
      let work = FinishedWork(
        recording: typed.session.recording, steps: outcomes.map(\.step),
        model: typed.session.model)
      let moods = try #require(
        outcomes[fetch.count].findings.first { $0.rule == .countPerRow })
      var notes = moods
      notes.subject = "Country.notes"
      return FindingSearch.all(of: work, steps: [moods, notes]).findings.map { $0.name }
    }
    #expect(
      try found(["fetch Country as c"])
        == ["fault-storm(Country.moods)", "count-per-row(Country.notes)"])
    // A prefetch doesn't help a context that doesn't use the row cache.
    #expect(
      try found(["context late staleness 0", "fetch Country in late as c"])
        == ["count-per-row(Country.moods)", "count-per-row(Country.notes)"])
  }

  /// With a batch size, most of the moods would be faults that each run a SELECT.
  @Test func partlyReadListIsUsedThroughARelationship() throws {
    let found = try findings(
      [
        "fetch Mood as moods", "touch moods date limit 20", "fetch Country prefetch moods as c",
        "touch c moods.date",
      ], moods: 1_000)
    #expect(found.isEmpty)
  }

  /// With a batch size, most of the moods would be faults that each run a SELECT.
  @Test func partlyReadListIsUsedThroughAnotherResult() throws {
    let found = try findings(
      [
        "fetch Mood as moods", "touch moods date limit 20", "fetch Mood values no as again",
        "touch again date",
      ], moods: 1_000)
    #expect(found.isEmpty)
  }

  /// Without property values, the objects of a batch would be faults that each run a SELECT.
  @Test func batchesOfAPartlyReadListLoadValues() throws {
    let found = try findings(
      ["fetch Mood values no as moods", "touch moods date limit 5"], moods: 1_000)
    #expect(found.map(\.name) == ["partly-read(Mood)"])
    #expect(found.map { $0.fix.step } == ["fetch Mood batch 20 as moods"])
    #expect(found.allSatisfy { $0.fix.swift.first == "request.includesPropertyValues = true" })
  }

  /// A limit of 0 means all rows.
  @Test(arguments: ["limit 0", "batch 0 offset 0"])
  func fetchWithNumbersOfZeroIsUnlimited(options: String) throws {
    let found = try findings(
      ["fetch Mood \(options) as moods", "touch moods date limit 20"], moods: 1_000)
    #expect(found.map(\.name) == ["partly-read(Mood)"])
  }

  @Test(arguments: [
    ("fetch Mood as m", "walk m sort date-", ["sorted-in-memory(Mood)"]),
    ("fetch Mood as m", "walk m sort country.numericISO3166Code, date", ["sorted-in-memory(Mood)"]),
    ("fetch Mood batch 20 as m", "walk m sort date-", ["sorted-in-memory(Mood)"]),
    // The objects are realized, so comparing their values is cheap.
    ("fetch Mood faults no as m", "walk m sort date-", []),
    // Sorting in the request would change which objects are fetched.
    ("fetch Mood limit 20 as m", "walk m sort date-", []),
    ("fetch Mood limit 0 as m", "walk m sort date-", ["sorted-in-memory(Mood)"]),
    ("fetch Mood sort date- as m", "walk m", ["fetch-to-count(Mood)"]),
  ])
  func inMemorySortIsFound(fetch: String, line: String, names: [String]) throws {
    let found = try findings([fetch, line])
    let sorted = found.filter { $0.rule == .sortedInMemory }
    #expect(found.map(\.name).filter { !$0.hasPrefix("fault-storm") } == names)
    #expect(sorted.allSatisfy { $0.fix.text.contains("request.sortDescriptors = [NSSort") })
    let key = line.split(separator: "sort ").last.map(String.init)
    #expect(sorted.allSatisfy { $0.fix.fetch?.option(.sort)?.value.text == key })
  }

  /// A fault of a child context also fires in the parent, which serves it.
  @Test(arguments: [(9, []), (10, [10])] as [(Int, [Int])])
  func inMemorySortOfAChildCountsEachFaultOnce(moods: Int, counts: [Int]) throws {
    let lines = ["context edit parent main", "fetch Mood in edit as m", "walk m sort date-"]
    let sorted = try findings(lines, moods: moods).filter { $0.rule == .sortedInMemory }
    #expect(sorted.map(\.count) == counts)
  }

  /// A walk through a relationship fires the same faults without sorting.
  @Test func onlyFaultsFiredBySortingAreCounted() throws {
    let lines = ["fetch Country faults no as c", "walk c moods.country sort numericISO3166Code"]
    let typed = try TypedSession(moods: 60)
    let outcomes = try typed.run(lines)
    #expect(outcomes.last?.costs.counters.faults ?? 0 > 60)
    #expect(!outcomes.flatMap(\.findings).contains { $0.rule == .sortedInMemory })
  }

  @Test func unusedPrefetchFixRemovesThePrefetch() throws {
    let finding = try #require(try findings([Self.prefetch, "touch moods date"]).first)
    #expect(finding.count == 20)
    #expect(finding.fix.step == "fetch Mood as moods")
    #expect(finding.fix.now?.contains("[\"country\"]") == true && finding.fix.swift.isEmpty)
  }

  /// `country.continent` also prefetches the countries.
  @Test(arguments: [
    ("country.continent", "country.updatedAt", "fetch Mood prefetch country as moods"),
    ("country, country.continent", "country.updatedAt", "fetch Mood prefetch country as moods"),
    ("country.continent", "date", "fetch Mood as moods"),
  ])
  func unusedPrefetchFixKeepsWhatIsRead(prefetch: String, read: String, step: String) throws {
    let found = try findings(["fetch Mood prefetch \(prefetch) as moods", "touch moods \(read)"])
    let finding = try #require(found.first { $0.subject == "Country.continent" })
    #expect(finding.fix.step == step)
    #expect(finding.fix.swift.isEmpty == (read == "date"))
  }

  /// A fix that kept the other unused key path would contradict that one's finding.
  @Test func fixesOfSeveralUnusedPrefetchesRemoveAllOfThem() throws {
    let found = try findings([
      "fetch Country prefetch continent, moods as countries", "touch countries numericISO3166Code",
    ]).filter { $0.rule == .unusedPrefetch }
    #expect(found.map(\.subject).sorted() == ["Country.continent", "Country.moods"])
    #expect(found.allSatisfy { $0.fix.step == "fetch Country as countries" })
    #expect(found.allSatisfy { $0.fix.swift.isEmpty })
  }

  @Test(arguments: [(9, 1, false), (10, 1, true), (10, 40, true)])
  func fetchLoopIsFound(times: Int, rows: Int, fires: Bool) throws {
    let script = EventScript()
    let sql = "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZREMOTEIDENTIFIER = ?"
    script.step("program", at: EventScript.touch) {
      for _ in 0..<times { script.fetch("Mood", sql: sql, rows: rows) }
    }
    let found = FindingSearch.all(of: work(of: script), steps: []).findings
    #expect(found.map(\.name) == (fires ? ["fetch-loop(Mood)"] : []))
    #expect(found.allSatisfy { $0.fix.text.contains("IN") && $0.count == times })
  }

  @Test(
    "Fetches whose SQL differs only in literals are a loop",
    arguments: [
      ("SELECT 0 FROM ZMOOD t0 ORDER BY t0.ZDATE LIMIT 20 OFFSET #", "with a batch size"),
      ("SELECT 0 FROM ZMOOD t0 WHERE t0.Z_PK IN (1, #) LIMIT 20", "with IN for the value"),
    ])
  func fetchLoopWithLiteralsIsFound(sql: String, fix: String) throws {
    let script = EventScript()
    script.step("program", at: EventScript.touch) {
      for number in 0..<10 {
        script.fetch("Mood", sql: sql.replacing("#", with: "\(20 * number)"), rows: 20)
      }
      for _ in 0..<9 { script.fetch("Mood", sql: "SELECT 0 FROM ZMOOD t0", rows: 20) }
    }
    let found = FindingSearch.all(of: work(of: script), steps: []).findings
    #expect(found.map(\.name) == ["fetch-loop(Mood)"])
    #expect(found.map(\.count) == [10])
    #expect(found.allSatisfy { $0.what.contains("differs only in values") })
    #expect(found.allSatisfy { $0.fix.text.contains(fix) }, "\(found.map { $0.fix.text })")
  }

  /// Which values change, and whether rows are written, determines what can be done once.
  @Test(
    "The fix of a fetch loop fits its fetches",
    arguments: [
      // The entity in the condition is no value that changes.
      (["fetch Country"], "fetch Country once, keep the result"),
      (["fetch Mood where \"latitude == nil\""], "fetch Mood once, keep the result"),
      (["fetch Country where \"numberOfMoods == 3\""], "numberOfMoods IN %@"),
      (["fetch Mood where \"self IN $some\""], "with IN for the value"),
      (["count Country"], "count Country once, and"),
      (["count Mood where \"latitude > 3\""], "dictionaries grouped by"),
      (["fetch Mood sort date limit 4 as m", "delete m", "save"], "once with a batch size"),
      (["fetch Mood sort date limit 1 as m", "delete m", "save"], "once with a batch size"),
      (["fetch Mood sort date limit 4 as m"], "fetch Mood once, keep the result"),
    ])
  func fetchLoopFixFitsTheFetches(lines: [String], fix: String) throws {
    let typed = try TypedSession(moods: 60)
    let first = try typed.run(["fetch Mood limit 1 as some"])
    // Each round runs on the same lines.
    let outcomes = try (0..<10).flatMap { _ in try typed.run(lines) }
    let steps = (first + outcomes).map(\.step)
    let work = FinishedWork(
      recording: typed.session.recording, steps: steps, model: typed.session.model)
    let loops = FindingSearch.all(of: work, steps: []).findings.filter { $0.rule == .fetchLoop }
    #expect(loops.map(\.count) == [10])
    #expect(loops.allSatisfy { $0.fix.text.contains(fix) }, "\(loops.map { $0.fix.text })")
  }

  @Test(arguments: [(1, []), (2, ["batch-walked(Mood)"])])
  func batchedFetchWalkIsFound(batches: Int, names: [String]) {
    let script = EventScript()
    script.step("fetch", at: EventScript.moodFetch) {
      script.fetch("Mood", sql: "keys", rows: 40)
      for _ in 0..<batches { script.batchLoad("Mood", sql: "rows", rows: 20) }
    }
    script.step("touch", at: EventScript.touch) {
      for _ in 0..<5 { script.batchLoad("Mood", sql: "rows", rows: 20) }
    }
    let recording = script.recorder.recording(steps: script.steps)
    let found = script.steps.flatMap {
      FindingSearch.findings(in: recording.slice(of: $0), context: StepContext())
    }
    #expect(found.map(\.name) == names)
  }

  /// The statement of a child's batch is that of its parent's.
  @Test func batchesOfAChildContextHaveSQL() throws {
    let typed = try TypedSession(moods: 60)
    try typed.run(["context edit parent main"])
    let context = typed.session.stack.context("edit")
    context.performAndWait { context.prefetchesThroughParent = true }
    let found = try typed.run(["fetch Mood batch 20 in edit as m", "walk m array yes"])
      .flatMap(\.findings)
    #expect(found.map(\.name) == ["batch-walked(Mood)"])
    #expect(found.map(\.count) == [3])
    #expect(found.allSatisfy { $0.sql?.contains("FROM ZMOOD") == true })
  }

  @Test(arguments: [
    ([Verb.walk], [String](), ["fetch-to-count(Mood)"]), ([.walk], ["country"], []),
    ([.walk, .touch], [], []), ([], [], []),
  ])
  func fetchToCountIsFound(verbs: [Verb], reads: [String], names: [String]) {
    let script = EventScript()
    script.step("fetch Mood as moods", name: "moods", at: EventScript.moodFetch) {
      script.fetch("Mood", sql: "rows", rows: 40)
    }
    var steps = [
      Step(verb: .fetch, subject: "Mood", name: "moods", location: EventScript.moodFetch)
    ]
    for verb in verbs {
      let step = Step(verb: verb, subject: "moods", reads: reads, location: EventScript.touch)
      script.step(step.text, at: EventScript.touch) {}
      steps.append(step)
    }
    let found = FindingSearch.all(of: work(of: script, steps: steps), steps: []).findings
    #expect(found.map(\.name) == names)
  }

  /// Three entities have a relationship `notes`; that of `Novel` is inherited from `Book`.
  @Test(arguments: [
    ("Book", []), ("Novel", []), ("Author", ["unused-prefetch(Book.notes)"]),
  ])
  func prefetchedRowsAreThoseOfTheEntity(reader: String, names: [String]) {
    let entities = ["Author", "Book", "Novel", "Note"].map { name -> NSEntityDescription in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    for owner in entities.prefix(2) {
      let notes = NSRelationshipDescription()
      notes.name = "notes"
      notes.destinationEntity = entities[3]
      owner.properties = [notes]
    }
    entities[1].subentities = [entities[2]]
    let model = NSManagedObjectModel()
    model.entities = entities
    let fetch = Step(
      verb: .fetch, subject: "Book", options: [StepOption(.prefetch, .keyPaths(["notes"]))],
      name: "books", location: EventScript.moodFetch)
    let touch = Step(
      verb: .touch, subject: "books", reads: ["title"], location: EventScript.touch)
    let script = EventScript()
    script.step(fetch.text, name: "books", at: EventScript.moodFetch) {
      script.fetch("Book", sql: "rows", rows: 4, prefetch: (name: "notes", sql: "all", rows: 8))
    }
    script.step(touch.text, at: EventScript.touch) {
      script.relationshipFault(reader, "notes", key: 1, rows: 2, sql: nil)
    }
    let work = FinishedWork(
      recording: script.recorder.recording(steps: script.steps), steps: [fetch, touch],
      model: model)
    #expect(work.parts.count == 2)
    #expect(FindingSearch.all(of: work, steps: []).findings.map(\.name) == names)
  }

  /// The predicate of a step is examined once, not for each result before it.
  @Test func hundredsOfNamedResultsAreExamined() {
    let script = EventScript()
    let predicate = String(repeating: "latitude == 3 OR ", count: 40) + "country == $other"
    let steps = (0..<600).map { number in
      Step(
        verb: .fetch, subject: "Mood", options: [StepOption(.predicate, .predicate(predicate))],
        name: "moods\(number)", location: EventScript.moodFetch)
    }
    for step in steps { script.step(step.text, name: step.name, at: EventScript.moodFetch) {} }
    let begin = threadTime()
    let work = work(of: script, steps: steps)
    #expect(work.parts.count == steps.count)
    #expect(FindingSearch.all(of: work, steps: []).findings.isEmpty)
    #expect(threadTime() - begin < 30)
  }

  private func work(of script: EventScript, steps: [Step] = []) -> FinishedWork {
    FinishedWork(
      recording: script.recorder.recording(steps: script.steps), steps: steps,
      model: NSManagedObjectModel())
  }
}
