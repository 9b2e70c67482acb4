import ProfileEvents
import ScenarioLanguage

/// Finds refreshes that discarded unsaved changes.
///
/// It fires if a step changed objects of a result and a later step refreshed the same objects
/// without keeping changes, with no save, rollback, undo, or reset in between.
enum LostChangesRule {
  static let rule = Rule(
    .lostChanges, chapter: 6,
    meaning: "Refreshing objects silently discarded their unsaved changes.",
    condition:
      "A `refresh` with `keep no` of objects of a result that was changed, with no `save`, "
      + "`rollback`, `undo`, or `reset` in between.",
    remedy: "Call `refresh(_:mergeChanges: true)`, or `rollback()` if the changes are to be "
      + "discarded.",
    search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { place in
      let part = work.parts[place]
      guard part.step.verb == .refresh, part.step.flag(of: .keep) == false,
        let source = work.source(ofResultAt: place)
      else { return nil }
      let refreshed = part.step.part(of: source.rows)
      var lost = 0
      for earlier in work.parts[(source.place + 1)..<place].reversed()
      where earlier.context == part.context {
        if [.save, .rollback, .undo, .reset].contains(earlier.step.verb) { break }
        guard earlier.step.verb == .set || earlier.step.verb == .relate,
          earlier.step.subject == part.step.subject
        else { continue }
        lost = max(lost, earlier.step.part(of: source.rows).clamped(to: refreshed).count)
      }
      guard lost > 0 else { return nil }
      return Finding(
        rule: rule.name, subject: work.parts[source.place].step.subject, count: lost,
        callSite: part.recorded.location, what: "objects whose unsaved changes were discarded",
        cure: SuggestedFix(
          now: "context.refresh(object, mergeChanges: false)",
          swift: ["context.refresh(object, mergeChanges: true)"]))
    }
  }
}
