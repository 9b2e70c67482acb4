import ManagedModel
import ProfileEvents
import ScenarioLanguage

/// Finds reads of values that are stale after a batch request.
///
/// It fires if a batch update or delete changed rows, an existing result of a context of the same
/// coordinator certainly contains some of them, and a later step read what was changed from memory,
/// with no merge of such rows or reset in between. A refresh isn't a fix by itself: its faults are
/// fulfilled from the row cache, which the batch request didn't update either. A batch update that
/// sets the values of an earlier one again changes nothing.
enum UnmergedBatchRule {
  static let rule = Rule(
    .unmergedBatch, chapter: 7,
    meaning: "A batch request changed rows of registered objects, and stale values were read.",
    condition:
      "A batch update or delete changed rows, a context of its coordinator had objects that are "
      + "certainly among them, and a later step reads what was changed with no `merge` of rows of the "
      + "entity into the context, and no `reset` of it, in between. A `refresh` helps only with a fetch "
      + "before or after it, which updates the row cache.",
    remedy: "Call `mergeChanges(fromRemoteContextSave:into:)` with the object IDs that the request "
      + "returns.",
    search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { position in
      let part = work.parts[position]
      guard part.step.verb == .batchUpdate || part.step.verb == .batchDelete,
        let entity = work.model.entitiesByName[part.step.subject],
        !isRepeated(position, of: names(of: entity), in: work)
      else { return nil }
      let changed = work.events(of: part)
        .filter { $0.statement?.kind == .update || $0.statement?.kind == .delete }
        .reduce(0) { $0 + $1.rows }
      guard changed > 0, let reader = reader(after: position, of: entity, in: work) else {
        return nil
      }
      let isDelete = part.step.verb == .batchDelete
      let key = isDelete ? "NSDeletedObjectsKey" : "NSUpdatedObjectsKey"
      return Finding(
        rule: rule.name, subject: part.step.subject, count: changed,
        callSite: part.recorded.location,
        what:
          "rows changed beneath objects that were read at line \(reader.recorded.location.line)",
        fix: SuggestedFix(swift: [
          "request.resultType = \(isDelete ? ".resultTypeObjectIDs" : ".updatedObjectIDsResultType")",
          "NSManagedObjectContext.mergeChanges(",
          "  fromRemoteContextSave: [\(key): ids], into: [context])",
        ]))
    }
  }

  /// Returns whether an earlier batch update has set the same values, and nothing has written rows
  /// of the entities since.
  private static func isRepeated(
    _ position: Int, of family: Set<String>, in work: FinishedWork
  ) -> Bool {
    let part = work.parts[position]
    // A named result can have other objects the second time.
    guard part.step.verb == .batchUpdate, part.references.isEmpty,
      !part.step.assignments.contains(where: \.isExpression)
    else { return false }
    let words: [OptionWord] = [.predicate, .subentities]
    for earlier in work.parts[..<position].reversed() {
      let isSame =
        earlier.step.verb == .batchUpdate && earlier.step.subject == part.step.subject
        && earlier.step.assignments == part.step.assignments
        && words.allSatisfy { earlier.step.option($0) == part.step.option($0) }
      let isWritten = work.events(of: earlier).contains { event in
        switch event.statement?.kind {
        case .insert, .update: event.entity.map(family.contains) ?? true
        default: false
        }
      }
      // The events don't contain the statements of SQL steps.
      if earlier.step.verb == .sql { return false }
      if isSame, isWritten { return earlier.shape.coordinator == part.shape.coordinator }
      if isWritten { return false }
    }
    return false
  }

  /// Returns the first step after a batch request that reads stale objects of an earlier result.
  private static func reader(
    after position: Int, of entity: NSEntityDescription, in work: FinishedWork
  ) -> FinishedWork.Part? {
    var stale = StaleResults(after: position, of: names(of: entity), in: work)
    for index in work.parts.indices.dropFirst(position + 1) {
      guard !stale.isEmpty else { return nil }
      if stale.areRead(at: index) { return work.parts[index] }
      stale.take(index)
    }
    return nil
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

/// The results whose objects can be stale after a batch request.
private struct StaleResults {
  private struct Held {
    let fetch: Step
    let context: String
    /// Whether the fetch realized the objects, and no step turned them into faults since.
    var isRealized: Bool

    init(fetch: Step, context: String) {
      self.fetch = fetch
      self.context = context
      isRealized = fetch.flag(of: .faults) == false
    }
  }

  private let work: FinishedWork
  /// The position of the batch request.
  private let position: Int
  /// The names of the entities whose rows share a table with those that were changed.
  private let family: Set<String>
  /// The results of fetches of objects, and the lists of results controllers, by name.
  private var held: [String: Held] = [:]
  /// Whether the row cache can have current rows.
  private var isFreshened = false
  /// Whether rows of the entities were saved or merged since.
  private var hasSaved = false
  private var hasMerged = false

  /// Takes the results that exist at the batch request in contexts of its coordinator.
  init(after position: Int, of family: Set<String>, in work: FinishedWork) {
    self.position = position
    self.family = family
    self.work = work
    let batch = work.parts[position]
    for part in work.parts[..<position] {
      release(part)
      guard let name = part.step.name else { continue }
      let isFetch =
        part.step.verb == .results
        || (part.step.verb == .fetch && part.step.resultKind == .objects)
      let canBeStale =
        isFetch && family.contains(part.step.subject)
        && part.shape.coordinator == batch.shape.coordinator
      held[name] = canBeStale ? Held(fetch: part.step, context: part.context) : nil
    }
    if let name = batch.step.name { held[name] = nil }
  }

  var isEmpty: Bool { held.isEmpty }

  /// Returns whether a step certainly reads stale values.
  func areRead(at index: Int) -> Bool {
    let part = work.parts[index]
    guard part.step.verb == .touch, let result = held[part.step.subject],
      reads(part.step, what: work.parts[position].step, changedAmong: result.fetch),
      !canBeCurrent(index)
    else { return false }
    let faults = work.events(of: part).filter {
      $0.kind == .objectFault && family.contains($0.object?.entity ?? $0.entity ?? "")
    }
    // Rows from the database are current, and so are rows that a fetch added to the row cache.
    let isFromMemory = faults.allSatisfy { $0.source == .rowCache }
    return isFromMemory && (faults.isEmpty || !isFreshened)
  }

  /// Returns whether a save or merge can have updated the objects that a step reads, or its context
  /// is pinned to a query generation, so that it isn't meant to have current values.
  private func canBeCurrent(_ index: Int) -> Bool {
    let part = work.parts[index]
    if hasSaved, part.shape.mergesAutomatically == true { return true }
    if hasMerged, part.shape.parent != nil { return true }
    guard part.context != work.parts[position].context else { return false }
    let pin = work.parts[..<index].last {
      $0.step.verb == .pin && ($0.context == part.context || $0.context == part.shape.parent)
    }
    return pin.map { $0.step.text(of: .to) != "none" } ?? false
  }

  /// Applies the effects of a step after the batch request.
  mutating func take(_ index: Int) {
    let part = work.parts[index]
    release(part)
    releaseFulfilled(by: part)
    var again: Held?
    switch part.step.verb {
    case .merge where mergesRows(at: index):
      // A child context merges through its parents.
      let isChild = part.shape.parent != nil
      held = held.filter { !isChild && $0.value.context != part.context }
      (hasMerged, isFreshened) = (true, true)
    case .save where part.step.fails == nil && writes(part):
      held = held.filter { $0.value.context != part.shape.parent }
      (hasSaved, isFreshened) = (true, true)
    case .fetch where family.contains(part.step.subject):
      isFreshened = true
      if part.step.flag(of: .refreshes) == true {
        held = held.filter { $0.value.context != part.context }
      }
      again = takeFetch(part)
    case .count, .batchInsert, .batchUpdate, .batchDelete: break
    default: if !isFreshened { isFreshened = readsRows(part) }
    }
    if let name = part.step.name { held[name] = again }
  }

  /// Removes the results whose objects a fetch can have realized, and returns its own if it has all
  /// objects of the entity, as another one, which it doesn't update.
  private mutating func takeFetch(_ part: FinishedWork.Part) -> Held? {
    let fetch = part.step
    if fetch.flag(of: .faults) == false {
      held = held.filter { $0.value.context != part.context || $0.value.isRealized }
    }
    // After an update, other rows can match a predicate.
    guard fetch.resultKind == .objects, fetch.isWhole,
      work.parts[position].step.verb == .batchUpdate,
      held.values.contains(where: {
        $0.context == part.context && $0.fetch.subject == fetch.subject && $0.fetch.isWhole
      })
    else { return nil }
    return Held(fetch: fetch, context: part.context)
  }

  /// Removes the results of the contexts in which a step fulfilled faults with current rows.
  private mutating func releaseFulfilled(by part: FinishedWork.Part) {
    let contexts = Set(
      work.events(of: part).compactMap { event -> String? in
        let isCurrent = event.source == .database || event.source == .rowCache && isFreshened
        guard event.kind == .objectFault, isCurrent,
          family.contains(event.object?.entity ?? event.entity ?? "")
        else { return nil }
        return event.context
      })
    guard !contexts.isEmpty else { return }
    held = held.filter { !contexts.contains($0.value.context) }
  }

  /// Removes the results that a step releases, and notes which have faults.
  private mutating func release(_ part: FinishedWork.Part) {
    switch part.step.verb {
    case .reset: held = held.filter { $0.value.context != part.context }
    case .drop:
      held[part.step.subject] = nil
      held = held.filter { $0.value.context != part.step.subject }
    case .refresh:
      for (name, result) in held where result.context == part.context {
        held[name]?.isRealized = false
      }
    default: break
    }
  }

  /// Returns whether a merge can update objects that the batch request changed.
  private func mergesRows(at index: Int) -> Bool {
    let subject = work.parts[index].step.subject
    guard let source = work.parts[..<index].last(where: { $0.step.name == subject }) else {
      return true
    }
    return writes(source) || (source.step.verb != .save && family.contains(source.step.subject))
  }

  /// Returns whether a step wrote rows of the entities, or can have changed them in a parent
  /// context.
  private func writes(_ part: FinishedWork.Part) -> Bool {
    if part.step.verb == .save, part.shape.parent != nil { return true }
    return work.events(of: part).contains { event in
      switch event.statement?.kind {
      case .insert, .update, .delete: event.entity.map(family.contains) ?? true
      case .select, .transaction, .housekeeping, nil: false
      }
    }
  }

  /// Returns whether a step read rows of the entities from the store.
  private func readsRows(_ part: FinishedWork.Part) -> Bool {
    work.events(of: part).contains {
      $0.statement?.kind == .select && family.contains($0.entity ?? "")
    }
  }

  /// Returns whether a step certainly reads what a batch request changed.
  private func reads(_ touch: Step, what batch: Step, changedAmong fetch: Step) -> Bool {
    if batch.verb == .batchUpdate {
      let keys = Set(batch.assignments.map(\.key))
      guard touch.reads.contains(where: { keys.contains($0) }) else { return false }
    }
    // Either every row was changed, or the fetch has no predicate or the same one, and all objects
    // are read.
    if batch.isWhole { return true }
    guard !touch.isLimited, !fetch.isLimited else { return false }
    return fetch.option(.predicate) == nil || fetch.option(.predicate) == batch.option(.predicate)
  }
}

extension Step {
  /// Whether the step has no predicate, limit, and offset.
  fileprivate var isWhole: Bool { option(.predicate) == nil && !isLimited }

  fileprivate var isLimited: Bool { limits(.limit) || limits(.offset) }
}
