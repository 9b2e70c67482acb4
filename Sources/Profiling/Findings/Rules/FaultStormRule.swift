import ProfileEvents
import ScenarioLanguage
import StatementAnalysis

/// Finds object faults or to-many relationship faults that each ran their own SELECT.
///
/// It fires if, within one step and from one call site, at least `threshold` faults of the same
/// entity or relationship were fulfilled from the database by the same SQL.
/// `IneffectivePrefetchRule` reports faults that were prefetched, and `CountPerRowRule`
/// relationships that were only counted.
package enum FaultStormRule {
  static let rule = Rule(
    .faultStorm, chapter: 8,
    meaning: "Many faults fired one at a time, and each ran its own SELECT (the N+1 problem).",
    condition:
      "\(threshold) faults of one entity or one relationship, from one line within one step, "
      + "all fulfilled from the database by the same SQL. Row-cache hits don't count.",
    remedy: "Let the fetch load the rows (`includesPropertyValues`, `returnsObjectsAsFaults = "
      + "false`), prefetch the relationship, or keep a strong reference to a small set of "
      + "objects.",
    metrics: [.selects, .misses, .faults, .rows], search: .step(findings))
  package static let threshold = StatementShape.fewestRepeats

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Storm.all(in: recording, context: context)
      .filter { !$0.storm.isThroughParent }
      .filter { !$0.storm.isPrefetched(by: context.fetch) && !$0.storm.isOfNumbers(in: context) }
      .map { storm, count in
        storm.finding(rule.name, count: count, cure: cure(storm, context.fetch))
      }
  }

  private static func cure(_ storm: Storm, _ fetch: Step?) -> SuggestedFix {
    guard let keyPath = storm.keyPath else { return objectCure(fetch) }
    return storm.isForChild ? Storm.parentCure(keyPath) : Storm.prefetchCure(keyPath, fetch)
  }

  /// Returns the fix for fetched objects: the fetch must load their rows.
  ///
  /// If the fetch did load them, the rows were released since, by a refresh or with their objects;
  /// then one more fetch loads all of them.
  private static func objectCure(_ fetch: Step?) -> SuggestedFix {
    if let fetch, fetch.flag(of: .values) == false {
      return SuggestedFix(
        now: "request.includesPropertyValues = false", fetch: fetch.without(.values))
    }
    return SuggestedFix(swift: [
      "request.predicate = NSPredicate(format: \"self IN %@\", objects)",
      "request.returnsObjectsAsFaults = false",
    ])
  }
}
