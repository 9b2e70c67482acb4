import ProfileEvents

/// The rule that finds a fetch which one line repeats.
///
/// It fires when at least `threshold` fetches of the same SQL came from the same call site.
enum FetchLoop: WorkRule {
  static let rule = Finding.Rule.fetchLoop
  /// As many as make a fault storm.
  static let threshold = FaultStorm.threshold

  private struct Shape: Hashable {
    var entity: String
    var sql: String
    var callSite: CallSite
  }

  static func findings(in work: FinishedWork) -> [Finding] {
    let texts = work.recording.statementTexts()
    var order: [Shape] = []
    var fetches: [Shape: (count: Int, rows: Int)] = [:]
    for event in work.recording.events where event.kind == .fetch {
      guard let sql = texts[event.id], let entity = event.entity, let callSite = event.callSite
      else { continue }
      let shape = Shape(entity: entity, sql: sql, callSite: callSite)
      if fetches[shape] == nil { order.append(shape) }
      let (count, rows) = fetches[shape] ?? (0, 0)
      fetches[shape] = (count + 1, rows + event.rows)
    }
    return order.compactMap { shape in
      guard let (count, rows) = fetches[shape], count >= threshold else { return nil }
      return Finding(
        rule: rule, subject: shape.entity, count: count, callSite: shape.callSite,
        what: "fetches of the same shape", sql: shape.sql,
        cure: cure(shape, isSingle: rows <= count))
    }
  }

  private static func cure(_ shape: Shape, isSingle: Bool) -> Cure {
    guard shape.sql.contains(" WHERE ") else {
      return Cure(
        advice:
          "fetch \(shape.entity) once, hold the result, and look in it: it is the same each time"
      )
    }
    let column = TableNeeds.all(of: shape.sql).first?.equal.first
    guard isSingle, column != nil else {
      return Cure(
        advice:
          "fetch once for all of them, with IN in the predicate, and sort the result out in memory"
      )
    }
    return Cure(swift: [
      "request.predicate = NSPredicate(format: \"KEY IN %@\", values)",
      "let byKey = Dictionary(uniqueKeysWithValues: try context.fetch(request).map { ($0.KEY, $0) })",
    ])
  }
}
