import ProfileEvents

/// The rule that finds many faults which each went to the database for one row.
///
/// It fires when, within one step and from one call site, at least `threshold` faults of the same
/// entity or the same relationship were filled from the database by statements of the same text.
/// Faults that the row cache or a parent context fills are never counted: they are cheap.
package enum FaultStorm {
  /// Fewer are not worth a word; ten one-row statements cost less than the reader's attention.
  package static let threshold = 10

  /// The storms of one step, in the order in which they began.
  ///
  /// - Parameters:
  ///   - recording: The events of one step (`Recording.slice(of:)`).
  ///   - context: What the step read, which the events alone do not tell.
  package static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    let texts = recording.statementTexts()
    var order: [Key] = []
    var counts: [Key: Int] = [:]
    for event in recording.events where event.source == .database {
      guard let key = Key(event, sql: texts[event.id], context: context) else { continue }
      if counts[key] == nil { order.append(key) }
      counts[key, default: 0] += 1
    }
    return order.compactMap { key in
      guard let count = counts[key], count >= threshold else { return nil }
      return Finding(
        rule: .faultStorm, subject: key.subject, count: count, callSite: key.callSite,
        what: key.what, sql: key.sql, cure: cure(for: key, context: context))
    }
  }

  /// What must be the same for faults to be one storm.
  private struct Key: Hashable {
    enum Reached: Hashable {
      /// An object the step was given.
      case held
      /// Through a relationship, under this key path from the held objects.
      case through(keyPath: String)
    }

    var subject: String
    var entity: String
    var reached: Reached
    var isRelationship: Bool
    var sql: String?
    var callSite: CallSite?

    init?(_ event: Event, sql: String?, context: StepContext) {
      guard let entity = event.object?.entity ?? event.entity else { return nil }
      let isHeld = event.object.map { context.held.contains($0) } ?? false
      let path = isHeld ? nil : context.path(of: event, entity: entity)
      switch event.kind {
      case .objectFault:
        isRelationship = false
        reached = path.map { .through(keyPath: $0.keyPath) } ?? .held
        subject = path.map { "\($0.owner).\($0.relationship)" } ?? entity
      case .relationshipFault:
        guard let relationship = event.relationship else { return nil }
        isRelationship = true
        reached = .through(keyPath: path.map { "\($0.keyPath).\(relationship)" } ?? relationship)
        subject = "\(entity).\(relationship)"
      default:
        return nil
      }
      self.entity = entity
      self.sql = sql
      callSite = event.callSite
    }

    var what: String {
      if sql == nil { return "faults that reached the database" }
      return isRelationship ? "SELECTs, one a relationship," : "single-row SELECTs"
    }
  }

  private static func cure(for key: Key, context: StepContext) -> Cure {
    switch key.reached {
    case .held: objectCure(context.fetch)
    case .through(let keyPath): prefetchCure(keyPath, context.fetch)
    }
  }

  /// For objects that were fetched themselves: their rows must come with the fetch.
  private static func objectCure(_ fetch: FetchText?) -> Cure {
    guard let fetch, fetch.value(of: "faults") != "no" else {
      return Cure(swift: [
        "request.predicate = NSPredicate(format: \"self IN %@\", objects)",
        "request.returnsObjectsAsFaults = false",
      ])
    }
    if fetch.value(of: "values") == "no" {
      return Cure(now: "request.includesPropertyValues = false", fetch: fetch.without("values"))
    }
    return Cure(
      swift: ["request.returnsObjectsAsFaults = false"],
      fetch: fetch.without("faults").adding("no", to: "faults"))
  }

  /// For objects reached through a relationship: one SELECT more brings them all.
  private static func prefetchCure(_ keyPath: String, _ fetch: FetchText?) -> Cure {
    let known = fetch?.options.first { $0.word == "prefetch" }?.values ?? []
    if known.contains(keyPath) {
      return Cure(
        advice: "\(keyPath) was prefetched and let go before it was read: hold the fetched objects")
    }
    let list = (known + [keyPath]).map { "\"\($0)\"" }.joined(separator: ", ")
    return Cure(
      swift: ["request.relationshipKeyPathsForPrefetching = [\(list)]"],
      fetch: fetch?.without("values").adding(keyPath, to: "prefetch"))
  }
}
