import Foundation
import OpenCoreData
import PostgresDriver

extension PostgresStore {
  /// Reports a statement that one of the store's connections has run.
  func report(_ exchange: PostgresExchange, in location: StoreLocation) {
    var statement = ReportedStatement(kind(of: exchange.sql, in: location), sql: exchange.sql)
    if reportsValues { statement.values = exchange.parameters.map(\.text) }
    statement.rows = exchange.rows
    statement.duration = exchange.duration
    statement.roundTrips = exchange.roundTrips
    switch statement.kind {
    case .select, .insert, .update, .delete:
      statement.entityName = reportedEntity ?? entity(in: exchange.sql, location)
    case .begin, .commit, .rollBack, .other: break
    }
    if location.omitsSchema {
      statement.sql.replace(location.quotedSchema + ".", with: "")
    }
    report(statement)
  }

  /// Returns the purpose of a statement: those that name no table of the model are the store's own.
  private func kind(of sql: String, in location: StoreLocation) -> ReportedStatement.Kind {
    let kind: ReportedStatement.Kind
    switch sql.prefix(while: { $0 != " " }) {
    case "SELECT": kind = .select
    case "INSERT": kind = .insert
    case "UPDATE": kind = .update
    case "DELETE": kind = .delete
    case "BEGIN": return sql.hasSuffix("READ ONLY") ? .other : .begin
    case "COMMIT": return .commit
    case "ROLLBACK": return .rollBack
    default: return .other
    }
    // It's done for each statement: a search for characters would take longer than the rest.
    return strstr(sql, location.tablePrefix) == nil ? .other : kind
  }

  /// Returns the root entity of the first table that a statement names; nil for a join table.
  private func entity(in sql: String, _ location: StoreLocation) -> String? {
    guard let open = try? open, let start = sql.firstRange(of: location.tablePrefix) else {
      return nil
    }
    let rest = sql[start.lowerBound...]
    return open.schema.tables.first { table in
      rest.hasPrefix(table.name) && rest.dropFirst(table.name.count).first != "\""
    }?.entityName
  }
}
