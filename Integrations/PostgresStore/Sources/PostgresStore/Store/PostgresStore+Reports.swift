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
    let isOfRows = sql.contains(Self.prefix(location))
    switch sql.prefix(while: \.isLetter) {
    case "SELECT": return isOfRows ? .select : .other
    case "INSERT": return isOfRows ? .insert : .other
    case "UPDATE": return isOfRows ? .update : .other
    case "DELETE": return isOfRows ? .delete : .other
    case "BEGIN": return sql.hasSuffix("READ ONLY") ? .other : .begin
    case "COMMIT": return .commit
    case "ROLLBACK": return .rollBack
    default: return .other
    }
  }

  /// The beginning of a table's name: the names of the store's own tables have no quotes.
  private static func prefix(_ location: StoreLocation) -> String { location.quotedSchema + ".\"" }

  /// Returns the root entity of the first table that a statement names; nil for a join table.
  private func entity(in sql: String, _ location: StoreLocation) -> String? {
    guard let open = try? open, let start = sql.firstRange(of: Self.prefix(location)) else {
      return nil
    }
    let rest = sql[start.lowerBound...]
    return open.schema.tables.first { table in
      rest.hasPrefix(table.name) && rest.dropFirst(table.name.count).first != "\""
    }?.entityName
  }
}
