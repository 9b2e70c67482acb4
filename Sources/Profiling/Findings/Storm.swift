import ProfileEvents
import ScenarioLanguage

/// Faults of one step that went the same way to the database, one row or one list at a time.
struct Storm: Hashable {
  /// How the objects were reached.
  enum Way: Hashable {
    /// They were given to the step.
    case held
    /// Through a relationship, with this key path from the objects of the result.
    case through(keyPath: String)
  }

  var subject: String
  var entity: String
  var way: Way
  var isRelationship: Bool
  /// Whether a parent context filled them, so that a child had asked.
  var isThroughParent: Bool
  /// Whether they fired in a parent, as faults of a child did.
  var isForChild: Bool
  var sql: String?
  var callSite: CallSite?

  /// The storms of a step with their faults counted, in the order in which they began.
  ///
  /// Faults that the row cache fills are never counted: they are cheap.
  static func all(
    in recording: Recording, context: StepContext
  ) -> [(storm: Storm, count: Int)] {
    let texts = recording.statementTexts()
    var order: [Storm] = []
    var counts: [Storm: Int] = [:]
    // A parent precedes its children.
    var forChild: Set<Int> = []
    for event in recording.events {
      let isForChild = forChild.contains(event.parent)
      if isForChild || event.source == .parent { forChild.insert(event.id) }
      guard event.source == .database || event.source == .parent,
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

  private init?(_ event: Event, sql: String?, context: StepContext) {
    guard let entity = event.object?.entity ?? event.entity else { return nil }
    let isHeld = event.object.map { context.held.contains($0) } ?? false
    let path = isHeld ? nil : context.path(of: event, entity: entity)
    switch event.kind {
    case .objectFault:
      isRelationship = false
      way = path.map { .through(keyPath: $0.keyPath) } ?? .held
      subject = path.map { "\($0.owner).\($0.relationship)" } ?? entity
    case .relationshipFault:
      guard let relationship = event.relationship else { return nil }
      isRelationship = true
      way = .through(keyPath: path.map { "\($0.keyPath).\(relationship)" } ?? relationship)
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

  /// The key path by which a prefetch would bring what was reached; nil for objects of the result itself.
  var keyPath: String? {
    if case .through(let keyPath) = way { keyPath } else { nil }
  }

  /// Whether the fetch behind the step asked for it ahead of time.
  func isPrefetched(by fetch: Step?) -> Bool {
    guard let keyPath, let fetch else { return false }
    return (fetch.keyPaths(of: .prefetch) ?? []).contains {
      $0 == keyPath || $0.hasPrefix("\(keyPath).")
    }
  }

  /// Whether the step read the length of these lists and nothing else of them.
  func isOfNumbers(in context: StepContext) -> Bool {
    isRelationship && keyPath.map { context.counted.contains($0) } ?? false
  }

  /// What was counted, to follow the number.
  var what: String {
    if sql == nil { return "faults that reached the database" }
    return isRelationship ? "SELECTs, one a relationship," : "single-row SELECTs"
  }

  /// A finding of these faults.
  func finding(_ rule: RuleName, count: Int, what: String? = nil, cure: SuggestedFix) -> Finding {
    Finding(
      rule: rule, subject: subject, count: count, callSite: callSite, what: what ?? self.what,
      sql: sql, cure: cure)
  }

  /// A child context asks its parent for one object after the other, whatever it prefetches.
  static func parentCure(_ keyPath: String) -> SuggestedFix {
    SuggestedFix(
      advice:
        "a child context doesn't prefetch: fetch \(keyPath) in the parent first and keep a reference to it, "
        + "or connect the context to the coordinator")
  }

  /// One SELECT more brings everything that is reached through a key path.
  static func prefetchCure(_ keyPath: String, _ fetch: Step?) -> SuggestedFix {
    let list = ((fetch?.keyPaths(of: .prefetch) ?? []) + [keyPath]).map { "\"\($0)\"" }
      .joined(separator: ", ")
    return SuggestedFix(
      swift: ["request.relationshipKeyPathsForPrefetching = [\(list)]"],
      fetch: fetch?.without(.values).prefetching(keyPath))
  }
}
