import ProfileEvents
import ScenarioLanguage

/// Finds prefetches that didn't prevent faults from being fulfilled one at a time.
///
/// It fires if at least `FaultStormRule.threshold` faults of a step were fulfilled from the
/// database or by a parent context although the fetch had prefetched them.
enum IneffectivePrefetchRule {
  static let rule = Rule(
    .ineffectivePrefetch, chapter: 8,
    meaning: "A fetch prefetched a relationship, and its objects were still loaded one at a time.",
    condition:
      "\(FaultStormRule.threshold) faults, fulfilled from the database or by a parent context, "
      + "through a key path that the fetch has in `prefetch`. Replaces `fault-storm`.",
    remedy:
      "Keep a strong reference to the fetched objects, let the fetch load the rows, or fetch in "
      + "the parent context.",
    metrics: [.selects, .misses, .faults, .rows], search: .step(findings))

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Storm.all(in: recording, context: context).compactMap { storm, count in
      // Faults that a parent context fires for a child are reported with the child's faults.
      guard storm.isPrefetched(by: context.fetch), !storm.isForChild, let keyPath = storm.keyPath
      else { return nil }
      return storm.finding(
        rule.name, count: count, what: "faults despite the prefetch of \(keyPath)",
        cure: cure(storm, keyPath, context.fetch))
    }
  }

  private static func cure(_ storm: Storm, _ keyPath: String, _ fetch: Step?) -> SuggestedFix {
    if storm.isThroughParent {
      return Storm.parentCure(keyPath)
    }
    if fetch?.flag(of: .values) == false {
      return SuggestedFix(
        now: "request.includesPropertyValues = false", fetch: fetch?.without(.values))
    }
    return SuggestedFix(
      advice:
        "\(keyPath) was prefetched and released before it was read: keep a strong reference to the fetched objects"
    )
  }
}
