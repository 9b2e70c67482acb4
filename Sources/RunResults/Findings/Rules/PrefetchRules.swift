import ManagedModel
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds prefetched rows that were never read.
///
/// It fires if the fetched objects were read later, but no key path went through the prefetched
/// relationship, and no fault was fulfilled by a prefetched row. It doesn't fire if nothing of the
/// result was read, because the work might not be complete.
enum UnusedPrefetchRule {
  static let rule = Rule(
    .unusedPrefetch, chapter: 8,
    meaning: "Prefetched rows were never read, so their SELECT and memory were wasted.",
    condition: "Rows were prefetched and the fetched objects were read later, but no key path goes "
      + "through the relationship, and no fault was fulfilled by a prefetched row.",
    remedy: "Remove the key path from `relationshipKeyPathsForPrefetching`.",
    metrics: [.rows, .prefetches, .selects], search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.flatMap { position in findings(ofFetchAt: position, in: work) }
  }

  private static func findings(ofFetchAt position: Int, in work: FinishedWork) -> [Finding] {
    let part = work.parts[position]
    guard let fetch = part.step.fetch else { return [] }
    let keyPaths = (fetch.keyPaths(of: .prefetch) ?? [])
    // A predicate that refers to the objects reads nothing of them.
    let users = work.users(ofResultAt: position).filter(\.references.isEmpty)
    // Steps of other kinds can follow relationships without declaring which.
    let isOnlyRead = users.allSatisfy { [.touch, .walk, .refresh].contains($0.step.verb) }
    let reads = users.flatMap(\.step.reads)
    guard !keyPaths.isEmpty, !reads.isEmpty, isOnlyRead else { return [] }
    // The batches of a result are prefetched for when they're loaded.
    let loading = fetch.limits(.batch) ? [part] + users : [part]
    let brought = loading.flatMap { work.events(of: $0).filter { $0.kind == .prefetch } }
    let later = work.events(after: part)
    let unused = keyPaths.compactMap { keyPath -> Unused? in
      let wanted = reads + keyPaths.filter { $0 != keyPath }
      guard !wanted.contains(where: { $0 == keyPath || $0.hasPrefix("\(keyPath).") }),
        let relationship = relationship(keyPath, of: fetch.subject, in: work.model)
      else { return nil }
      let rows = brought.filter { isOf(relationship, $0) }.reduce(0) { $0 + $1.rows }
      guard rows > 0, !later.contains(where: { finds($0, relationship) }) else { return nil }
      return Unused(keyPath: keyPath, relationship: relationship, rows: rows)
    }
    guard !unused.isEmpty else { return [] }
    let kept = keyPaths.filter { keyPath in !unused.contains { $0.keyPath == keyPath } }
    let remedy = fix(keeping: kept, of: keyPaths, fetch) { path in
      (reads + kept).contains { $0 == path || $0.hasPrefix("\(path).") }
        || relationship(path, of: fetch.subject, in: work.model).map { known in
          later.contains { finds($0, known) }
        } == true
    }
    return unused.map { one in
      Finding(
        rule: rule.name,
        subject: "\(one.relationship.entity?.name ?? fetch.subject).\(one.relationship.name)",
        count: one.rows, callSite: part.recorded.location, what: "rows prefetched and never read",
        fix: remedy)
    }
  }

  /// A key path that was prefetched for nothing, its last relationship, and the prefetched rows.
  private struct Unused {
    let keyPath: String
    let relationship: NSRelationshipDescription
    let rows: Int
  }

  /// Returns the longest part of a key path before its end that's needed, or `nil` if none is.
  ///
  /// A key path also prefetches the relationships before its last one.
  private static func beginning(of keyPath: String, where isNeeded: (String) -> Bool) -> String? {
    var names = keyPath.split(separator: ".").dropLast()
    while !names.isEmpty {
      let path = names.joined(separator: ".")
      if isNeeded(path) { return path }
      names.removeLast()
    }
    return nil
  }

  /// Returns the fix for all unused key paths of a fetch: without all of them, except for the
  /// parts that are needed.
  ///
  /// A fix for one of them would prefetch the others.
  private static func fix(
    keeping kept: [String], of all: [String], _ fetch: Step, where isNeeded: (String) -> Bool
  ) -> SuggestedFix {
    func line(_ paths: [String]) -> String {
      "request.relationshipKeyPathsForPrefetching = "
        + "[\(paths.map { "\"\($0)\"" }.joined(separator: ", "))]"
    }
    var rest: [String] = []
    for keyPath in all {
      if kept.contains(keyPath) {
        rest.append(keyPath)
      } else if let needed = beginning(of: keyPath, where: isNeeded),
        !(kept + rest).contains(where: { $0 == needed || $0.hasPrefix("\(needed).") })
      {
        rest.append(needed)
      }
    }
    return SuggestedFix(
      now: line(all), swift: rest.isEmpty ? [] : [line(rest)],
      fetch: rest.isEmpty
        ? fetch.without(.prefetch) : fetch.with(.prefetch, .keyPaths(rest)))
  }

  private static func relationship(
    _ keyPath: String, of entity: String, in model: NSManagedObjectModel
  ) -> NSRelationshipDescription? {
    var entity = model.entitiesByName[entity]
    var last: NSRelationshipDescription?
    for name in keyPath.split(separator: ".") {
      last = entity?.relationshipsByName[String(name)]
      entity = last?.destinationEntity
    }
    return last
  }

  /// Returns whether an event names a relationship and its entity, or a subentity that inherits it.
  ///
  /// Several entities can have relationships of the same name.
  private static func isOf(
    _ relationship: NSRelationshipDescription, _ event: RecordedEvent
  ) -> Bool {
    guard event.relationship == relationship.name else { return false }
    guard let owner = relationship.entity, let entity = event.objectEntity else { return true }
    return owner.namesWithSubentities.contains(entity)
  }

  /// Returns whether an event is a fault that was fulfilled from the row cache by what a prefetch
  /// of the relationship loads.
  private static func finds(_ event: RecordedEvent, _ relationship: NSRelationshipDescription)
    -> Bool
  {
    guard event.source == .rowCache else { return false }
    if event.kind == .relationshipFault { return isOf(relationship, event) }
    guard event.kind == .objectFault, let entity = event.object?.entity ?? event.entity else {
      return false
    }
    return relationship.destinationEntity.map { $0.namesWithSubentities.contains(entity) } ?? true
  }
}

/// Finds prefetches that didn't prevent faults from being fulfilled one at a time.
///
/// It fires if at least `FaultStormRule.threshold` faults of a step were fulfilled from the
/// database, also through a parent context, although the fetch had prefetched them.
enum IneffectivePrefetchRule {
  static let rule = Rule(
    .ineffectivePrefetch, chapter: 8,
    meaning: "A fetch prefetched a relationship, and its objects were still loaded one at a time.",
    condition:
      "\(FaultStormRule.threshold) or more faults, fulfilled from the database, also through a parent "
      + "context, through a key path that the fetch has in `prefetch`. Replaces `fault-storm`.",
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
        fix: fix(storm, keyPath, context))
    }
  }

  private static func fix(
    _ storm: Storm, _ keyPath: String, _ context: StepContext
  ) -> SuggestedFix {
    if storm.isThroughParent {
      return Storm.parentContextFix(keyPath)
    }
    if let obstacle = context.obstacle { return storm.fix(against: obstacle, keyPath) }
    let fetch = context.fetch
    if fetch?.resultKind == .ids {
      return Storm.prefetchFix(keyPath, fetch)
    }
    if fetch?.flag(of: .values) == false {
      return SuggestedFix(
        now: "request.includesPropertyValues = false", fetch: fetch?.without(.values))
    }
    return SuggestedFix(
      advice:
        "\(keyPath) was prefetched and released before it was read: keep a strong reference to the "
        + "fetched objects")
  }
}
