import OpenCoreData
import ProfileEvents
import ScenarioLanguage

/// The rule that finds fetched objects which were sorted in memory.
///
/// It fires when comparing them fired at least `threshold` faults, or loaded at least two pages of a batched
/// result: to know which object is the first, all of them are read, and what faults and pages were to
/// spare is spent. Objects whose values were there are compared for little, and a part of a list that was
/// cut by the fetch is another part when the request sorts it.
enum SortedInMemory: StepRule {
  static let rule = RuleName.sortedInMemory
  /// As many as make a fault storm.
  static let threshold = FaultStorm.threshold

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    guard let sorting = context.sorting, let fetch = context.fetch,
      fetch.option(.limit) == nil, fetch.option(.offset) == nil
    else { return [] }
    let caused = recording.events.prefix { $0.id <= sorting.through }
    let pages = caused.filter { $0.kind == .batchLoad }
    let faults = caused.filter { $0.kind == .objectFault }
    let arePages = pages.count >= BatchWalked.fewestPages
    guard arePages || faults.count >= threshold else { return [] }
    let keys = sorting.keys.map {
      "NSSortDescriptor(key: \"\($0.keyPath)\", ascending: \($0.isAscending))"
    }
    let cured = fetch.with(.sort, .sortKeys(sorting.keys))
    return [
      Finding(
        rule: rule, subject: fetch.subject, count: arePages ? pages.count : faults.count,
        callSite: (arePages ? pages : faults).first?.callSite,
        what: arePages ? "pages loaded to sort in memory" : "faults fired to sort in memory",
        cure: SuggestedFix(
          swift: ["request.sortDescriptors = [\(keys.joined(separator: ", "))]"], fetch: cured,
          spares: .sort))
    ]
  }
}
