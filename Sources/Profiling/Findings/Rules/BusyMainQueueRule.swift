import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds large saves and merges of a context on the main queue.
///
/// It fires if such a context saves at least `threshold` objects at once, or registers as many
/// changes in a merge. A frame takes 16 ms, but times vary between machines, so the rule checks the
/// number of objects.
enum BusyMainQueueRule {
  static let rule = Rule(
    .busyMainQueue, chapter: 8,
    meaning:
      "A context on the main queue saved or merged many objects at once, which blocks the user "
      + "interface.",
    condition:
      "\(NumberText.grouped(threshold)) objects in one save of a context with `queue main`, or "
      + "in one merge into it, not counting objects that aren't registered. Time doesn't matter.",
    remedy: "Change and save in a background context and merge into the main one; save in batches "
      + "small enough to be merged within a frame.",
    search: .work(findings))
  /// The number of objects whose save or merge takes longer than a frame on a phone.
  static let threshold = 1_000

  static func findings(in work: FinishedWork) -> [Finding] {
    saves(in: work) + merges(in: work)
  }

  private static func saves(in work: FinishedWork) -> [Finding] {
    var saves = RecordedSave.all(in: work.recording)[...]
    return work.parts.compactMap { part in
      guard part.step.verb == .save, part.shape.queue == .main else { return nil }
      while let next = saves.first, next.save.id <= part.recorded.after { saves.removeFirst() }
      let mine = saves.prefix { $0.save.id <= part.recorded.through }
      guard let largest = mine.max(by: { $0.save.rows < $1.save.rows }),
        largest.save.rows >= threshold, let entity = RecordedSave.mostWritten(in: [largest])
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: largest.save.rows,
        callSite: part.recorded.location,
        what: "objects saved at once on the main queue",
        cure: SuggestedFix(swift: [
          "try await container.performBackgroundTask { context in",
          "  // change the objects here", "  try context.save()", "}",
        ]))
    }
  }

  /// Returns the findings for merges, whose events name the context because a merge can run
  /// automatically within a step of another context.
  private static func merges(in work: FinishedWork) -> [Finding] {
    let contexts = Set(
      work.parts.filter {
        $0.step.verb == .context && $0.step.choice(of: .queue) == ContextQueue.main
      }
      .map(\.step.subject))
    return work.recording.events.compactMap { event in
      guard event.kind == .merge, event.rows >= threshold, let entity = event.entity,
        event.context.map(contexts.contains) == true
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: event.rows, callSite: event.callSite,
        what: "objects merged at once on the main queue",
        cure: SuggestedFix(swift: [
          "for (number, object) in objects.enumerated() {",
          "  change(object)  // in the background",
          "  if number % 200 == 199 { try context.save() }  // each save is merged by itself",
          "}", "try context.save()",
        ]))
    }
  }
}
