import ManagedModel
import ProfileEvents
import SQLiteDriver

extension SQLiteStore {
  /// The object of a SELECT's current row, for a log that lists objects.
  func foundObject(
    _ statement: Statement, _ projection: Projection
  ) -> StatementRecord.FoundObject {
    let number =
      projection.hasEntityNumber
      ? Int(statement.int64(Projection.entityColumn)) : projection.entity.number
    let layout = layouts.layout(entityNumber: number)
    return StatementRecord.FoundObject(
      object: ObjectReference(
        store: identifier, entity: layout?.entity.name ?? projection.entity.name,
        primaryKey: statement.int64(Projection.keyColumn)),
      className: layout.map { String(describing: $0.objectClass) } ?? "NSManagedObject")
  }

  /// How SQLite runs a text, when a sink asked for plans; nil otherwise, and where SQLite does not say.
  func plan(
    of sql: String, _ binds: @autoclosure () -> [SQLiteValue], on connection: Connection,
    in scope: ProfileScope
  ) -> [String]? {
    guard scope.hub.detail.contains(.plans) else { return nil }
    return (try? connection.explainQueryPlan(sql, binds: binds()))?.lines
  }
}

extension SelectQuery {
  /// Whether its rows are objects: the list of columns is that of its projection.
  var givesObjects: Bool {
    let list = projection.selectList
    return sql.hasPrefix("SELECT \(list) FROM ") || sql.hasPrefix("SELECT DISTINCT \(list) FROM ")
  }
}
