import OpenCoreData
import ProfileEvents
import ScenarioLanguage

/// Finds reads of values that are stale after a batch request.
///
/// It fires if a batch update or delete changed rows, an existing result certainly contains some of
/// them, and a later step read what was changed from memory, with no merge or reset in between. A
/// refresh isn't a fix by itself: its faults are fulfilled from the row cache, which the batch
/// request didn't update either.
enum UnmergedBatchRule {
  static let rule = Rule(
    .unmergedBatch, chapter: 7,
    meaning: "A batch request changed rows of registered objects, and stale values were read.",
    condition:
      "A batch update or delete changed rows, its context had objects that are certainly among "
      + "them, and a later step reads what was changed with no `merge` or `reset` in between. A "
      + "`refresh` helps only if a fetch has updated the row cache before it.",
    remedy: "Call `mergeChanges(fromRemoteContextSave:into:)` with the object IDs that the request "
      + "returns.",
    search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { place in
      let part = work.parts[place]
      guard part.step.verb == .batchUpdate || part.step.verb == .batchDelete,
        let entity = work.model.entitiesByName[part.step.subject]
      else { return nil }
      let changed = work.events(of: part)
        .filter { $0.statement?.kind == .update || $0.statement?.kind == .delete }
        .reduce(0) { $0 + $1.rows }
      guard changed > 0, let reader = reader(after: place, of: entity, in: work) else { return nil }
      let isDelete = part.step.verb == .batchDelete
      let key = isDelete ? "NSDeletedObjectIDsKey" : "NSUpdatedObjectIDsKey"
      return Finding(
        rule: rule.name, subject: part.step.subject, count: changed,
        callSite: part.recorded.location,
        what:
          "rows changed beneath objects that were read at line \(reader.recorded.location.line)",
        cure: SuggestedFix(swift: [
          "request.resultType = \(isDelete ? ".resultTypeObjectIDs" : ".updatedObjectIDsResultType")",
          "NSManagedObjectContext.mergeChanges(",
          "  fromRemoteContextSave: [\(key): ids], into: [context])",
        ]))
    }
  }

  /// Returns the first step after a batch request that reads stale objects of an earlier result.
  private static func reader(
    after place: Int, of entity: NSEntityDescription, in work: FinishedWork
  ) -> FinishedWork.Part? {
    let family = names(of: entity)
    var held = held(before: place, family, in: work)
    var isFreshened = false
    for part in work.parts[(place + 1)...] {
      switch part.step.verb {
      case .merge, .reset, .rollback: return nil
      case .drop: held[part.step.subject] = nil
      case .fetch where family.contains(part.step.subject):
        isFreshened = true
        if let name = part.step.name { held[name] = nil }
      case .touch:
        guard let fetch = held[part.step.subject],
          reads(part.step, what: work.parts[place].step, changedAmong: fetch)
        else { continue }
        let faults = work.events(of: part).filter {
          $0.kind == .objectFault && family.contains($0.object?.entity ?? $0.entity ?? "")
        }
        // Rows from the database are current, and so are rows that a fetch added to the row cache.
        let isFromMemory = faults.allSatisfy { $0.source == .rowCache }
        if isFromMemory, faults.isEmpty || !isFreshened { return part }
      default: if let name = part.step.name { held[name] = nil }
      }
    }
    return nil
  }

  /// Returns the fetches of the results that exist in a batch request's context before it, by name.
  private static func held(
    before place: Int, _ family: Set<String>, in work: FinishedWork
  ) -> [String: Step] {
    let context = work.parts[place].context
    var held: [String: Step] = [:]
    for part in work.parts[..<place] where part.context == context {
      if part.step.verb == .reset { held = [:] }
      if part.step.verb == .drop { held[part.step.subject] = nil }
      guard let name = part.step.name else { continue }
      let isFetch = part.step.verb == .fetch && part.step.resultKind == .objects
      held[name] = isFetch && family.contains(part.step.subject) ? part.step : nil
    }
    return held
  }

  /// Returns whether a step certainly reads what a batch request changed.
  private static func reads(_ touch: Step, what batch: Step, changedAmong fetch: Step) -> Bool {
    if batch.verb == .batchUpdate {
      let keys = Set(batch.assignments.map(\.key))
      guard touch.reads.contains(where: { keys.contains($0) }) else { return false }
    }
    // Either every row was changed, or the fetch has no predicate or the same one, and all objects
    // are read.
    if batch.option(.predicate) == nil, batch.option(.limit) == nil, batch.option(.offset) == nil {
      return true
    }
    let parts: [OptionWord] = [.limit, .offset]
    guard parts.allSatisfy({ touch.option($0) == nil && fetch.option($0) == nil }) else {
      return false
    }
    return fetch.option(.predicate) == nil || fetch.option(.predicate) == batch.option(.predicate)
  }

  /// Returns the names of an entity, its parent entities, and its subentities, whose rows share a
  /// table.
  private static func names(of entity: NSEntityDescription) -> Set<String> {
    var family: Set<String> = []
    var open = [entity]
    while let next = open.popLast() {
      family.insert(next.name ?? "")
      open += next.subentities
    }
    var ancestor = entity.superentity
    while let parent = ancestor {
      family.insert(parent.name ?? "")
      ancestor = parent.superentity
    }
    return family
  }
}
