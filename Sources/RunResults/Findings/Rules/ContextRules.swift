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
    countsOne: true, search: .work(findings))
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
        fix: SuggestedFix(swift: [
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
        fix: SuggestedFix(swift: [
          "for (number, object) in objects.enumerated() {",
          "  change(object)  // in the background",
          "  if number % 200 == 199 { try context.save() }  // each save is merged by itself",
          "}", "try context.save()",
        ]))
    }
  }
}

/// Finds objects that stay registered although no result references them.
///
/// It fires if every result was released and nothing is left to save, but a context still has at
/// least `threshold` registered objects: relationships that were read from both ends form reference
/// cycles, or the context or its undo manager retains the objects.
enum RetainedObjectsRule {
  static let rule = Rule(
    .keptAlive, chapter: 6,
    meaning:
      "Objects stay registered after every result is released: relationships form a reference "
      + "cycle, or the context retains its objects.",
    condition:
      "No result exists, nothing is left to save, and a context has \(threshold) registered "
      + "objects or more.",
    remedy: "Refresh one end of the relationship before its objects are released, or reset the "
      + "context; turn off `retainsRegisteredObjects` and remove an undo manager that isn't "
      + "needed.",
    metrics: [.registered, .peak], search: .work(findings))
  /// The minimum number of registered objects that's worth a finding.
  static let threshold = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    guard let last = work.parts.last, work.names.results.isEmpty, !hasUnsavedChanges(work) else {
      return []
    }
    let gauges = work.recording.gauges
    let contexts = work.names.contexts.keys.sorted()
    let fullest = contexts.max { one, other in
      (gauges[ScopedMetric(.registered, .context(one))] ?? 0)
        < (gauges[ScopedMetric(.registered, .context(other))] ?? 0)
    }
    guard let context = fullest, let shape = work.names.contexts[context],
      let count = gauges[ScopedMetric(.registered, .context(context))], count >= threshold,
      let entity = mostRegistered(in: context, work)
    else { return [] }
    let drop = work.parts.last { $0.step.verb == .drop } ?? last
    return [
      Finding(
        rule: rule.name, subject: entity, count: count, callSite: drop.recorded.location,
        what: "objects that no result references any longer", fix: fix(shape, of: context, work))
    ]
  }

  /// Returns whether a context has unsaved changes, which keep objects registered.
  private static func hasUnsavedChanges(_ work: FinishedWork) -> Bool {
    var changed: Set<String> = []
    for part in work.parts {
      switch part.step.verb {
      case .insert, .set, .relate, .delete, .undo, .merge: changed.insert(part.context)
      case .save where part.step.fails == nil:
        changed.remove(part.context)
        if let parent = part.shape.parent { changed.insert(parent) }
      case .rollback, .reset: changed.remove(part.context)
      case .drop: changed.remove(part.step.subject)
      default: break
      }
    }
    return !changed.isEmpty
  }

  /// Returns the entity with the most registered objects in a context or, if its objects aren't
  /// known, in all contexts.
  private static func mostRegistered(in context: String, _ work: FinishedWork) -> String? {
    var counts = work.registered[context] ?? [:]
    if counts.isEmpty {
      for (scoped, count) in work.recording.gauges where scoped.metric == .registered {
        if case .entity(let entity) = scoped.scope { counts[entity] = count }
      }
    }
    let most = counts.filter { $0.value > 0 }.max { ($0.value, $1.key) < ($1.value, $0.key) }
    return most?.key
  }

  private static func fix(
    _ shape: ContextShape, of context: String, _ work: FinishedWork
  ) -> SuggestedFix {
    if shape.retainsObjects == true {
      return SuggestedFix(now: "context.retainsRegisteredObjects = true")
    }
    // An undo manager retains only the objects of changes.
    let hasChanges = work.parts.contains {
      $0.context == context && [.insert, .set, .relate, .delete].contains($0.step.verb)
    }
    if shape.isUndoable == true, hasChanges {
      return SuggestedFix(
        now: "context.undoManager = UndoManager()", swift: ["context.undoManager = nil"])
    }
    return SuggestedFix(swift: [
      "for owner in owners { context.refresh(owner, mergeChanges: true) }  // before they are released"
    ])
  }
}
