import Foundation
import OpenCoreData
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunResults
@testable import ScenarioLanguage
@testable import StatementAnalysis
@testable import WorkbenchText

@Suite("Sessions")
struct SessionTests {
  private func session(readOnly: Bool = false) throws -> (Session, TemporaryFolder) {
    let typed = try TypedSession(readOnly: readOnly)
    return (typed.session, typed.folder)
  }

  @discardableResult
  private func run(_ lines: [String], in session: Session) throws -> [StepOutcome] {
    try lines.enumerated().map { index, line in
      try session.run(try ShellLine.parse(line, number: index + 1))
    }
  }

  @Test func keyPathsReachALimitedNumberOfObjects() throws {
    let budget = PathBudget(StepInterruption(), limit: 2)
    for _ in 0..<2 { try budget.spend() }
    let error = #expect(throws: NSError.self) { try budget.spend() }
    #expect(error?.localizedDescription.contains("more objects than the limit, 2.") == true)
  }

  /// `$one` is a result's only object, `IN $three` all of its objects.
  @Test func predicatesReferToResults() throws {
    let (session, folder) = try session()
    defer { withExtendedLifetime(folder) {} }
    let outcomes = try run(
      [
        "fetch Country limit 1 as one", "fetch Country offset 5 limit 3 result ids as three",
        "fetch Mood where country == $one as moods",
        "count Mood where \"country IN $three OR country == $one\"",
        "count Mood where \"country != $one AND remoteIdentifier != '$one'\"",
        "count Country where \"SUBQUERY(moods, $one, $one.latitude > -1000).@count > 0\"",
        "context other", "count Mood where \"country IN $three\" in other",
        "count Country where \"SELF == $one\" in other",
        "batch-update Mood where \"country == $one\" with latitude 7",
        "count Mood where \"latitude == 7\"", "batch-delete Mood where \"country IN $three\"",
        "count Mood",
      ], in: session)
    #expect(outcomes[2].summary == "moods: 10 Mood, all faults")
    #expect(outcomes[2].costs.counters.selects == 1)
    #expect(
      [3, 4, 5, 7, 8, 10, 12].map { outcomes[$0].summary } == [
        "40 Mood", "190 Mood", "20 Country", "30 Mood", "1 Country", "10 Mood", "170 Mood",
      ])
    let request = ["count Mood where country == $three"]
    let error = #expect(throws: StepFailure.self) { try run(request, in: session) }
    #expect(error?.description.contains("the result `three` has 3") == true)
  }

  @Test func quotedNilIsText() throws {
    let (session, folder) = try session()
    defer { withExtendedLifetime(folder) {} }
    let text = "remoteIdentifier == 'nil'"
    let insert = "insert Mood with colors ff, date 2016-05-04, country one, remoteIdentifier"
    let outcomes = try run(
      [
        "fetch Country limit 1 as one", "\(insert) \"nil\" times 2 as moods", "\(insert) nil",
        "save",
        "count Mood where \"\(text)\"", "set moods with remoteIdentifier nil limit 1", "save",
        "count Mood where \"\(text)\"", "batch-update Mood with remoteIdentifier 'null'",
        "count Mood where \"remoteIdentifier == 'null'\"",
        "batch-update Mood with remoteIdentifier null",
        "count Mood where \"remoteIdentifier == nil\"",
      ], in: session)
    let counts = [4, 7, 9, 11].map { outcomes[$0].summary }
    #expect(counts == ["2 Mood", "1 Mood", "203 Mood", "203 Mood"])
  }

  @Test
  func faultStormSessionHasTheExpectedCosts() throws {
    let (session, folder) = try session()
    let first = try run(
      ["fetch Mood sort date- values no as moods", "touch moods date country.numericISO3166Code"],
      in: session)
    #expect(
      first.map(\.summary) == ["moods: 200 Mood, all faults", "read 2 key paths of 200 objects"])
    #expect(first.map(\.costs.counters.selects) == [1, 220])
    #expect(first.map(\.costs.counters.rows) == [200, 220])
    #expect(first.map(\.costs.counters.misses) == [0, 220])
    #expect(first[1].findings.map(\.name) == ["fault-storm(Mood)", "fault-storm(Mood.country)"])
    #expect(
      first[1].findings.map { $0.fix.step } == [
        "fetch Mood sort date- as moods", "fetch Mood sort date- prefetch country as moods",
      ])
    #expect(first[1].findings.allSatisfy { $0.callSite == CallSite(file: "shell", line: 2) })
    let groups = session.recording.groups.filter { first[1].recorded.contains($0.firstEvent) }
    #expect(groups.map(\.count) == [200, 20])
    #expect(groups.allSatisfy { $0.sql?.contains("WHERE  t0.Z_PK = ?") == true })
    let plan = try PlanReader(storeURL: session.storeURL, isOpenElsewhere: true)
    #expect(plan.lines(of: groups[0].sql ?? "").joined().contains("USING INTEGER PRIMARY KEY"))

    let cold = try Session(storeURL: session.storeURL, model: session.model, readOnly: false)
    #expect(cold.recording.events.allSatisfy { $0.kind == .storeOpening })
    let second = try run(
      [
        "fetch Mood sort date- prefetch country as moods",
        "touch moods date country.numericISO3166Code",
      ],
      in: cold)
    #expect(second.map(\.costs.counters.selects) == [2, 0])
    #expect(second.map(\.costs.counters.hits) == [0, 220])
    #expect(second[1].findings.isEmpty)
    withExtendedLifetime(folder) {}
  }

  @Test
  func onlyNamesRetainObjects() throws {
    let (session, folder) = try session()
    let mood = ScopedMetric(.registered, .entity("Mood"))
    try run(["fetch Mood limit 30"], in: session)
    #expect(session.recording.value(of: mood) == 0)
    try run(["fetch Mood limit 30 as some", "fetch Mood as all"], in: session)
    #expect(session.recording.value(of: mood) == 200)
    try run(["drop all"], in: session)
    #expect(session.recording.value(of: mood) == 30)
    let refetched = try run(["fetch Mood values no as all", "touch all date"], in: session)
    #expect(refetched[1].costs.counters.hits == 30 && refetched[1].costs.counters.misses == 170)
    try run(["reset"], in: session)
    #expect(session.resultShapes.isEmpty && session.recording.value(of: mood) == 0)
    withExtendedLifetime(folder) {}
  }

  @Test("The work of steps has the registered objects by context and entity, and as gauges")
  func workHasRegisteredObjects() throws {
    let (session, folder) = try session()
    let outcomes = try run(
      ["fetch Mood limit 50 as moods", "fetch Country as countries"], in: session)
    let work = session.work(of: outcomes.map(\.step))
    #expect(work.parts.count == 2)
    let counts = try #require(work.registered["main"])
    #expect(counts["Mood"] == 50 && counts["Country"] == 20)
    #expect(work.recording.gauges[ScopedMetric(.registered, .context("main"))] == 70)
    #expect(work.recording.gauges == session.gauges)
    withExtendedLifetime(folder) {}
  }

  @Test
  func totalPeakIsAtOnePointInTime() throws {
    let (session, folder) = try session()
    try run(["fetch Mood limit 50", "fetch Country as countries"], in: session)
    #expect(session.recording.value(of: .peak, scope: .entity("Mood")) == 50)
    #expect(session.recording.value(of: .peak, scope: .entity("Country")) == 20)
    #expect(session.recording.value(of: .peak) == 50)
    withExtendedLifetime(folder) {}
  }

  /// String comparisons call SQL functions that only Core Data defines.
  @Test(arguments: [
    "remoteIdentifier CONTAINS[cd] 'a'", "remoteIdentifier LIKE 'a*'",
    "remoteIdentifier MATCHES 'a.*'", "remoteIdentifier ==[c] 'a'",
  ])
  func everyCapturedStatementHasAPlan(predicate: String) throws {
    let (session, folder) = try session()
    try run(["fetch Mood where \"\(predicate)\" as m"], in: session)
    let plans = try PlanReader(storeURL: session.storeURL, isOpenElsewhere: true)
    let shapes = plans.explain(session.recording.statementShapes)
    #expect(shapes.count == 1)
    for shape in shapes {
      #expect(shape.plan == ["`--SCAN t0"], "\(shape.sql)")
    }
    withExtendedLifetime(folder) {}
  }

  /// Work of the first execution of each statement; a SQL function runs once per row.
  @Test
  func everyStatementHasSQLiteCounters() throws {
    let (session, folder) = try session()
    try run(
      ["fetch Mood where \"remoteIdentifier CONTAINS[cd] 'a'\" as m", "fetch Mood as all"],
      in: session)
    let shapes = session.recording.statementShapes
    #expect(shapes.map { $0.work?.functionCalls } == [200, 0])
    #expect(shapes.map { $0.work?.fullScanSteps } == [199, 199])
    #expect(shapes.allSatisfy { ($0.work?.vmSteps ?? 0) > 200 })
    #expect(shapes[0].binds == ["\"a\""])
    let text = PlanText.lines(shapes[0]).joined(separator: "\n")
    #expect(text.contains("200 function calls") && !text.contains("\"a\""))
    let lists = session.recording.groups.map { $0.work?.functionCalls }
    #expect(lists == [200, 0])
    withExtendedLifetime(folder) {}
  }

  @Test
  func batchesAreLoadedAndReleased() throws {
    let (session, folder) = try session()
    let outcomes = try run(
      [
        "fetch Mood sort date batch 10 faults no as moods", "touch moods date limit 1",
        "touch moods date limit 10", "touch moods date offset 10 limit 1", "touch moods date",
        "touch moods date",
      ], in: session)
    #expect(outcomes[0].summary == "moods: 200 Mood, in batches of 10")
    #expect(outcomes.map(\.costs.counters.selects) == [1, 1, 0, 1, 18, 20])
    #expect(outcomes[2].summary == "read 1 key path of 10 objects")
    #expect(session.recording.value(of: .peak, scope: .entity("Mood")) == 50)
    #expect(session.recording.value(of: .faults) == 0)
    withExtendedLifetime(folder) {}
  }

  @Test("Objects that were changed and then deleted count only as deleted")
  func deletedObjectsAreNotCountedAsUpdated() throws {
    for changes in [[], ["set moods with latitude 3"]] {
      let (session, folder) = try session()
      defer { withExtendedLifetime(folder) {} }
      let lines = ["fetch Mood limit 2 as moods"] + changes + ["delete moods", "save"]
      // The countries of the moods change, too.
      let outcomes = try run(lines, in: session)
      #expect(outcomes.last?.summary == "saved: 2 updated, 2 deleted")
    }
  }

  @Test
  func savedChangesAreFetched() throws {
    let (session, folder) = try session()
    let outcomes = try run(
      [
        "fetch Country sort numericISO3166Code limit 2 as countries",
        "insert Mood times 3 with date 2016-05-04, colors ff8800, country countries as fresh",
        "save", "save", "fetch Mood where \"country.numericISO3166Code == 2\" as mine",
        "set mine with latitude 1.5, remoteIdentifier \"a, b\" limit 4", "delete mine offset 10",
        "save", "count Mood where \"latitude == 1.5 AND remoteIdentifier == 'a, b'\"",
        "count Mood", "set mine with latitude nil limit 1", "rollback", "refresh mine limit 3",
      ], in: session)
    #expect(outcomes[1].summary == "fresh: 3 Mood inserted")
    #expect(outcomes[2].summary == "saved: 3 inserted, 2 updated")
    #expect(outcomes[2].costs.counters.inserts == 3)
    #expect(outcomes[2].costs.counters.transactions == 2)
    #expect(outcomes[3].summary == "nothing to save")
    #expect(outcomes[3].costs.counters.saves == 0)
    #expect(outcomes[4].summary == "mine: 11 Mood, 10 faults")
    #expect(outcomes[5].summary == "set 2 properties of 4 objects")
    #expect(outcomes[6].summary == "1 object marked for deletion")
    #expect(outcomes[7].costs.counters.deletes == 1)
    #expect(outcomes[8].summary == "4 Mood")
    #expect(outcomes[9].summary == "202 Mood")
    #expect(outcomes[11].summary == "changes of 1 object discarded")
    #expect(outcomes[12].summary == "refreshed 3 objects")
    withExtendedLifetime(folder) {}
  }

  @Test(arguments: [
    ("fetch Moood", "the model has no entity `Moood`"),
    ("touch moods date", "there's no result `moods`"),
    ("touch m country.iso3166Code", "Country has no property `iso3166Code`"),
    ("fetch Mood where \"contry.numericISO3166Code == 710\"", "Mood has no property `contry`"),
    ("fetch Mood in other", "there's no context `other`"),
    ("insert Region", "`Region` is abstract and has no objects"),
    ("set m with latitude high", "`high` isn't a valid value for `latitude` (number)"),
    ("set m with country m", "the destination of `country` is Country, but `m` contains Mood"),
    ("fetch Mood as Country", "`Country` is the name of an entity"),
  ])
  func rejectsInvalidStepsWithoutRunningThem(line: String, message: String) throws {
    let (session, folder) = try session()
    try run(["fetch Mood limit 1 as m", "fetch Mood result ids limit 1 as ids"], in: session)
    let before = session.recording.events.count
    let problem = try #require(throws: LanguageProblem.self) { try run([line], in: session) }
    #expect(problem.message == message)
    #expect(session.recording.events.count == before)
    withExtendedLifetime(folder) {}
  }

  @Test
  func predicateErrorReportsAPositionInThePredicate() throws {
    let (session, folder) = try session()
    let line = "fetch Mood where \"date >\" as m"
    let problem = try #require(throws: LanguageProblem.self) { try run([line], in: session) }
    #expect(problem.message.hasPrefix("invalid predicate: "))
    #expect(problem.range.column == 25, "\(LineError(problem, in: line))")
    withExtendedLifetime(folder) {}
  }

  @Test
  func expectedErrorsAreNotFailures() throws {
    let (session, folder) = try session()
    let outcomes = try run(
      [
        "insert Mood as m", "save fails 1560", "save fails 1", "drop m", "rollback", "save fails 1",
      ],
      in: session)
    #expect(outcomes.map(\.endedAsExpected) == [true, true, false, true, true, false])
    #expect(outcomes[1].summary == "failed with 1560, as expected")
    #expect(outcomes[2].failureCode == 1560)
    #expect(outcomes[5].summary == "nothing to save, but was expected to fail with 1")
    #expect(throws: StepFailure.self) { try run(["insert Mood", "save"], in: session) }
    withExtendedLifetime(folder) {}
  }

  @Test
  func readOnlySessionsNeverWrite() throws {
    let (session, folder) = try session(readOnly: true)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    let bytes = try Data(contentsOf: session.storeURL)
    try run(["fetch Mood limit 3 as m", "touch m country.updatedAt"], in: session)
    try run(["set m with latitude 1"], in: session)
    let error = try #require(throws: StepFailure.self) { try run(["save"], in: session) }
    #expect(error.error.domain == NSCocoaErrorDomain)
    #expect(error.error.code == NSPersistentStoreSaveError)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == files)
    #expect(try Data(contentsOf: session.storeURL) == bytes)
  }

  @Test
  func observersReceiveEventsUntilRemoved() throws {
    final class Listener: EventSink {
      let recorder = Recorder()
      var detail: EventDetail { [] }
      func record(_ event: Event) { recorder.record(event) }
    }
    let (session, folder) = try session()
    let listener = Listener()
    session.add(listener)
    try run(["fetch Mood limit 1"], in: session)
    #expect(listener.recorder.recording().value(of: .selects) == 1)
    session.remove(listener)
    try run(["fetch Mood limit 1"], in: session)
    #expect(listener.recorder.recording().value(of: .selects) == 1)
    withExtendedLifetime(folder) {}
  }

  @Test(.enabled(if: SharedData.moodyStores != nil, "the shared data folder is absent"))
  func appleStoresOpenWithoutAModelFile() throws {
    let stores = try #require(SharedData.moodyStores)
    let session = try Session(
      storeURL: stores.appendingPathComponent("Moody.moody"), model: nil, readOnly: true)
    let outcomes = try run(
      [
        "fetch Mood where \"country.numericISO3166Code == 710\" sort date- batch 20 as m",
        "touch m country.updatedAt",
      ], in: session)
    #expect(outcomes[0].summary == "m: 2 Mood, in batches of 20")
    #expect(session.recording.value(of: .selects) == 3)
    #expect(session.recording.value(of: .selects, scope: .entity("Country")) == 1)
  }

  @Test(
    "objects that aren't saved have a limit, for their number and for the size of their values",
    arguments: [
      (
        "insert Mood times 1000000",
        "1,000,001 inserted objects that aren't saved, and the limit is 1,000,000. Save in between"
      ),
      (
        "insert Mood times 6000 with remoteIdentifier \(String(repeating: "x", count: 100_000))",
        "the limit is 256 MB of values. Save in between"
      ),
    ])
  func unsavedObjectsHaveALimit(line: String, message: String) throws {
    let (session, folder) = try session()
    defer { withExtendedLifetime(folder) {} }
    try run(["insert Mood"], in: session)
    let error = #expect(throws: StepFailure.self) { try run([line], in: session) }
    #expect(error?.error.localizedDescription.contains(message) == true, "\(error as Any)")
    // In another context, too, and nothing was inserted.
    try run(["insert Mood", "context other", "insert Country in other"], in: session)
    #expect(session.unsaved.objects == 3)
    try run(["rollback", "insert Country in other"], in: session)
    #expect(session.unsaved.objects == 4)
    try run(["rollback in other", "insert Mood"], in: session)
    #expect(session.unsaved.objects == 1)
  }
}
