import ProfileEvents
import ScenarioLanguage

/// The rule that finds prefetches which did not spare a single trip.
///
/// It fires when at least `FaultStormRule.threshold` faults of a step were filled from the database, or
/// asked of a parent context, though the fetch behind the step had asked for them ahead of time.
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
      // A parent context's faults for a child are reported with the child's.
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
