import OpenCoreData
import ProfileEvents
import ScenarioLanguage

/// Finds fetched objects that were sorted in memory.
///
/// It fires if the comparisons fired at least `threshold` faults, or loaded at least two batches of
/// a batched result. Sorting reads all objects, which defeats faulting and batching. Objects whose
/// values are loaded are cheap to compare, so they don't count. A fetch with a limit or an offset
/// doesn't count either, because a request that sorts would return other objects.
enum SortedInMemoryRule {
  static let rule = Rule(
    .sortedInMemory, chapter: 8,
    meaning: "Fetched objects were sorted in memory, which reads every object.",
    condition:
      "A `walk` with `sort`, through the whole result of a fetch without `limit` and `offset`, "
      + "whose comparisons fired \(threshold) faults (wherever they were fulfilled from) or "
      + "loaded \(BatchWalkedRule.fewestPages) batches. The keys are persistent attributes.",
    remedy: "Use the request's `sortDescriptors`, with an index if the list is long and only its "
      + "beginning is shown.",
    metrics: [.faults, .hits], search: .step(findings))
  /// The minimum number of faults, which is the threshold of a fault storm.
  static let threshold = FaultStormRule.threshold

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    guard let sorting = context.sorting, let fetch = context.fetch,
      fetch.option(.limit) == nil, fetch.option(.offset) == nil
    else { return [] }
    let caused = recording.events.prefix { $0.id <= sorting.through }
    let pages = caused.filter { $0.kind == .batchLoad }
    let faults = caused.filter { $0.kind == .objectFault }
    let arePages = pages.count >= BatchWalkedRule.fewestPages
    guard arePages || faults.count >= threshold else { return [] }
    let keys = sorting.keys.map {
      "NSSortDescriptor(key: \"\($0.keyPath)\", ascending: \($0.isAscending))"
    }
    let cured = fetch.with(.sort, .sortKeys(sorting.keys))
    return [
      Finding(
        rule: rule.name, subject: fetch.subject, count: arePages ? pages.count : faults.count,
        callSite: (arePages ? pages : faults).first?.callSite,
        what: arePages ? "batches loaded to sort in memory" : "faults fired to sort in memory",
        cure: SuggestedFix(
          swift: ["request.sortDescriptors = [\(keys.joined(separator: ", "))]"], fetch: cured,
          spares: .sort))
    ]
  }
}
