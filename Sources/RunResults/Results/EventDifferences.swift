import ProfileEvents
package import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// Describes the events that contribute to a metric whose value isn't the expected one.
package struct EventDifferences {
  private let recording: Recording
  private let metric: ScopedMetric
  private let found: Int

  /// The maximum number of groups or steps to list.
  private static let limit = 8

  /// Describes the events of a metric.
  ///
  /// - Parameters:
  ///   - recording: The events.
  ///   - metric: The metric.
  ///   - found: Its value.
  package init(recording: Recording, metric: ScopedMetric, found: Int) {
    self.recording = recording
    self.metric = metric
    self.found = found
  }

  /// One line for each group of events that contributes to the metric, largest contribution first.
  package var lines: [String] {
    switch metric.metric {
    case .peak:
      return ["the context had \(NumberText.counted(found, "registered object")) at once"]
    case .registered:
      return [
        "there \(found == 1 ? "was" : "were") \(NumberText.counted(found, "registered object")) "
          + "when the steps ended"
      ]
    case .filepages, .walpages, .freepages:
      return [
        "there \(found == 1 ? "was" : "were") \(NumberText.grouped(found)) when the steps ended"
      ]
    default: break
    }
    guard !isOfSteps else { return stepLines }
    let groups = contributing.sorted { $0.amount > $1.amount }
    guard !groups.isEmpty else { return ["no such events were recorded"] }
    var lines = groups.prefix(Self.limit).map(line)
    if groups.count > Self.limit {
      lines.append(
        "and "
          + NumberText.counted(
            groups.count - Self.limit, "more kind of event", "more kinds of events"))
    }
    return lines
  }

  /// Whether to list steps because groups of events aren't sufficient: they contain no COMMIT, no
  /// round trips, not what a step of a migration did, and not their context.
  private var isOfSteps: Bool {
    if case .context = metric.scope { return true }
    switch metric.metric {
    case .transactions, .roundtrips, .pageouts, .ddl, .dml, .copiedtables, .addedcolumns,
      .createdindexes, .instances:
      return true
    default: return false
    }
  }

  /// One line for each step that contributes to the metric, largest contribution first.
  private var stepLines: [String] {
    var scope = metric.scope
    var steps = recording.steps
    if case .step(let name) = scope {
      scope = .all
      steps = steps.filter { $0.name == name }
    }
    let parts = steps.map { step in
      (step: step, amount: recording.slice(of: step).value(of: metric.metric, scope: scope))
    }.filter { $0.amount > 0 }.sorted { $0.amount > $1.amount }
    guard !parts.isEmpty else { return ["no such events were recorded"] }
    var lines = parts.prefix(Self.limit).map { part in
      "\(metric.metric.counted(part.amount)) from \(part.step.location) \(part.step.shortText)"
    }
    if parts.count > Self.limit {
      lines.append("and \(NumberText.counted(parts.count - Self.limit, "step")) more")
    }
    return lines
  }

  /// Whether the metric counts fetches, faults, prefetches, and other events, of which each can run
  /// several statements.
  private var isOfEvents: Bool {
    switch metric.metric {
    case .faults, .hits, .misses, .fetches, .saves, .prefetches, .migrations: true
    default: false
    }
  }

  private struct Part {
    let group: EventGroup
    let amount: Int
    let step: RecordedStep?
  }

  private var contributing: [Part] {
    recording.groups.compactMap { group in
      let statement = statement(of: group)
      guard let amount = amount(of: group, statement?.statement?.kind), amount > 0,
        isInScope(group, statement?.objectEntity)
      else { return nil }
      let step = recording.steps.first {
        group.firstEvent > $0.after && group.firstEvent <= $0.through
      }
      if case .step(let name) = metric.scope, step?.name != name { return nil }
      return Part(group: group, amount: amount, step: step)
    }
  }

  /// Returns the first statement of a group, or `nil` if it ran none that's counted.
  private func statement(of group: EventGroup) -> RecordedEvent? {
    guard let sql = group.sql, let first = recording.events.index(ofID: group.firstEvent) else {
      return nil
    }
    return recording.events[first...].first { $0.kind == .statement && $0.statement?.sql == sql }
  }

  private func line(_ part: Part) -> String {
    let group = part.group
    var text = "\(metric.metric.counted(part.amount)): "
    let subject = group.changesJoinRows ? "join rows of \(group.subject)" : group.subject
    let count = isOfEvents ? group.events : group.count
    text += ([NumberText.grouped(count), "x", group.word, subject].filter { !$0.isEmpty })
      .joined(separator: " ")
    if !group.sourceWord.isEmpty { text += " (\(group.sourceWord))" }
    if let step = part.step {
      text += " from \(step.location) \(step.shortText)"
    } else if let callSite = group.callSite {
      text += " from \(callSite)"
    }
    if let event = recording.event(group.firstEvent), event.begin >= recording.begin {
      text += "; first at \(NumberText.milliseconds(event.begin - recording.begin)) ms"
    }
    return text
  }

  /// Returns a group's contribution to the metric, or `nil` if the metric doesn't count its events.
  ///
  /// - Parameters:
  ///   - group: The group.
  ///   - kind: The kind of its statement, or `nil` if it has none that's counted. Fetches, faults,
  ///     prefetches, and batch requests are counted with their statements.
  private func amount(of group: EventGroup, _ kind: StatementKind?) -> Int? {
    let isFault = group.word == "fault" || group.word == "relationship fault"
    switch metric.metric {
    case .selects: return kind == .select ? group.count : nil
    case .rows: return kind == .select ? group.rows : nil
    case .scanned: return group.work?.fullScanSteps
    case .sorts: return group.work?.sorts
    case .calls: return group.work.map { $0.functionCalls + $0.collationCalls }
    case .vmsteps: return group.work?.vmSteps
    case .pageins: return group.work?.pagesRead
    case .pageouts: return group.work?.pagesWritten
    case .faults: return isFault ? group.events : nil
    case .hits: return isFault && group.source == .rowCache ? group.events : nil
    case .misses: return isFault && group.source == .database ? group.events : nil
    case .fetches: return group.word == "fetch" ? group.events : nil
    case .saves: return group.word == "save" ? group.events : nil
    case .inserts: return kind == .insert ? group.count : nil
    case .updates: return kind == .update ? group.count : nil
    case .deletes: return kind == .delete ? group.count : nil
    case .prefetches: return group.word == "prefetch" ? group.events : nil
    case .migrations: return group.word == "migration" ? group.events : nil
    case .migratedrows: return group.word == "migration step" ? group.rows : nil
    case .transactions, .roundtrips, .registered, .peak, .filepages, .walpages, .freepages, .ddl,
      .dml,
      .copiedtables, .addedcolumns, .createdindexes, .instances, .time:
      return nil
    }
  }

  /// Returns whether a group is in the metric's scope.
  ///
  /// - Parameters:
  ///   - group: The group.
  ///   - entity: The entity of its statement. A prefetch, `Country.moods`, reads that of the
  ///     destination.
  private func isInScope(_ group: EventGroup, _ entity: String?) -> Bool {
    switch metric.scope {
    case .all, .step, .context: true
    case .entity(let name) where metric.metric.isOfStatements: entity == name
    case .entity(let name): group.subject == name && group.word != "relationship fault"
    case .relationship(let entity, let name): group.subject == "\(entity).\(name)"
    }
  }
}

extension Metric {
  /// Whether the metric counts statements, their rows, or their work.
  fileprivate var isOfStatements: Bool {
    switch self {
    case .selects, .rows, .inserts, .updates, .deletes, .scanned, .sorts, .calls, .vmsteps,
      .pageins:
      true
    default: false
    }
  }
}

extension EventGroup {
  /// Whether the group changes rows of a join table, whose name starts with an entity ID.
  fileprivate var changesJoinRows: Bool {
    guard let sql, ["insert", "update", "delete"].contains(word),
      let table = SQLOutline(sql).tables.first?.table
    else { return false }
    return table.hasPrefix("Z_") && table.dropFirst(2).first?.isNumber == true
  }
}

extension RecordedStep {
  /// The step's verb and subject: `touch moods`, `save`, `migrate "Orders 2"`.
  ///
  /// A long subject, which can be SQL, is truncated.
  fileprivate var shortText: String {
    let start = SourceRange(line: 1, column: 1)
    let tokens = try? LineWords.tokens(of: text, startingAt: start)
    let words = (tokens ?? []).prefix(2).compactMap { token in
      if case .word(let word) = token { word } else { nil }
    }
    guard let verb = words.first else { return text }
    guard words.count == 2, words[1].isQuoted || !LineWords.keywords.contains(words[1].text) else {
      return verb.text
    }
    let subject = LineWords.plain(words[1].text).split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    return "\(verb.text) " + (subject.count > 60 ? "\(subject.prefix(60))…" : subject)
  }
}
