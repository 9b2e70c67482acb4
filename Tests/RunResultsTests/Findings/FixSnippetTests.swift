import OpenCoreData
import ProfileEvents
import Profiling
import Testing
import WorkbenchFixtures

@testable import RunResults
@testable import ScenarioLanguage

/// A custom class, as an app would have it.
private final class Mood: NSManagedObject {
  var remoteIdentifier: String? { value(forKey: "remoteIdentifier") as? String }
}

/// Checks that the suggested Swift code compiles.
///
/// `Snippets` contains the lines of each fix; the tests search for the suggested lines in this
/// file.
@Suite("Suggested fixes")
struct FixSnippetTests {
  @Test(arguments: [
    ["fetch Mood batch 20 as moods", "walk moods array yes"],
    ["fetch Mood as moods", "walk moods"],
    ["fetch Mood as moods", "touch moods date limit 20"],
    ["fetch Mood as moods", "set moods with latitude 1", "refresh moods keep no"],
    ["fetch Mood faults no as moods", "batch-update Mood with latitude 7", "touch moods latitude"],
    ["fetch Mood faults no as moods", "batch-delete Mood", "touch moods date"],
    ["fetch Mood result ids as moods", "touch moods country.numericISO3166Code"],
    [
      "context ui queue main", "fetch Mood in ui as moods", "set moods with latitude 1 in ui",
      "save in ui",
    ],
    [
      "context ui queue main merges yes", "fetch Mood in ui as shown", "fetch Mood as theirs",
      "set theirs with latitude 1", "save",
    ],
  ])
  func suggestedFixesCompile(lines: [String]) throws {
    let typed = try TypedSession(moods: 1_000)
    let outcomes = try typed.run(lines)
    let work = FinishedWork(
      recording: typed.session.recording, steps: outcomes.map(\.step), model: typed.session.model)
    try expectCompiledSnippets(
      outcomes.flatMap(\.findings) + FindingSearch.all(of: work, steps: []).findings)
  }

  /// Several objects can have the same key, so the suggested code groups by key.
  @Test func fetchLoopFixCompilesWithEqualKeys() throws {
    let store = try TypedSession.store()
    let script = EventScript()
    script.step("program", at: EventScript.touch) {
      for _ in 0..<10 {
        script.fetch(
          "Mood", sql: "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZREMOTEIDENTIFIER = ?", rows: 1)
      }
    }
    let work = FinishedWork(
      recording: script.recorder.recording(steps: script.steps), steps: [], model: store.model)
    let found = FindingSearch.all(of: work, steps: []).findings
    #expect(found.map(\.name) == ["fetch-loop(Mood)"])
    try expectCompiledSnippets(found)
    #expect(!found.flatMap(\.fix.swift).joined().contains("uniqueKeysWithValues"))
  }

  /// The limit of a search for one object would be that of the fetch for all values.
  @Test func fetchLoopFixRemovesTheLimit() throws {
    let found = try fetchLoop(Step(verb: .fetch, subject: "Mood", location: EventScript.touch))
    #expect(found.fix.swift.contains("request.fetchLimit = 0"))
    try expectCompiledSnippets([found])
  }

  /// The code groups objects by a property.
  @Test(arguments: [ResultKind.ids, .count, .dictionaries])
  func fetchLoopFixHasNoCodeForOtherResults(kind: ResultKind) throws {
    let step = Step(verb: .fetch, subject: "Mood", location: EventScript.touch)
    let found = try fetchLoop(step.with(.result, .choice(kind.rawValue)))
    let advice =
      kind == .count ? "grouped by the value that changes" : "IN for the value that changes"
    #expect(found.fix.swift.isEmpty && found.fix.advice.contains(advice))
    let count = try fetchLoop(Step(verb: .count, subject: "Mood", location: EventScript.touch))
    #expect(count.fix.swift.isEmpty && count.fix.advice.contains("grouped by"))
  }

  /// Returns the finding for a step that searches for one object again and again.
  private func fetchLoop(_ step: Step) throws -> Finding {
    let script = EventScript()
    script.step(step.text, at: EventScript.touch) {
      for _ in 0..<10 {
        script.fetch(
          "Mood",
          sql: "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZREMOTEIDENTIFIER = ?  LIMIT 1", rows: 1)
      }
    }
    let work = FinishedWork(
      recording: script.recorder.recording(steps: script.steps), steps: [step],
      model: try TypedSession.store().model)
    return try #require(FindingSearch.all(of: work, steps: []).findings.first)
  }

  /// Which value changes is unknown if there are several, or if it's one of a joined table.
  @Test(arguments: [
    "WHERE ( t0.ZREMOTEIDENTIFIER = ? AND  t0.ZLATITUDE = ?)",
    "JOIN ZCOUNTRY t1 ON t0.ZCOUNTRY = t1.Z_PK WHERE  t1.ZNUMERICISO3166CODE = ?",
    "WHERE NSCoreDataLike( t0.ZREMOTEIDENTIFIER, ?, 0)",
  ])
  func fetchLoopFixHasNoCodeForOtherConditions(condition: String) throws {
    let script = EventScript()
    script.step("program", at: EventScript.touch) {
      for _ in 0..<10 {
        script.fetch("Mood", sql: "SELECT 0, t0.Z_PK FROM ZMOOD t0 \(condition)", rows: 1)
      }
    }
    let work = FinishedWork(
      recording: script.recorder.recording(steps: script.steps), steps: [],
      model: try TypedSession.store().model)
    let found = try #require(FindingSearch.all(of: work, steps: []).findings.first)
    #expect(found.fix.swift.isEmpty && found.fix.advice.contains("IN for the value that changes"))
  }

  /// Lines and the line that's printed where a fix has only one.
  @Test(
    "A fix is valid on one line, too",
    arguments: [
      (["a = 1", "b = 2"], "a = 1; b = 2"), (["a()  // at the end"], "a()  // at the end"),
      (["// at first", "a()", "  // at the end"], "/* at first */ a() // at the end"),
      (
        ["Context.mergeChanges(", "  fromRemoteContextSave: [key: ids], into: [context])"],
        "Context.mergeChanges(fromRemoteContextSave: [key: ids], into: [context])"
      ),
      (
        [
          "try await container.perform { context in", "  // change it", "  try context.save()", "}",
        ],
        "try await container.perform { context in /* change it */ try context.save() }"
      ),
      (
        [
          "for object in objects {", "  change(object)  // later", "  save(", "    it,", "    all",
          "  )", "}", "end()",
        ],
        "for object in objects { change(object) /* later */; save(it, all) }; end()"
      ),
      ([], nil),
    ] as [([String], String?)])
  func fixesAreValidOnOneLine(lines: [String], code: String?) {
    let fix = SuggestedFix(swift: lines, advice: "see there")
    #expect(fix.code == code)
    #expect(fix.text == code ?? "see there")
  }

  private func expectCompiledSnippets(_ findings: [Finding]) throws {
    #expect(!findings.isEmpty)
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
      .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    for finding in findings where !finding.fix.swift.isEmpty {
      let lines = finding.fix.swift.map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(source.firstRange(of: lines) != nil, "\(finding.name): \(lines)")
      #expect(!lines.contains { $0.contains("try?") || $0.contains("try!") })
    }
  }
}

/// Code that is only compiled.
private enum Snippets {
  static func fetchLoop(
    _ request: NSFetchRequest<Mood>, _ values: [String], _ context: NSManagedObjectContext
  ) throws -> Int {
    request.predicate = NSPredicate(format: "remoteIdentifier IN %@", values)
    let byKey = Dictionary(grouping: try context.fetch(request)) { $0.remoteIdentifier }
    return byKey.count
  }

  static func limitedFetchLoop(
    _ request: NSFetchRequest<Mood>, _ values: [String], _ context: NSManagedObjectContext
  ) throws -> Int {
    request.predicate = NSPredicate(format: "remoteIdentifier IN %@", values)
    request.fetchLimit = 0
    let byKey = Dictionary(grouping: try context.fetch(request)) { $0.remoteIdentifier }
    return byKey.count
  }

  static func busySave(_ container: NSPersistentContainer) async throws {
    try await container.performBackgroundTask { context in
      // change the objects here
      try context.save()
    }
  }

  static func busyMerge(_ objects: [Mood], _ context: NSManagedObjectContext) throws {
    func change(_ object: Mood) {}
    for (number, object) in objects.enumerated() {
      change(object)  // in the background
      if number % 200 == 199 { try context.save() }  // each save is merged by itself
    }
    try context.save()
  }

  static func batchWalked(
    _ request: NSFetchRequest<Mood>, _ context: NSManagedObjectContext
  ) throws -> Int {
    let objects = try context.fetchBatched(request)
    return objects.count
  }

  static func fetchToCount(
    _ request: NSFetchRequest<Mood>, _ context: NSManagedObjectContext
  ) throws -> Int {
    let number = try context.count(for: request)
    return number
  }

  static func fetchOfIDs(_ request: NSFetchRequest<NSManagedObject>) {
    request.resultType = .managedObjectResultType
    request.relationshipKeyPathsForPrefetching = ["country"]
  }

  static func partlyRead(_ request: NSFetchRequest<Mood>) {
    request.fetchBatchSize = 20
  }

  static func unmergedUpdate(
    _ request: NSBatchUpdateRequest, _ ids: [NSManagedObjectID], _ context: NSManagedObjectContext
  ) {
    request.resultType = .updatedObjectIDsResultType
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
  }

  static func unmergedDeletion(
    _ request: NSBatchDeleteRequest, _ ids: [NSManagedObjectID], _ context: NSManagedObjectContext
  ) {
    request.resultType = .resultTypeObjectIDs
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
  }

  static func lostChanges(_ object: Mood, _ context: NSManagedObjectContext) {
    context.refresh(object, mergeChanges: true)
  }
}
