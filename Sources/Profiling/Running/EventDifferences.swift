import ProfileEvents
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// Describes the events that contribute to a metric whose value isn't the expected one.
struct EventDifferences {
  let recording: Recording
  let metric: ScopedMetric
  let found: Int

  /// The maximum number of groups or steps to list.
  private static let limit = 8

  /// One line for each group of events that contributes to the metric, largest contribution first.
  var lines: [String] {
    switch metric.metric {
    case .registered, .peak:
      return ["the context had \(NumberText.counted(found, "registered object")) at once"]
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

  /// Whether to list steps because groups of events aren't sufficient: they contain no COMMIT, and
  /// they don't contain their context.
  private var isOfSteps: Bool {
    if case .context = metric.scope { return true }
    return metric.metric == .transactions || metric.metric == .pageouts
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

  private struct Part {
    let group: EventGroup
    let amount: Int
    let step: RecordedStep?
  }

  private var contributing: [Part] {
    recording.groups.compactMap { group in
      guard let amount = amount(of: group), amount > 0, isInScope(group) else { return nil }
      let step = recording.steps.first {
        group.firstEvent > $0.after && group.firstEvent <= $0.through
      }
      if case .step(let name) = metric.scope, step?.name != name { return nil }
      return Part(group: group, amount: amount, step: step)
    }
  }

  private func line(_ part: Part) -> String {
    let group = part.group
    var text = "\(metric.metric.counted(part.amount)): "
    let subject = group.changesJoinRows ? "join rows of \(group.subject)" : group.subject
    text += ([NumberText.grouped(group.count), "x", group.word, subject].filter { !$0.isEmpty })
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
  private func amount(of group: EventGroup) -> Int? {
    let isFault = group.word == "fault" || group.word == "relationship fault"
    switch metric.metric {
    case .selects: return group.sql?.hasPrefix("SELECT") == true ? group.count : nil
    case .rows: return group.sql?.hasPrefix("SELECT") == true ? group.rows : nil
    case .scanned: return group.work?.fullScanSteps
    case .sorts: return group.work?.sorts
    case .calls: return group.work.map { $0.functionCalls + $0.collationCalls }
    case .vmsteps: return group.work?.vmSteps
    case .pageins: return group.work?.pagesRead
    case .pageouts: return group.work?.pagesWritten
    case .faults: return isFault ? group.count : nil
    case .hits: return isFault && group.source == .rowCache ? group.count : nil
    case .misses: return isFault && group.source == .database ? group.count : nil
    case .fetches: return group.word == "fetch" ? group.count : nil
    case .saves: return group.word == "save" ? group.count : nil
    case .inserts: return group.word == "insert" ? group.count : nil
    case .updates: return group.word == "update" ? group.count : nil
    case .deletes: return group.word == "delete" ? group.count : nil
    case .prefetches: return group.word == "prefetch" ? group.count : nil
    case .migrations: return group.word == "migration" ? group.count : nil
    case .migratedrows: return group.word == "migration step" ? group.rows : nil
    case .transactions, .roundtrips, .registered, .peak, .filepages, .walpages, .freepages, .ddl,
      .dml,
      .copiedtables, .addedcolumns, .createdindexes, .instances, .time:
      return nil
    }
  }

  private func isInScope(_ group: EventGroup) -> Bool {
    switch metric.scope {
    case .all, .step, .context: true
    case .entity(let name): group.subject == name && group.word != "relationship fault"
    case .relationship(let entity, let name): group.subject == "\(entity).\(name)"
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
  /// The step's verb and subject: `touch moods`, `save`.
  fileprivate var shortText: String {
    let words = text.split(separator: " ").prefix(2).map(String.init)
    let isAlone = words.last.map(LineWords.keywords.contains) ?? true
    return words.prefix(isAlone ? 1 : 2).joined(separator: " ")
  }
}
