import Foundation
import ManagedModel
import ProfileEvents
import ScenarioLanguage
import StatementAnalysis

/// Finds fetches that one line repeats.
///
/// It fires if at least `threshold` fetches came from the same call site with the same SQL, apart
/// from literals.
enum FetchLoopRule {
  static let rule = Rule(
    .fetchLoop, chapter: 8,
    meaning: "One line runs the same fetch repeatedly, and each execution queries the store.",
    condition:
      "\(threshold) or more fetches from one line, with the same SQL apart from its literals, such as "
      + "those after `LIMIT` and `OFFSET`.",
    remedy:
      "Fetch once with `IN`, or look for a registered object before fetching (find-or-fetch).",
    metrics: [.fetches, .selects, .rows], search: .work(findings))
  /// The minimum number of fetches, which is the threshold of a fault storm.
  static let threshold = FaultStormRule.threshold

  private struct Shape: Hashable {
    var entity: String
    var sql: String
    var callSite: CallSite
  }

  /// The totals of the fetches with the same entity, SQL, and call site.
  private struct Run {
    /// The event number of the first fetch.
    var first: Int
    var last = 0
    var count = 0
    var rows = 0
  }

  /// The fetches with the same entity, call site, and SQL apart from literals.
  private struct Loop {
    /// That of the first fetch.
    let shape: Shape
    var run: Run
    /// Whether the SQL differs.
    var differs = false
    /// Whether at most the limit and the offset differ.
    var isPaged = true

    mutating func add(_ other: Shape, _ more: Run) {
      run.last = max(run.last, more.last)
      run.count += more.count
      run.rows += more.rows
      differs = true
      isPaged = isPaged && Loop.withoutLimit(other.sql) == Loop.withoutLimit(shape.sql)
    }

    private static func withoutLimit(_ sql: String) -> Substring {
      sql.range(of: " LIMIT ", options: .backwards).map { sql[..<$0.lowerBound] } ?? sql[...]
    }
  }

  static func findings(in work: FinishedWork) -> [Finding] {
    loops(in: work).filter { $0.run.count >= threshold }.map { loop in
      let shape = loop.shape
      return Finding(
        rule: rule.name, subject: shape.entity, count: loop.run.count, callSite: shape.callSite,
        what: loop.differs
          ? "fetches whose SQL differs only in values" : "fetches with the same SQL",
        sql: shape.sql, fix: fix(loop, in: work))
    }
  }

  private static func loops(in work: FinishedWork) -> [Loop] {
    let texts = work.recording.statementTexts()
    var order: [Shape] = []
    var fetches: [Shape: Run] = [:]
    for event in work.recording.events where event.kind == .fetch {
      guard let sql = texts[event.id], let entity = event.entity, let callSite = event.callSite
      else { continue }
      let shape = Shape(entity: entity, sql: sql, callSite: callSite)
      if fetches[shape] == nil { order.append(shape) }
      var run = fetches[shape] ?? Run(first: event.id)
      run.count += 1
      run.rows += event.rows
      run.last = event.id
      fetches[shape] = run
    }
    var loops: [Loop] = []
    var positions: [Shape: Int] = [:]
    for shape in order {
      guard let run = fetches[shape] else { continue }
      var pattern = shape
      pattern.sql = NormalizedSQL.pattern(shape.sql)
      if let position = positions[pattern] {
        loops[position].add(shape, run)
      } else {
        positions[pattern] = loops.count
        loops.append(Loop(shape: shape, run: run))
      }
    }
    return loops
  }

  private static func fix(_ loop: Loop, in work: FinishedWork) -> SuggestedFix {
    let (shape, run) = (loop.shape, loop.run)
    if loop.differs, loop.isPaged {
      return SuggestedFix(
        advice: "fetch \(shape.entity) once with a batch size, which loads each part when it's read"
      )
    }
    let outline = SQLOutline(shape.sql)
    let step = work.parts.first {
      $0.recorded.after < run.first && run.first <= $0.recorded.through
    }?.step
    let hasValues = outline.condition.map { loop.differs || takesValues($0) } ?? false
    if step?.verb == .count || step?.resultKind == .count {
      return SuggestedFix(advice: countAdvice(shape.entity, hasValues: hasValues))
    }
    let written = writes(to: shape.entity, during: run, in: work)
    // Each fetch can return the next part of the rows.
    let isQueue =
      outline.isLimited
      && (written.contains(.delete) || written.contains(.update) && run.rows > run.count)
    let orInParts =
      isQueue
      ? "; or, if each fetch returns the next objects to change, fetch all of them once with a batch "
        + "size, and save after each part" : ""
    guard hasValues else {
      // If rows were written in the meantime, the results can differ.
      return SuggestedFix(
        advice: written.isEmpty
          ? "fetch \(shape.entity) once, keep the result, and reuse it: it's the same each time"
          : "fetch \(shape.entity) once, and track changes with a fetched results controller"
            + orInParts)
    }
    guard run.rows <= run.count, step.map({ $0.resultKind == .objects }) ?? true,
      let key = onlyKey(of: outline, shape, in: work.model)
    else {
      return SuggestedFix(
        advice:
          "fetch all of them once, with IN for the value that changes, and group the result in "
          + "memory; or keep the result if it's the same each time\(orInParts)")
    }
    // With the limit of one search, the fetch doesn't return the objects of all values.
    return SuggestedFix(
      swift: ["request.predicate = NSPredicate(format: \"\(key) IN %@\", values)"]
        + (outline.isLimited ? ["request.fetchLimit = 0"] : [])
        + ["let byKey = Dictionary(grouping: try context.fetch(request)) { $0.\(key) }"])
  }

  private static func countAdvice(_ entity: String, hasValues: Bool) -> String {
    hasValues
      ? "count all of them once, with a fetch of dictionaries grouped by the value that changes; or "
        + "keep the number if it's the same each time"
      : "count \(entity) once, and again only after its rows have changed"
  }

  /// Returns the attribute whose value the condition compares, or `nil` if there's more than one.
  ///
  /// With more than one table or value, what changes from one fetch to the next is unknown.
  private static func onlyKey(
    of outline: SQLOutline, _ shape: Shape, in model: NSManagedObjectModel
  ) -> String? {
    let needs = TableNeeds.all(of: shape.sql)
    guard !outline.words.contains("OFFSET"), needs.count == 1, let need = needs.first,
      need.equal.count == 1, need.ranges.isEmpty, let column = need.equal.first
    else { return nil }
    return model.entitiesByName[shape.entity]?.propertiesByName.keys.sorted()
      .first { "Z\($0.uppercased())" == column }
  }

  /// Returns whether a condition has values that its SQL doesn't contain, other than entity IDs.
  private static func takesValues(_ condition: ArraySlice<String>) -> Bool {
    var comparesEntities = false
    for word in condition {
      switch word.uppercased() {
      case "AND", "OR": comparesEntities = false
      case "Z_ENT": comparesEntities = true
      case let name where name.hasSuffix(".Z_ENT"): comparesEntities = true
      case let name where name.hasPrefix("_Z_INTARRAY"): return true
      case let name where name.first.map({ "?:@$".contains($0) }) == true && !comparesEntities:
        return true
      default: break
      }
    }
    return false
  }

  /// Returns the kinds of the statements that wrote rows of an entity between fetches.
  private static func writes(
    to entity: String, during run: Run, in work: FinishedWork
  ) -> Set<StatementKind> {
    let events = work.recording.slice(after: run.first, through: run.last).events
    return events.reduce(into: []) { kinds, event in
      switch event.statement?.kind {
      case .insert, .update, .delete:
        if event.entity == entity, let kind = event.statement?.kind { kinds.insert(kind) }
      case .select, .transaction, .housekeeping, nil: break
      }
    }
  }
}
