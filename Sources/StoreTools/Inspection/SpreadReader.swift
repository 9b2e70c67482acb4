import OpenCoreData
import SQLiteDriver

/// Counts what relationships lead to.
struct SpreadReader {
  let mapping: SQLModel
  let connection: Connection

  /// The spread of a relationship of an entity; nil for one that is not stored.
  ///
  /// One SELECT over the keys, and a COUNT of the owners.
  func spread(of name: String, in entityName: String) throws -> InspectedSpread? {
    guard let entity = mapping.entity(named: entityName) else { return nil }
    let owners = try numbers(
      "SELECT COUNT(*) FROM \(quoted(entity.table)) WHERE Z_ENT IN \(list(entity))")
    guard let owners = owners.first, let keys = keys(name, of: entity) else { return nil }
    let found = try numbers(
      "SELECT COUNT(*), IFNULL(SUM(c), 0), IFNULL(MAX(c), 0) "
        + "FROM (SELECT COUNT(*) c FROM \(keys.from) GROUP BY \(keys.owner))")
    guard found.count == 3 else { return nil }
    return InspectedSpread(
      owners: owners, empty: max(0, owners - found[0]), links: found[1], most: found[2])
  }

  /// The rows that make a link, and what names its owner in them.
  private func keys(_ name: String, of entity: SQLEntity) -> (from: String, owner: String)? {
    if let column = entity.column(named: name) {
      let condition = "\(quoted(column.name)) IS NOT NULL AND Z_ENT IN \(list(entity))"
      return ("\(quoted(entity.table)) WHERE \(condition)", "Z_PK")
    }
    guard let toMany = entity.toMany[name] else { return nil }
    switch toMany.storage {
    case .foreignKey(let column, _):
      let table = quoted(toMany.destination.table)
      return ("\(table) WHERE \(quoted(column)) IS NOT NULL", quoted(column))
    case .joinTable(let table, let source, _, _):
      return (quoted(table), quoted(source))
    }
  }

  private func list(_ entity: SQLEntity) -> String {
    "(\(entity.concreteNumbers.map(String.init).joined(separator: ", ")))"
  }

  private func quoted(_ name: String) -> String { SQLNames.quoted(name) }

  private func numbers(_ select: String) throws -> [Int] {
    (try connection.values(select).first ?? []).map { value in
      if case .integer(let number) = value { Int(clamping: number) } else { 0 }
    }
  }
}
