package import Foundation
import ProfileEvents
import StatementAnalysis

extension LogReport {
  /// Names the entities of tables by a model, where the log does not.
  package mutating func name(by tables: LogTables) {
    for index in statements.indices where statements[index].entity == nil {
      statements[index].entity = statements[index].table.flatMap(tables.entity)
    }
    for index in storms.indices { storms[index].subject = named(storms[index], tables) }
    for section in sections.indices {
      for index in sections[section].storms.indices {
        sections[section].storms[index].subject = named(sections[section].storms[index], tables)
      }
    }
  }

  private func named(_ storm: LogStorm, _ tables: LogTables) -> String {
    storm.kind == .fetchLoop ? tables.entity(of: storm.subject) ?? storm.subject : storm.subject
  }

  /// Asks SQLite how it would run the statements on a store, of which no byte changes.
  ///
  /// Cost: one `EXPLAIN QUERY PLAN` for each statement that reads or changes rows; cut ones have no
  /// plan.
  /// - Throws: `SQLiteError` when the file cannot be opened.
  package mutating func explain(on store: URL) throws {
    let reader = try PlanReader(storeURL: store)
    for index in statements.indices where !statements[index].isCut {
      let statement = statements[index]
      guard [.select, .update, .delete].contains(statement.kind) else { continue }
      let shape = StatementShape(
        number: statement.number, kind: statement.kind, sql: statement.sql,
        count: statement.calls, rows: statement.rows, nanoseconds: 0
      )
      let isHidden = statement.binds.contains("<private>")
      let lines = reader.lines(of: statement.sql, binds: isHidden ? nil : statement.binds)
      if lines.first?.hasPrefix("no plan: ") == true {
        // The error repeats the statement below its sentence.
        statements[index].plan = lines.prefix(1).map { String($0.prefix { $0 != "\n" }) }
      } else {
        let explained = shape.explained(by: lines)
        (statements[index].plan, statements[index].verdict) = (explained.plan, explained.verdict)
      }
    }
  }
}
