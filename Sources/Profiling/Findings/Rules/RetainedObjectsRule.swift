import OpenCoreData
import ProfileEvents
import ScenarioLanguage

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
      let entity = mostRegistered(in: gauges)
    else { return [] }
    let drop = work.parts.last { $0.step.verb == .drop } ?? last
    return [
      Finding(
        rule: rule.name, subject: entity, count: count, callSite: drop.recorded.location,
        what: "objects that no result references any longer", cure: cure(shape))
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

  private static func mostRegistered(in gauges: [ScopedMetric: Int]) -> String? {
    var most: (entity: String, count: Int)?
    for (scoped, count) in gauges where scoped.metric == .registered {
      guard case .entity(let entity) = scoped.scope, count > 0 else { continue }
      if let known = most, (known.count, entity) >= (count, known.entity) { continue }
      most = (entity, count)
    }
    return most?.entity
  }

  private static func cure(_ shape: ContextShape) -> SuggestedFix {
    if shape.retainsObjects == true {
      return SuggestedFix(now: "context.retainsRegisteredObjects = true")
    }
    if shape.isUndoable == true {
      return SuggestedFix(
        now: "context.undoManager = UndoManager()", swift: ["context.undoManager = nil"])
    }
    return SuggestedFix(swift: [
      "for owner in owners { context.refresh(owner, mergeChanges: true) }  // before they are released"
    ])
  }
}
