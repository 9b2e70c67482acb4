package import ProfileEvents

extension Recording {
  /// Everything that happened, alike events of a step together, numbered from 1.
  ///
  /// A statement is told with the fetch, fault, prefetch or page that asked for it, and by itself
  /// where none did (a save's). Row-cache events repeat what faults say and are left out.
  package var groups: [EventGroup] {
    var collector = GroupCollector()
    var told: Set<Int> = []
    let statements = events.filter { $0.kind == .statement && $0.statement?.isCounted == true }
    var byOwner: [Int: [Event]] = [:]
    for statement in statements {
      if let owner = owner(of: statement) {
        byOwner[owner.id, default: []].append(statement)
        told.insert(statement.id)
      }
    }
    for event in events {
      let step = steps.firstIndex { $0.contains(event) } ?? -1
      if event.kind == .statement {
        guard event.statement?.isCounted == true, !told.contains(event.id) else { continue }
        collector.add(event, word: event.statement?.kind.rawValue ?? "", sql: event, step: step)
      } else if let word = event.kind.groupWord {
        let own = byOwner[event.id] ?? []
        if own.isEmpty { collector.add(event, word: word, sql: nil, step: step) }
        for statement in own { collector.add(event, word: word, sql: statement, step: step) }
      }
    }
    return collector.groups
  }

  /// The groups whose events lie in one step, with the numbers they have in the whole recording.
  package func groups(of step: RecordedStep) -> [EventGroup] {
    groups.filter { $0.firstEvent > step.after && $0.firstEvent <= step.through }
  }
}

/// Puts like to like, keeping the order of first appearance.
private struct GroupCollector {
  private struct Key: Hashable {
    var step: Int
    var word: String
    var subject: String
    var source: FaultSource?
    var sql: String?
  }

  private(set) var groups: [EventGroup] = []
  private var places: [Key: Int] = [:]

  mutating func add(_ event: Event, word: String, sql statement: Event?, step: Int) {
    let key = Key(
      step: step, word: word, subject: event.subject, source: event.source,
      sql: statement?.statement?.sql)
    let rows = statement?.rows ?? event.rows
    let nanoseconds = statement?.duration ?? event.duration
    if let place = places[key] {
      groups[place].count += 1
      groups[place].rows += rows
      groups[place].nanoseconds += nanoseconds
      if let work = statement?.statement?.work {
        groups[place].work = (groups[place].work ?? .init()) + work
      }
    } else {
      places[key] = groups.count
      groups.append(
        EventGroup(
          number: groups.count + 1, count: 1, word: word, subject: key.subject,
          source: key.source, sql: key.sql, rows: rows, nanoseconds: nanoseconds,
          callSite: event.callSite, firstEvent: event.id,
          work: statement?.statement?.work))
    }
  }
}

extension Event {
  /// `Mood`, `Country.moods`; empty when nothing is known.
  package var subject: String {
    let entity = object?.entity ?? self.entity ?? ""
    guard let relationship else { return entity }
    return entity.isEmpty ? relationship : "\(entity).\(relationship)"
  }
}

extension EventKind {
  /// The word of a group of this kind; nil for kinds that repeat what others say.
  package var groupWord: String? {
    switch self {
    case .fetch: "fetch"
    case .save: "save"
    case .objectFault: "fault"
    case .relationshipFault: "relationship fault"
    case .prefetch: "prefetch"
    case .batchLoad: "page"
    case .batchRequest: "batch request"
    case .merge: "merge"
    case .migrationStep: "migration step"
    case .rowCacheHit, .rowCacheMiss, .statement, .transaction, .notification, .storeOpening: nil
    }
  }
}
