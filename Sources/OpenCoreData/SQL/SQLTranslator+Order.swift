import ManagedModel

extension SQLTranslator {
  /// The keys and places of what an ordered to-many leads to.
  ///
  /// One bind: the source's key.
  func places(_ relationship: SQLToMany) -> SelectQuery {
    let projection = Projection(entity: relationship.destination, extent: .identifiers)
    let (table, key, source, order) =
      switch relationship.storage {
      case .foreignKey(let column, let orderColumn):
        (relationship.destination.table, SQLNames.primaryKey, column, orderColumn)
      case .joinTable(let table, let source, let destination, let orderColumn):
        (table, destination, source, orderColumn)
      }
    let place = order.map { "t0.\(SQLNames.quoted($0))" } ?? "NULL"
    let sql =
      "SELECT t0.\(SQLNames.quoted(key)), \(place) FROM \(SQLNames.quoted(table)) t0"
      + " WHERE  t0.\(SQLNames.quoted(source)) = ?"
    return SelectQuery(sql: sql, projection: projection)
  }

  /// Sets the place of a row in the ordered inverse of one of its to-ones, whatever its version.
  ///
  /// Binds: the place, the row's key. Nil for a to-one whose inverse is not ordered.
  func updatePlace(entity: SQLEntity, slot: Int) -> String? {
    entity.columns[slot].orderColumn.map { order in
      "UPDATE \(SQLNames.quoted(entity.table)) SET \(SQLNames.quoted(order)) = ? WHERE Z_PK=?"
    }
  }
}
