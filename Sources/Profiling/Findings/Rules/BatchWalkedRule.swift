import ProfileEvents
import ScenarioLanguage

/// Finds batched fetches whose result was loaded completely for an array.
///
/// It fires if a fetch itself, or a step that converts the result to a Swift array, loaded at least
/// two batches. Loading all batches at once defeats the batch size and takes many statements.
enum BatchWalkedRule {
  static let rule = Rule(
    .batchWalked, chapter: 6,
    meaning: "The result of a fetch with a batch size was converted to an array, which loads every "
      + "batch at once.",
    condition:
      "\(fewestPages) batches or more, loaded by one call of `fetch(_:)` or for an array that a "
      + "step made of the result.",
    remedy: "Use `fetchBatched(_:)` and read its result by index, sorted by the request; or set no "
      + "batch size.",
    metrics: [.selects, .rows, .registered, .peak], search: .step(findings))
  /// The minimum number of batches; a batched fetch always loads one.
  static let fewestPages = 2

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    var order: [Int] = []
    var pages: [Int: [Event]] = [:]
    var fetch: Event?
    for event in recording.events {
      if event.kind == .fetch { fetch = event }
      guard event.kind == .batchLoad else { continue }
      // `fetch(_:)` loads batches with its own call site; a result that's read later has another
      // one.
      let isOfFetch = fetch?.entity == event.entity && fetch?.callSite == event.callSite
      guard let owner = isOfFetch ? fetch?.id : context.makesArray ? 0 : nil else { continue }
      if pages[owner] == nil { order.append(owner) }
      pages[owner, default: []].append(event)
    }
    return order.compactMap { owner in
      guard let loaded = pages[owner], loaded.count >= fewestPages, let entity = loaded[0].entity
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: loaded.count, callSite: loaded[0].callSite,
        what: "batches loaded at once for an array",
        sql: recording.statementTexts()[loaded[0].id],
        cure: cure(isArray: owner == 0, context.fetch))
    }
  }

  /// Returns the fix: a result that's read by index loads batches on demand, an array doesn't.
  private static func cure(isArray: Bool, _ fetch: Step?) -> SuggestedFix {
    isArray
      ? SuggestedFix(
        advice: "read the list by index and let the request sort and filter it, without an "
          + "Array of it; to load everything, fetch without a batch size",
        fetch: fetch?.without(.batch))
      : SuggestedFix(
        swift: ["let objects = try context.fetchBatched(request)"], fetch: fetch?.without(.batch))
  }
}
