import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds many consecutive small saves.
///
/// It fires if at least `threshold` saves of one context, each of at most `smallSave` objects,
/// follow each other with no larger save in between. Each save is one transaction, or two if it
/// inserts. The time between saves doesn't matter because it doesn't affect their cost.
enum ChattySavesRule {
  static let rule = Rule(
    .chattySaves, chapter: 8,
    meaning: "Many small saves follow each other; each is one transaction, or two if it inserts.",
    condition:
      "\(threshold) or more saves of one context that reached the store, each of \(smallSave) objects "
      + "or fewer, with no larger one in between. Time doesn't matter.",
    remedy: "Save once, or in batches that fit in memory.",
    metrics: [.saves, .transactions], search: .work(findings))
  /// The minimum number of consecutive saves.
  static let threshold = 10
  /// The maximum number of objects in a small save.
  static let smallSave = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    Dictionary(grouping: RecordedSave.all(in: work.recording)) { $0.save.context ?? "" }
      .sorted { ($0.value.first?.save.id ?? 0) < ($1.value.first?.save.id ?? 0) }
      .flatMap { runs(of: $0.value).compactMap(finding) }
  }

  /// Returns the runs of consecutive small saves.
  private static func runs(of saves: [RecordedSave]) -> [[RecordedSave]] {
    saves.split { $0.save.rows > smallSave }.map(Array.init).filter { $0.count >= threshold }
  }

  private static func finding(_ saves: [RecordedSave]) -> Finding? {
    guard let entity = RecordedSave.mostWritten(in: saves) else { return nil }
    let objects = saves.reduce(0) { $0 + $1.save.rows }
    return Finding(
      rule: rule.name, subject: entity, count: saves.count, callSite: saves.first?.save.callSite,
      what: "saves of \(NumberText.counted(objects, "object")) in total",
      fix: SuggestedFix(swift: ["if isLastChange { try context.save() }"]))
  }
}

/// Finds saves that wrote only new row versions.
///
/// It fires if every statement of a save is an UPDATE that sets only the row version: properties
/// were set to the values they had, or to values that aren't stored. It doesn't fire if the save
/// wrote anything else, because a changed relationship also gives its owner a new row version.
enum NeedlessUpdateRule {
  static let rule = Rule(
    .needlessUpdate, chapter: 7,
    meaning: "A save updated the row version and nothing else, because properties were set to the "
      + "values they had.",
    condition: "All statements of a save are UPDATEs that set only `Z_OPT`.",
    remedy:
      "Set a property only if its value differs: `if object.name != name { object.name = name "
      + "}`.",
    metrics: [.updates], search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    RecordedSave.all(in: work.recording).compactMap { written in
      guard written.statements.allSatisfy(setsOnlyVersion),
        let entity = RecordedSave.mostWritten(in: [written])
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: written.statements.count,
        callSite: written.save.callSite, what: "rows written only with a new version",
        sql: written.statements.first?.statement?.sql,
        fix: fix(key(setBefore: written.save, in: work) ?? "KEY"))
    }
  }

  private static func fix(_ key: String) -> SuggestedFix {
    SuggestedFix(swift: ["if object.\(key) != value { object.\(key) = value }"])
  }

  /// Returns the first key that the last `set` step before a save assigned in the same context or
  /// in a child of it, or `nil` if there's no such step.
  private static func key(setBefore save: RecordedEvent, in work: FinishedWork) -> String? {
    guard let context = save.context else { return nil }
    return work.parts.last {
      $0.recorded.through < save.id && $0.step.verb == .set
        && ($0.context == context || $0.shape.parent == context)
    }?.step.assignments.first?.key
  }

  private static func setsOnlyVersion(_ event: RecordedEvent) -> Bool {
    // A server's store counts the version up, and updates the rows of a list.
    let assignment = #/ SET Z_OPT = [\w.?]+( \+ 1)? (WHERE|FROM) /#.ignoresCase()
    return event.statement?.kind == .update
      && event.statement?.sql.firstMatch(of: assignment) != nil
  }
}

/// Finds refreshes that discarded unsaved changes.
///
/// It fires if a step changed objects of a result and a later step refreshed the same objects
/// without keeping changes, with no save, rollback, undo, or reset in between. A save that failed
/// keeps the changes, and a second refresh of the same objects has none to discard. If the objects
/// are fetched again, the results have the same ones if both fetches are of all.
enum LostChangesRule {
  static let rule = Rule(
    .lostChanges, chapter: 6,
    meaning: "Refreshing objects silently discarded their unsaved changes.",
    condition:
      "A `refresh` with `keep no` of objects of a result that was changed, or of another result if "
      + "both have all objects of the entity, with no `save` that succeeded, `rollback`, `undo`, or "
      + "`reset` in between.",
    remedy: "Call `refresh(_:mergeChanges: true)`, or `rollback()` if the changes are to be "
      + "discarded.",
    search: .work(findings))

  /// The objects of a fetch that a step changes or refreshes.
  private struct Portion {
    let fetch: Step
    /// The position of the fetch in the work, and its number of rows.
    let source: (position: Int, rows: Int)
    let range: Range<Int>
    /// Whether the fetch returns all objects of the entity.
    private let isOfAll: Bool

    init?(at position: Int, in work: FinishedWork) {
      let step = work.parts[position].step
      guard let source = work.source(ofResultAt: position) else { return nil }
      self.source = source
      fetch = work.parts[source.position].step
      range = step.part(of: source.rows)
      isOfAll =
        fetch.option(.predicate) == nil && !fetch.limits(.limit) && !fetch.limits(.offset)
    }

    /// Returns the number of objects that are certainly in both.
    func shared(with other: Portion) -> Int {
      if source.position == other.source.position { return range.clamped(to: other.range).count }
      let isOfSame =
        isOfAll && other.isOfAll && fetch.subject == other.fetch.subject
        && fetch.option(.subentities) == other.fetch.option(.subentities)
        && source.rows == other.source.rows
      // The order of the objects can differ.
      guard isOfSame, max(range.count, other.range.count) == source.rows else { return 0 }
      return min(range.count, other.range.count)
    }
  }

  /// The steps of a context since its changes were last saved or discarded.
  private struct Unsaved {
    private var changes: [Portion] = []
    /// The refreshes without the changes, each with the number of changes before it.
    private var refreshes: [(portion: Portion, before: Int)] = []

    mutating func add(_ change: Portion) { changes.append(change) }

    /// Refreshes objects without keeping changes, and returns the number of changed ones.
    mutating func refresh(_ refreshed: Portion) -> Int {
      guard !changes.isEmpty else { return 0 }
      // An earlier refresh of the same objects has discarded the changes before it.
      let earlier = refreshes.last { $0.portion.shared(with: refreshed) == refreshed.range.count }
      let counts = changes.map { $0.shared(with: refreshed) }
      let lost = counts[(earlier?.before ?? 0)...].max() ?? 0
      if zip(changes, counts).allSatisfy({ $0.range.count == $1 }) {
        self = Unsaved()
      } else {
        refreshes.append((refreshed, changes.count))
      }
      return lost
    }
  }

  static func findings(in work: FinishedWork) -> [Finding] {
    var unsaved: [String: Unsaved] = [:]
    return work.parts.indices.compactMap { position in
      let part = work.parts[position]
      switch part.step.verb {
      case .drop: unsaved[part.step.subject] = nil
      case .rollback, .undo, .reset: unsaved[part.context] = nil
      case .save where part.step.fails == nil: unsaved[part.context] = nil
      case .set, .relate:
        guard let change = Portion(at: position, in: work) else { return nil }
        unsaved[part.context, default: Unsaved()].add(change)
      case .refresh where part.step.flag(of: .keep) == false:
        guard let refreshed = Portion(at: position, in: work),
          let lost = unsaved[part.context]?.refresh(refreshed), lost > 0
        else { return nil }
        return Finding(
          rule: rule.name, subject: refreshed.fetch.subject, count: lost,
          callSite: part.recorded.location, what: "objects whose unsaved changes were discarded",
          fix: SuggestedFix(
            now: "context.refresh(object, mergeChanges: false)",
            swift: ["context.refresh(object, mergeChanges: true)"]))
      default: break
      }
      return nil
    }
  }
}
