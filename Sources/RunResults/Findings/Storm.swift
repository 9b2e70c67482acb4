import ProfileEvents
import ScenarioLanguage

/// A fault storm: faults of one step that were fulfilled one at a time, in the same way.
struct Storm: Hashable {
  /// The path on which the objects were reached.
  enum AccessPath: Hashable {
    /// They're the objects of the result that the step works on.
    case result
    /// They were reached through this key path from the objects of the result.
    case through(keyPath: String)
    /// They have a relationship whose objects were loaded, but aren't objects of the result, and no
    /// key path to them is known.
    case unknown
  }

  var subject: String
  var entity: String
  var accessPath: AccessPath
  var isRelationship: Bool
  /// Whether a parent context fulfilled the faults of a child context.
  var isThroughParent: Bool
  /// Whether the faults fired in a parent context to fulfill faults of a child context.
  var isForChild: Bool
  var sql: String?
  var callSite: CallSite?

  /// Returns the fault storms of a step with their numbers of faults, in the order in which they
  /// began.
  ///
  /// Faults fulfilled without a SELECT, from the row cache or by a parent context, are cheap and
  /// don't count.
  static func all(
    in recording: Recording, context: StepContext
  ) -> [(storm: Storm, count: Int)] {
    let texts = recording.statementTexts()
    let served = servedFromDatabase(in: recording)
    var order: [Storm] = []
    var counts: [Storm: Int] = [:]
    // A parent event precedes its children.
    var forChild: Set<Int> = []
    for event in recording.events {
      let isForChild = forChild.contains(event.parent)
      if isForChild || event.source == .parent { forChild.insert(event.id) }
      guard event.source == .database || served.contains(event.id),
        var storm = Storm(event, sql: texts[event.id], context: context)
      else { continue }
      storm.isForChild = isForChild
      if counts[storm] == nil { order.append(storm) }
      counts[storm, default: 0] += 1
    }
    return order.compactMap { storm in
      guard let count = counts[storm], count >= FaultStormRule.threshold else { return nil }
      return (storm, count)
    }
  }

  /// Returns the IDs of the faults that a parent context fulfilled from the database.
  private static func servedFromDatabase(in recording: Recording) -> Set<Int> {
    var served: Set<Int> = []
    for event in recording.events where event.source == .database {
      var outer = recording.event(event.parent)
      while let child = outer, child.source == .parent {
        served.insert(child.id)
        outer = recording.event(child.parent)
      }
    }
    return served
  }

  private init?(_ event: RecordedEvent, sql: String?, context: StepContext) {
    guard let entity = event.object?.entity ?? event.entity else { return nil }
    let isInResult = event.object.map { context.resultObjects.contains($0) } ?? false
    let path = isInResult ? nil : context.path(of: event, entity: entity)
    switch event.kind {
    case .objectFault:
      isRelationship = false
      accessPath = path.map { .through(keyPath: $0.keyPath) } ?? .result
      subject = path.map { "\($0.owner).\($0.relationship)" } ?? entity
    case .relationshipFault:
      guard let relationship = event.relationship else { return nil }
      isRelationship = true
      if let path {
        accessPath = .through(keyPath: "\(path.keyPath).\(relationship)")
      } else if isInResult || context.canBeInResult(entity) {
        accessPath = .through(keyPath: relationship)
      } else {
        accessPath = .unknown
      }
      subject = "\(entity).\(relationship)"
    default:
      return nil
    }
    self.entity = entity
    self.sql = sql
    callSite = event.callSite
    isThroughParent = event.source == .parent
    isForChild = false
  }

  /// The key path to prefetch, or `nil` for objects of the result itself and if it's unknown.
  var keyPath: String? {
    if case .through(let keyPath) = accessPath { keyPath } else { nil }
  }

  /// Returns whether the fetch prefetched the key path.
  func isPrefetched(by fetch: Step?) -> Bool {
    guard let keyPath, let fetch else { return false }
    return (fetch.keyPaths(of: .prefetch) ?? []).contains {
      $0 == keyPath || $0.hasPrefix("\(keyPath).")
    }
  }

  /// Returns whether the step read only the count of these to-many relationships.
  func isOfNumbers(in context: StepContext) -> Bool {
    isRelationship && keyPath.map { context.counted.contains($0) } ?? false
  }

  /// The text after the count in a finding.
  var what: String {
    if sql == nil { return "faults that reached the database" }
    return isRelationship ? Self.whatOfRelationships : "single-row SELECTs"
  }

  /// The text after the count of relationship faults.
  static let whatOfRelationships = "SELECTs, one per relationship,"

  /// Returns a finding for these faults.
  func finding(_ rule: RuleName, count: Int, what: String? = nil, fix: SuggestedFix) -> Finding {
    Finding(
      rule: rule, subject: subject, count: count, callSite: callSite, what: what ?? self.what,
      sql: sql, fix: fix)
  }

  /// Returns the fix for a child context, which gets objects from its parent one at a time even if
  /// it prefetches.
  static func parentContextFix(_ keyPath: String) -> SuggestedFix {
    SuggestedFix(
      advice:
        "a child context doesn't prefetch: fetch \(keyPath) in the parent first and keep a reference to it, "
        + "or connect the context to the coordinator")
  }

  /// Returns the fix for faults that rows in the row cache don't fulfill, so that a prefetch by the
  /// fetch of the step's objects doesn't help.
  func fix(against obstacle: StepContext.CacheObstacle, _ keyPath: String) -> SuggestedFix {
    switch obstacle {
    case .otherCoordinator:
      return SuggestedFix(
        swift: [
          "request.predicate = NSPredicate(format: \"self IN %@\", objects)",
          "request.relationshipKeyPathsForPrefetching = [\"\(keyPath)\"]",
        ],
        advice: "fetch the objects again in the context that reads them: its coordinator has a row "
          + "cache of its own")
    case .noStaleness:
      let first =
        isRelationship ? "" : "fetch \(entity) first with returnsObjectsAsFaults = false, or "
      return SuggestedFix(
        advice: "the stalenessInterval of the context is 0, so rows in the row cache aren't used, "
          + "even if they were prefetched: \(first)set another interval")
    }
  }

  /// Returns the fix that prefetches a key path, which adds one SELECT.
  ///
  /// A fetch of object IDs doesn't prefetch, so it must fetch objects instead, and a fetch without
  /// property values doesn't either.
  static func prefetchFix(_ keyPath: String, _ fetch: Step?) -> SuggestedFix {
    let prefetched = fetch?.keyPaths(of: .prefetch) ?? []
    let list = (prefetched.contains(keyPath) ? prefetched : prefetched + [keyPath])
      .map { "\"\($0)\"" }.joined(separator: ", ")
    var lines = ["request.relationshipKeyPathsForPrefetching = [\(list)]"]
    if fetch?.flag(of: .values) == false {
      lines.insert("request.includesPropertyValues = true", at: 0)
    }
    let fixed = fetch?.without(.values).prefetching(keyPath)
    guard fetch?.resultKind == .ids else { return SuggestedFix(swift: lines, fetch: fixed) }
    return SuggestedFix(
      swift: ["request.resultType = .managedObjectResultType"] + lines,
      fetch: fixed?.without(.result))
  }
}
