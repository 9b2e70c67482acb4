import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import StatementAnalysis

/// Finds fetches that one line repeats.
///
/// It fires if at least `threshold` fetches with the same SQL came from the same call site.
enum FetchLoopRule {
  static let rule = Rule(
    .fetchLoop, chapter: 8,
    meaning: "One line runs the same fetch repeatedly; each run goes through the whole stack.",
    condition: "\(threshold) fetches with the same SQL from one line.",
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

  static func findings(in work: FinishedWork) -> [Finding] {
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
    return order.compactMap { shape in
      guard let run = fetches[shape], run.count >= threshold else { return nil }
      return Finding(
        rule: rule.name, subject: shape.entity, count: run.count, callSite: shape.callSite,
        what: "fetches with the same SQL", sql: shape.sql, cure: cure(shape, run, in: work))
    }
  }

  private static func cure(_ shape: Shape, _ run: Run, in work: FinishedWork) -> SuggestedFix {
    guard SQLOutline(shape.sql).condition != nil else {
      // If rows were written in the meantime, the results can differ.
      return SuggestedFix(
        advice: isWritten(shape.entity, during: run, in: work)
          ? "fetch \(shape.entity) once, and track changes with a fetched results controller"
          : "fetch \(shape.entity) once, keep the result, and reuse it: it's the same each time")
    }
    guard run.rows <= run.count, let column = TableNeeds.all(of: shape.sql).first?.equal.first
    else {
      return SuggestedFix(
        advice:
          "fetch all of them once, with IN in the predicate, and group the result in memory"
      )
    }
    let key =
      work.model.entitiesByName[shape.entity]?.attributesByName.keys.sorted()
      .first { "Z\($0.uppercased())" == column } ?? "KEY"
    return SuggestedFix(swift: [
      "request.predicate = NSPredicate(format: \"\(key) IN %@\", values)",
      "let byKey = Dictionary(grouping: try context.fetch(request)) { $0.\(key) }",
    ])
  }

  private static func isWritten(_ entity: String, during run: Run, in work: FinishedWork) -> Bool {
    work.recording.slice(after: run.first, through: run.last).events.contains { event in
      switch event.statement?.kind {
      case .insert, .update, .delete: event.entity == entity
      case .select, .transaction, .housekeeping, nil: false
      }
    }
  }
}
