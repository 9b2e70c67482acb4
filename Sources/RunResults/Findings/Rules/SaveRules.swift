import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds many consecutive small saves.
///
/// It fires if at least `threshold` saves of one context, each of at most `smallSave` objects,
/// follow each other with no larger save in between. Each save is one transaction, or two if it
/// inserts. The time between saves doesn't matter because it doesn't affect their cost.
enum ChattySavesRule {
  static let rule = Rule(
    .chattySaves, chapter: 8,
    meaning: "Many small saves follow each other; each is one transaction, or two if it inserts.",
    condition:
      "\(threshold) or more saves of one context that reached the store, each of \(smallSave) objects "
      + "or fewer, with no larger one in between. Time doesn't matter.",
    remedy: "Save once, or in batches that fit in memory.",
    metrics: [.saves, .transactions], search: .work(findings))
  /// The minimum number of consecutive saves.
  static let threshold = 10
  /// The maximum number of objects in a small save.
  static let smallSave = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    Dictionary(grouping: RecordedSave.all(in: work.recording)) { $0.save.context ?? "" }
      .sorted { ($0.value.first?.save.id ?? 0) < ($1.value.first?.save.id ?? 0) }
      .flatMap { runs(of: $0.value).compactMap(finding) }
  }

  /// Returns the runs of consecutive small saves.
  private static func runs(of saves: [RecordedSave]) -> [[RecordedSave]] {
    saves.split { $0.save.rows > smallSave }.map(Array.init).filter { $0.count >= threshold }
  }

  private static func finding(_ saves: [RecordedSave]) -> Finding? {
    guard let entity = RecordedSave.mostWritten(in: saves) else { return nil }
    let objects = saves.reduce(0) { $0 + $1.save.rows }
    return Finding(
      rule: rule.name, subject: entity, count: saves.count, callSite: saves.first?.save.callSite,
      what: "saves of \(NumberText.counted(objects, "object")) in total",
      fix: SuggestedFix(swift: ["if isLastChange { try context.save() }"]))
  }
}

/// Finds saves that wrote only new row versions.
///
/// It fires if every statement of a save is an UPDATE that sets only the row version: properties
/// were set to the values they had, or to values that aren't stored. It doesn't fire if the save
/// wrote anything else, because a changed relationship also gives its owner a new row version.
enum NeedlessUpdateRule {
  static let rule = Rule(
    .needlessUpdate, chapter: 7,
    meaning: "A save updated the row version and nothing else, because properties were set to the "
      + "values they had.",
    condition: "All statements of a save are UPDATEs that set only `Z_OPT`.",
    remedy:
      "Set a property only if its value differs: `if object.name != name { object.name = name "
      + "}`.",
    metrics: [.updates], search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    RecordedSave.all(in: work.recording).compactMap { written in
      guard written.statements.allSatisfy(setsOnlyVersion),
        let entity = RecordedSave.mostWritten(in: [written])
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: written.statements.count,
        callSite: written.save.callSite, what: "rows written only with a new version",
        sql: written.statements.first?.statement?.sql,
        fix: fix(key(setBefore: written.save, in: work) ?? "KEY"))
    }
  }

  private static func fix(_ key: String) -> SuggestedFix {
    SuggestedFix(swift: ["if object.\(key) != value { object.\(key) = value }"])
  }

  /// Returns the first key that the last `set` step before a save assigned in the same context or
  /// in a child of it, or `nil` if there's no such step.
  private static func key(setBefore save: RecordedEvent, in work: FinishedWork) -> String? {
    guard let context = save.context else { return nil }
    return work.parts.last {
      $0.recorded.through < save.id && $0.step.verb == .set
        && ($0.context == context || $0.shape.parent == context)
    }?.step.assignments.first?.key
  }

  private static func setsOnlyVersion(_ event: RecordedEvent) -> Bool {
    // A server's store counts the version up, and updates the rows of a list.
    let assignment = #/ SET Z_OPT = [\w.?]+( \+ 1)? (WHERE|FROM) /#.ignoresCase()
    return event.statement?.kind == .update
      && event.statement?.sql.firstMatch(of: assignment) != nil
  }
}

extension Step {
  /// Returns whether the step refreshes all objects in a range of a result without keeping changes.
  fileprivate func discards(_ range: Range<Int>, of name: String, among count: Int) -> Bool {
    verb == .refresh && subject == name && flag(of: .keep) == false
      && part(of: count).clamped(to: range) == range
  }
}

/// Finds refreshes that discarded unsaved changes.
///
/// It fires if a step changed objects of a result and a later step refreshed the same objects
/// without keeping changes, with no save, rollback, undo, or reset in between. A save that failed
/// keeps the changes, and a second refresh of the same objects has none to discard.
enum LostChangesRule {
  static let rule = Rule(
    .lostChanges, chapter: 6,
    meaning: "Refreshing objects silently discarded their unsaved changes.",
    condition:
      "A `refresh` with `keep no` of objects of a result that was changed, with no `save` that "
      + "succeeded, `rollback`, `undo`, or `reset` in between.",
    remedy: "Call `refresh(_:mergeChanges: true)`, or `rollback()` if the changes are to be "
      + "discarded.",
    search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { position in
      let part = work.parts[position]
      guard part.step.verb == .refresh, part.step.flag(of: .keep) == false,
        let source = work.source(ofResultAt: position)
      else { return nil }
      let refreshed = part.step.part(of: source.rows)
      var lost = 0
      for earlier in work.parts[(source.position + 1)..<position].reversed()
      where earlier.context == part.context {
        if [.rollback, .undo, .reset].contains(earlier.step.verb) { break }
        if earlier.step.verb == .save, earlier.step.fails == nil { break }
        if earlier.step.discards(refreshed, of: part.step.subject, among: source.rows) { break }
        guard earlier.step.verb == .set || earlier.step.verb == .relate,
          earlier.step.subject == part.step.subject
        else { continue }
        lost = max(lost, earlier.step.part(of: source.rows).clamped(to: refreshed).count)
      }
      guard lost > 0 else { return nil }
      return Finding(
        rule: rule.name, subject: work.parts[source.position].step.subject, count: lost,
        callSite: part.recorded.location, what: "objects whose unsaved changes were discarded",
        fix: SuggestedFix(
          now: "context.refresh(object, mergeChanges: false)",
          swift: ["context.refresh(object, mergeChanges: true)"]))
    }
  }
}
