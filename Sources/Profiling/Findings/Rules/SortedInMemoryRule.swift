import OpenCoreData
import ProfileEvents
import ScenarioLanguage

/// The rule that finds fetched objects which were sorted in memory.
///
/// It fires when comparing them fired at least `threshold` faults, or loaded at least two pages of a batched
/// result: to know which object is the first, all of them are read, and what faults and pages were to
/// spare is spent. Objects whose values were there are compared for little, and a part of a list that was
/// cut by the fetch is another part when the request sorts it.
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
  /// As many as make a fault storm.
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
