import OpenCoreData
import ProfileEvents
import Profiling
import Testing
import WorkbenchFixtures

@testable import RunResults
@testable import ScenarioLanguage

/// Each rule is tested with steps for which it fires and steps for which it doesn't.
@Suite("Rules about retained, changed, and saved objects")
struct HeldObjectRuleTests {
  private static let change = "set m with latitude 1"

  @Test(arguments: [
    (["fetch Mood as m", "set m with latitude 1", "refresh m keep no"], ["lost-changes(Mood)"]),
    (["fetch Mood as m", "set m with latitude 1", "refresh m keep yes"], []),
    (["fetch Mood as m", "set m with latitude 1", "save", "refresh m keep no"], []),
    (["fetch Mood as m", "set m with latitude 1", "rollback", "refresh m keep no"], []),
    // The changed objects of the result aren't refreshed.
    (["fetch Mood as m", "set m with latitude 1 limit 3", "refresh m keep no offset 3"], []),
    (["fetch Mood as m", "refresh m keep no"], []),
    // The second refresh has nothing to discard.
    (
      ["fetch Mood as m", "set m with latitude 1", "refresh m keep no", "refresh m keep no"],
      ["lost-changes(Mood)"]
    ),
    // All objects are fetched again, as in a loop.
    (["fetch Mood as m", change, "fetch Mood as m", "refresh m keep no"], ["lost-changes(Mood)"]),
    (["fetch Mood as m", change, "fetch Mood as n", "refresh n keep no"], ["lost-changes(Mood)"]),
    (["fetch Mood as m", change, "save", "fetch Mood as m", "refresh m keep no"], []),
    // The fetches can return different objects.
    (["fetch Mood limit 5 as m", change, "fetch Mood limit 5 as m", "refresh m keep no"], []),
    // The save fails, so the changes are still unsaved.
    (
      [
        "fetch Mood as m", "set m with latitude 1", "sql \"UPDATE ZMOOD SET Z_OPT = Z_OPT + 1\"",
        "save fails 133020", "refresh m keep no",
      ], ["lost-changes(Mood)"]
    ),
  ])
  func refreshThatDiscardsChangesIsFound(lines: [String], names: [String]) throws {
    #expect(try findings(lines).map(\.name) == names)
  }

  @Test func onlyChangedObjectsAreCounted() throws {
    let found = try findings(
      ["fetch Mood as m", "set m with latitude 1 limit 7", "refresh m keep no offset 2"])
    #expect(found.map(\.count) == [5])
    #expect(found.map(\.fix.text) == ["context.refresh(object, mergeChanges: true)"])
  }

  private static let first = ["fetch Mood limit 5 as m", "set m with latitude 1", "save"]
  private static let child = [
    "batch-update Mood with latitude 1", "context edit parent main",
    "fetch Mood limit 5 in edit as m",
  ]

  @Test(arguments: [
    (first + ["set m with latitude 1", "save"], ["needless-update(Mood)"]),
    (first + ["set m with latitude 2", "save"], []),
    (first + ["set m with latitude 1", "set m with latitude 2 limit 1", "save"], []),
    // The countries get a new version because their moods changed.
    (
      [
        "fetch Mood limit 1 as m", "fetch Country offset 3 limit 1 as c", "set m with country c",
        "save",
      ],
      []
    ),
    (["fetch Mood limit 5 as m", "save"], []),
    (child + ["set m with latitude 1", "save in edit", "save"], ["needless-update(Mood)"]),
  ])
  func needlessUpdatesAreFound(lines: [String], names: [String]) throws {
    let found = try findings(lines)
    #expect(found.map(\.name) == names)
    #expect(found.allSatisfy { $0.count == 5 && $0.sql?.contains("Z_OPT = ?") == true })
    #expect(found.allSatisfy { $0.fix.text.hasPrefix("if object.latitude != value") })
  }

  private static let cycle = [
    "fetch Country prefetch moods as countries", "fetch Mood as moods", "touch countries moods",
    "touch moods country",
  ]

  @Test(arguments: [
    (cycle + ["drop moods", "drop countries"], ["kept-alive(Mood)"]),
    (cycle + ["refresh countries", "drop moods", "drop countries"], []),
    (cycle + ["drop moods"], []), (cycle + ["reset"], []),
    (["fetch Mood as moods", "drop moods"], []),
    (["context main retains yes", "fetch Mood as moods", "drop moods"], ["kept-alive(Mood)"]),
    (["context main retains yes", "fetch Mood limit 9 as moods", "drop moods"], []),
    (
      [
        "context main undoable yes", "fetch Mood as moods", "set moods with latitude 1", "save",
        "drop moods",
      ], ["kept-alive(Mood)"]
    ),
    // The context retains objects with unsaved changes.
    (["fetch Mood as moods", "set moods with latitude 1", "drop moods"], []),
  ])
  func retainedObjectsAreFound(lines: [String], names: [String]) throws {
    #expect(try findings(lines).map(\.name) == names)
  }

  @Test(arguments: [
    ("context main retains yes", "delete context.retainsRegisteredObjects = true"),
    ("context main undoable yes", "context.undoManager = nil"),
  ])
  func fixNamesTheRetainingReference(context: String, fix: String) throws {
    let found = try findings([
      context, "fetch Mood as moods", "set moods with latitude 1", "save", "drop moods",
    ])
    #expect(found.map(\.fix.text) == [fix])
    #expect(found.map(\.count) == [60])
  }

  /// The relationships retain the objects, also if the context could undo changes.
  @Test func undoManagerWithoutChangesIsNotTheCause() throws {
    let found = try findings(
      ["context main undoable yes"] + Self.cycle + ["drop moods", "drop countries"])
    #expect(found.map(\.name) == ["kept-alive(Mood)"])
    #expect(found.allSatisfy { $0.fix.text.contains("context.refresh(owner") })
  }

  /// The entity is that of the context whose objects are counted, not the most frequent one.
  @Test func retainedObjectsAreThoseOfTheContext() throws {
    let found = try findings(
      [
        "context main retains yes", "context one retains yes", "context two retains yes",
        "fetch Mood as moods", "fetch Country in one as here", "fetch Country in two as there",
        "drop moods", "drop here", "drop there",
      ], moods: 30)
    #expect(found.map(\.name) == ["kept-alive(Mood)"])
    #expect(found.map(\.count) == [30])
  }

  private static let fetched = ["fetch Mood faults no as moods"]
  private static let batch = "batch-update Mood with latitude 7"
  private static let ofResult = "batch-update Mood where self IN $m with latitude 7"
  private static let twice = ["touch moods latitude", "touch moods latitude"]

  @Test(arguments: [
    (fetched + [batch, "touch moods latitude"], true),
    (fetched + [batch, "touch moods date"], false),
    (fetched + [batch, "refresh moods", "touch moods latitude"], true),
    (
      fetched + [batch, "fetch Mood result ids as i", "refresh moods", "touch moods latitude"],
      false
    ),
    (
      fetched + [
        "batch-update Mood with latitude 7 as changed", "merge changed", "touch moods latitude",
      ],
      false
    ),
    // It's unknown whether the registered objects are among the changed ones.
    (
      [
        "fetch Mood faults no limit 5 as moods",
        "batch-update Mood with latitude 7 where \"date > CAST(0, 'NSDate')\"",
        "touch moods latitude",
      ], false
    ),
    (
      fetched + [
        "batch-update Mood with latitude 7 where \"date > CAST(0, 'NSDate')\"",
        "touch moods latitude",
      ],
      true
    ),
    (["fetch Mood values no limit 5 as moods", batch, "touch moods latitude"], false),
    (fetched + ["batch-delete Mood", "touch moods date"], true),
    (["results Mood sort date faults no as moods", batch, "touch moods latitude"], true),
    (
      [
        "results Mood sort date faults no as moods",
        "batch-update Mood with latitude 7 as changed", "merge changed", "touch moods latitude",
      ], false
    ),
    (fetched + ["batch-delete Mood", "walk moods limit 1"], false),
    // The second request sets the values that the objects have.
    (fetched + [named, "merge changed", batch, "touch moods latitude"], false),
    (fetched + [batch, batch, "touch moods latitude"], true),
    (
      fetched + [
        "fetch Mood limit 5 as m", "\(ofResult) as changed", "merge changed",
        "fetch Mood limit 5 offset 5 as m", ofResult, "touch moods latitude",
      ], true
    ),
    (
      fetched + [
        named, "merge changed", "batch-update Mood with latitude 8", "touch moods latitude",
      ], true
    ),
    (
      fetched + [
        "batch-update Mood with latitude = latitude + 1 as changed", "merge changed",
        "batch-update Mood with latitude = latitude + 1", "touch moods latitude",
      ], true
    ),
  ])
  func unmergedBatchIsFound(lines: [String], fires: Bool) throws {
    #expect(try findings(lines).map(\.name) == (fires ? ["unmerged-batch(Mood)"] : []))
  }

  private static let again = "fetch Mood as again"
  private static let realized = "fetch Mood faults no as again"
  private static let part = "fetch Mood faults no limit 5 as moods"
  private static let seven = "fetch Mood where \"latitude == 7\" as again"

  @Test(
    arguments: [
      // A fetch doesn't update the objects that it finds.
      (fetched + [batch, again, "touch again latitude"], true),
      (fetched + [batch, realized, "touch again latitude"], true),
      (fetched + [batch, "fetch Mood refreshes yes as again", "touch again latitude"], false),
      (fetched + [batch, seven, "touch again latitude"], false),
      (fetched + ["batch-delete Mood", again, "touch again date"], false),
      // The other objects are new in the context.
      ([part, batch, realized, "touch again latitude offset 9"], false),
      ([part, batch, realized, "touch moods latitude"], true),
      // The faults are fulfilled with current rows, also if the objects are read twice.
      (["fetch Mood as moods", batch, again] + twice, false),
      (["fetch Mood as moods", batch, realized] + twice, false),
      (["fetch Mood values no limit 5 as moods", batch] + twice, false),
      (fetched + [batch, again, "refresh moods"] + twice, false),
      (fetched + [batch, "refresh moods", again] + twice, false),
      (fetched + [batch, "refresh moods", realized, "touch again latitude"], false),
      (fetched + ["refresh moods", batch, realized] + twice, false),
      (fetched + [batch, "refresh moods"] + twice, true),
    ] as [([String], Bool)])
  func staleObjectsAreThoseWithOldRows(lines: [String], fires: Bool) throws {
    #expect(try findings(lines).map(\.name) == (fires ? ["unmerged-batch(Mood)"] : []))
  }

  private static let shown = "fetch Mood faults no in other as theirs"
  private static let alone = ["context other", shown]
  private static let both = ["context other", "fetch Mood faults no as moods", shown]
  private static let pinned = ["context other", "pin in other", shown]
  private static let elsewhere = ["context other coordinator second", shown]
  private static let named = "batch-update Mood with latitude 7 as changed"

  @Test(
    arguments: [
      // What another context or an unrelated save does leaves the objects as they are.
      (both + [batch, "reset in other", "touch moods latitude"], true),
      (both + [batch, "rollback", "touch moods latitude"], true),
      (
        both + [
          "fetch Country in other as c", "set c with numericISO3166Code 7", "save in other as news",
          batch, "merge news", "touch moods latitude",
        ], true
      ),
      (
        both + [
          "set theirs with longitude 3", "save in other as news", batch, "merge news",
          "touch moods latitude",
        ], false
      ),
      (fetched + [batch, "fetch Mood refreshes yes as again", "touch moods latitude"], false),
      (fetched + [batch, "reset", "fetch Mood as moods", "touch moods latitude"], false),
      // The objects of other contexts are stale, too.
      (alone + [batch, "touch theirs latitude"], true),
      (alone + [named, "merge changed in other", "touch theirs latitude"], false),
      (alone + [named, "merge changed", "touch theirs latitude"], true),
      (both + [named, "merge changed in other", "touch moods latitude"], true),
      (pinned + [batch, "touch theirs latitude"], false),
      (elsewhere + [batch, "touch theirs latitude"], false),
    ] as [([String], Bool)])
  func staleObjectsOfEachContextAreFound(lines: [String], fires: Bool) throws {
    #expect(try findings(lines).map(\.name) == (fires ? ["unmerged-batch(Mood)"] : []))
  }

  /// A child context fulfills faults from its parent one at a time, so prefetching isn't suggested.
  ///
  /// The faults of child and parent are one finding.
  @Test(arguments: [
    ("fetch Mood in edit as moods", "fault-storm(Mood.country)"),
    ("fetch Mood prefetch country in edit as moods", "ineffective-prefetch(Mood.country)"),
  ])
  func childContextFixNamesTheParent(fetch: String, name: String) throws {
    let found = try findings([
      "context edit parent main", fetch, "touch moods country.numericISO3166Code",
    ])
    #expect(found.map(\.name) == [name])
    #expect(found.map(\.count) == [20])
    #expect(found.allSatisfy { $0.fix.text.contains("in the parent") && $0.fix.step == nil })
  }

  /// The parent context fulfills the faults from its objects or from the row cache.
  @Test(arguments: [
    ["fetch Country faults no as held", "fetch Mood prefetch country in edit as moods"],
    ["fetch Mood prefetch country as moods"],
  ])
  func faultsOfAChildWithoutSELECTsAreNoFinding(fetches: [String]) throws {
    let lines = fetches + ["touch moods country.numericISO3166Code in edit"]
    #expect(try findings(["context edit parent main"] + lines).isEmpty)
  }

  @Test func countedListsOfAChildAreCountedOnce() throws {
    let found = try findings([
      "context edit parent main", "fetch Country in edit as c", "touch c moods.@count",
    ])
    #expect(found.map(\.name) == ["count-per-row(Country.moods)"])
    #expect(found.map(\.count) == [20])
    #expect(found.allSatisfy { $0.sql != nil })
  }

  private static let second = "context second coordinator second"

  /// Rows that the fetch loads don't fulfill the faults, so it can't be the fix.
  @Test(arguments: [
    (
      second, "fetch Mood as moods", " in second", "fault-storm(Mood.country)",
      "fetch the objects again"
    ),
    (
      second, "fetch Mood prefetch country as moods", " in second",
      "ineffective-prefetch(Mood.country)", "fetch the objects again"
    ),
    (
      "context main staleness 0", "fetch Mood as moods", "", "fault-storm(Mood.country)",
      "stalenessInterval of the context is 0"
    ),
    (
      "context main staleness 0", "fetch Mood prefetch country as moods", "",
      "ineffective-prefetch(Mood.country)", "stalenessInterval of the context is 0"
    ),
  ])
  func fixOfFaultsThatMissTheRowCacheHelps(
    context: String, fetch: String, place: String, name: String, advice: String
  ) throws {
    let read = "touch moods country.numericISO3166Code\(place)"
    let fix = try #require(try findings([context, fetch, read]).first { $0.name == name }?.fix)
    #expect(fix.advice.contains(advice) && fix.step == nil)
    let again = "fetch Mood where \"self IN $moods\" prefetch country in second as again"
    let held = ["fetch Country faults no as held", "fetch Mood faults no as moods"]
    let fixed = place.isEmpty ? held : ["fetch Mood as moods", again]
    #expect(try findings([context] + fixed + [read]).isEmpty)
  }

  @Test func childSavesAreNotStoreSaves() throws {
    let rounds = (0..<10).flatMap {
      ["set moods with latitude \($0) limit 1 in edit", "save in edit"]
    }
    let child = ["context edit parent main", "fetch Mood in edit as moods"] + rounds
    #expect(try findings(child).isEmpty)
    let both =
      ["context edit parent main", "fetch Mood in edit as moods"]
      + (0..<10).flatMap {
        ["set moods with latitude \($0) limit 1 in edit", "save in edit", "save"]
      }
    #expect(try findings(both).map(\.name) == ["chatty-saves(Mood)"])
  }

  @Test(arguments: [(999, []), (1_000, ["busy-main-queue(Mood)"])])
  func largeMainQueueSaveIsFound(objects: Int, names: [String]) {
    #expect(saveFindings(objects, queue: .main).map(\.name) == names)
    #expect(saveFindings(objects, queue: .background).isEmpty)
  }

  @Test(arguments: [
    ("ui", "main", 1_000, "fetch Mood in ui as shown", ["busy-main-queue(Mood)"]),
    ("ui", "main", 999, "fetch Mood in ui as shown", []),
    ("ui", "background", 1_000, "fetch Mood in ui as shown", []),
    // Only registered objects are merged.
    ("ui", "main", 1_000, "fetch Mood limit 20 in ui as shown", []),
  ])
  func largeMainQueueMergeIsFound(
    context: String, queue: String, moods: Int, shown: String, names: [String]
  ) throws {
    let found = try findings(
      [
        "context \(context) queue \(queue)", shown, "fetch Mood as theirs",
        "set theirs with latitude 1", "save as news", "merge news in \(context)",
      ], moods: moods)
    #expect(found.map(\.name) == names)
    #expect(found.allSatisfy { $0.count == moods && $0.callSite?.line == 6 })
  }

  /// The merge runs in the step that saves, but belongs to the other context.
  @Test func automaticMergeIsFound() throws {
    let found = try findings(
      [
        "context ui queue main merges yes", "fetch Mood in ui as shown", "fetch Mood as theirs",
        "set theirs with latitude 1", "save",
      ], moods: 1_000)
    #expect(found.map(\.name) == ["busy-main-queue(Mood)"])
    #expect(found.map(\.what) == ["objects merged at once on the main queue"])
    #expect(found.map { $0.callSite?.line } == [5])
  }

  /// Returns the findings of a scripted save on a queue.
  private func saveFindings(_ objects: Int, queue: ContextQueue) -> [Finding] {
    let script = EventScript()
    let steps = [
      Step(
        verb: .context, subject: "ui", options: [StepOption(.queue, .choice(queue.rawValue))],
        location: EventScript.moodFetch),
      Step(verb: .save, options: [StepOption(.context, .name("ui"))], location: EventScript.touch),
    ]
    script.step(steps[0].text, at: EventScript.moodFetch) {}
    script.step(steps[1].text, at: EventScript.touch) {
      script.save("Mood", sql: "UPDATE ZMOOD SET ZLATITUDE = ?, Z_OPT = ?", rows: objects)
    }
    let work = FinishedWork(
      recording: script.recorder.recording(steps: script.steps), steps: steps,
      model: NSManagedObjectModel())
    return FindingSearch.all(of: work, steps: []).findings
  }

  private func findings(_ lines: [String], moods: Int = 60) throws -> [Finding] {
    let typed = try TypedSession(moods: moods)
    let outcomes = try typed.run(lines)
    let work = typed.session.work(of: outcomes.map(\.step))
    return outcomes.flatMap(\.findings) + FindingSearch.all(of: work, steps: []).findings
  }

  @Test("Refreshes of thousands of results are examined in linear time")
  func thousandsOfRefreshesAreExamined() throws {
    let typed = try TypedSession(moods: 20)
    let lines = ["fetch Mood limit 5 as m", "refresh m keep no", "drop m"]
    let steps = try typed.run(Array(repeating: lines, count: 1_500).flatMap { $0 }).map(\.step)
    let work = FinishedWork(
      recording: typed.session.recording, steps: steps, model: typed.session.model)
    let begin = threadTime()
    let found = LostChangesRule.findings(in: work)
    #expect(threadTime() - begin < 2)
    #expect(found.isEmpty)
  }
}
