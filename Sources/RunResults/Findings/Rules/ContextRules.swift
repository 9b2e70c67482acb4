import ManagedModel
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds large saves and merges of a context on the main queue.
///
/// It fires if such a context saves at least `threshold` objects at once, or registers as many
/// changes in a merge. A frame takes 16 ms, but times vary between machines, so the rule checks the
/// number of objects.
enum BusyMainQueueRule {
  static let rule = Rule(
    .busyMainQueue, chapter: 8,
    meaning:
      "A context on the main queue saved or merged many objects at once, which blocks the user "
      + "interface.",
    condition:
      "\(NumberText.grouped(threshold)) objects in one save of a context with `queue main`, or "
      + "in one merge into it, not counting objects that aren't registered. Time doesn't matter.",
    remedy: "Change and save in a background context and merge into the main one; save in batches "
      + "small enough to be merged within a frame.",
    search: .work(findings))
  /// The number of objects whose save or merge takes longer than a frame on a phone.
  static let threshold = 1_000

  static func findings(in work: FinishedWork) -> [Finding] {
    saves(in: work) + merges(in: work)
  }

  private static func saves(in work: FinishedWork) -> [Finding] {
    var saves = RecordedSave.all(in: work.recording)[...]
    return work.parts.compactMap { part in
      guard part.step.verb == .save, part.shape.queue == .main else { return nil }
      while let next = saves.first, next.save.id <= part.recorded.after { saves.removeFirst() }
      let mine = saves.prefix { $0.save.id <= part.recorded.through }
      guard let largest = mine.max(by: { $0.save.rows < $1.save.rows }),
        largest.save.rows >= threshold, let entity = RecordedSave.mostWritten(in: [largest])
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: largest.save.rows,
        callSite: part.recorded.location,
        what: "objects saved at once on the main queue",
        fix: SuggestedFix(swift: [
          "try await container.performBackgroundTask { context in",
          "  // change the objects here", "  try context.save()", "}",
        ]))
    }
  }

  /// Returns the findings for merges, whose events name the context because a merge can run
  /// automatically within a step of another context.
  private static func merges(in work: FinishedWork) -> [Finding] {
    let contexts = Set(
      work.parts.filter {
        $0.step.verb == .context && $0.step.choice(of: .queue) == ContextQueue.main
      }
      .map(\.step.subject))
    return work.recording.events.compactMap { event in
      guard event.kind == .merge, event.rows >= threshold, let entity = event.entity,
        event.context.map(contexts.contains) == true
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: event.rows, callSite: event.callSite,
        what: "objects merged at once on the main queue",
        fix: SuggestedFix(swift: [
          "for (number, object) in objects.enumerated() {",
          "  change(object)  // in the background",
          "  if number % 200 == 199 { try context.save() }  // each save is merged by itself",
          "}", "try context.save()",
        ]))
    }
  }
}

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
      let entity = mostRegistered(in: context, work)
    else { return [] }
    let drop = work.parts.last { $0.step.verb == .drop } ?? last
    return [
      Finding(
        rule: rule.name, subject: entity, count: count, callSite: drop.recorded.location,
        what: "objects that no result references any longer", fix: fix(shape, of: context, work))
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

  /// Returns the entity with the most registered objects in a context or, if its objects aren't
  /// known, in all contexts.
  private static func mostRegistered(in context: String, _ work: FinishedWork) -> String? {
    var counts = work.registered[context] ?? [:]
    if counts.isEmpty {
      for (scoped, count) in work.recording.gauges where scoped.metric == .registered {
        if case .entity(let entity) = scoped.scope { counts[entity] = count }
      }
    }
    let most = counts.filter { $0.value > 0 }.max { ($0.value, $1.key) < ($1.value, $0.key) }
    return most?.key
  }

  private static func fix(
    _ shape: ContextShape, of context: String, _ work: FinishedWork
  ) -> SuggestedFix {
    if shape.retainsObjects == true {
      return SuggestedFix(now: "context.retainsRegisteredObjects = true")
    }
    // An undo manager retains only the objects of changes.
    let hasChanges = work.parts.contains {
      $0.context == context && [.insert, .set, .relate, .delete].contains($0.step.verb)
    }
    if shape.isUndoable == true, hasChanges {
      return SuggestedFix(
        now: "context.undoManager = UndoManager()", swift: ["context.undoManager = nil"])
    }
    return SuggestedFix(swift: [
      "for owner in owners { context.refresh(owner, mergeChanges: true) }  // before they are released"
    ])
  }
}

/// Finds reads of values that are stale after a batch request.
///
/// It fires if a batch update or delete changed rows, an existing result of a context of the same
/// coordinator certainly contains some of them, and a later step read what was changed from memory,
/// with no merge of such rows or reset in between. A refresh isn't a fix by itself: its faults are
/// fulfilled from the row cache, which the batch request didn't update either.
enum UnmergedBatchRule {
  static let rule = Rule(
    .unmergedBatch, chapter: 7,
    meaning: "A batch request changed rows of registered objects, and stale values were read.",
    condition:
      "A batch update or delete changed rows, a context of its coordinator had objects that are "
      + "certainly among them, and a later step reads what was changed with no `merge` of rows of the "
      + "entity into the context, and no `reset` of it, in between. A `refresh` helps only if a fetch "
      + "has updated the row cache before it.",
    remedy: "Call `mergeChanges(fromRemoteContextSave:into:)` with the object IDs that the request "
      + "returns.",
    search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { position in
      let part = work.parts[position]
      guard part.step.verb == .batchUpdate || part.step.verb == .batchDelete,
        let entity = work.model.entitiesByName[part.step.subject]
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
    var fetch: Step
    var context: String
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
    case .count, .batchInsert, .batchUpdate, .batchDelete: break
    default: if !isFreshened { isFreshened = readsRows(part) }
    }
    if let name = part.step.name { held[name] = nil }
  }

  /// Removes the results that a step releases.
  private mutating func release(_ part: FinishedWork.Part) {
    switch part.step.verb {
    case .reset: held = held.filter { $0.value.context != part.context }
    case .drop:
      held[part.step.subject] = nil
      held = held.filter { $0.value.context != part.step.subject }
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
    if batch.option(.predicate) == nil, !batch.limits(.limit), !batch.limits(.offset) {
      return true
    }
    let parts: [OptionWord] = [.limit, .offset]
    guard parts.allSatisfy({ !touch.limits($0) && !fetch.limits($0) }) else { return false }
    return fetch.option(.predicate) == nil || fetch.option(.predicate) == batch.option(.predicate)
  }
}
