import ProfileEvents
package import StatementAnalysis

extension Recording {
  /// The distinct statements with the totals of their executions, in the order of first execution.
  ///
  /// As in the counters, housekeeping and `BEGIN`/`COMMIT` aren't included.
  package var statementShapes: [StatementShape] {
    var shapes: [StatementShape] = []
    var places: [String: Int] = [:]
    for event in events {
      guard let statement = event.statement, event.kind == .statement, statement.isCounted else {
        continue
      }
      if let place = places[statement.sql] {
        shapes[place].count += 1
        shapes[place].rows += event.rows
        shapes[place].nanoseconds += event.duration
        if let work = statement.work { shapes[place].work = (shapes[place].work ?? .init()) + work }
      } else {
        places[statement.sql] = shapes.count
        shapes.append(
          StatementShape(
            number: shapes.count + 1, kind: statement.kind, sql: statement.sql,
            entity: event.entity, count: 1, rows: event.rows, nanoseconds: event.duration,
            firstCallSite: event.callSite))
        shapes[shapes.count - 1].work = statement.work
        shapes[shapes.count - 1].binds = statement.binds
      }
    }
    return shapes
  }

  /// Returns the SQL of the first statement of each fetch, fault, prefetch, and batch, by event
  /// number.
  func statementTexts() -> [Int: String] {
    var texts: [Int: String] = [:]
    for event in events where event.kind == .statement {
      guard let statement = event.statement, statement.isCounted,
        let owner = owner(of: event), texts[owner.id] == nil
      else { continue }
      texts[owner.id] = statement.sql
    }
    return texts
  }

  /// Returns the event that ran a statement, or `nil` if no reading event did, as in a save.
  func owner(of statement: Event) -> Event? {
    var parent = statement.parent
    while parent != 0, let event = event(parent) {
      switch event.kind {
      case .fetch, .objectFault, .relationshipFault, .prefetch, .batchLoad, .batchRequest:
        return event
      default:
        parent = event.parent
      }
    }
    return nil
  }
}

extension StatementRecord {
  /// A Boolean value that indicates whether the counters include the statement.
  var isCounted: Bool {
    switch kind {
    case .select, .insert, .update, .delete: true
    case .transaction, .housekeeping: false
    }
  }
}
