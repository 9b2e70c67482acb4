import ManagedModel

extension SQLTranslator {
  /// The row of one object.
  ///
  /// One bind: its key.
  func fault(entity: SQLEntity) -> SelectQuery {
    select(Projection(entity: entity, extent: .hierarchy), where: " t0.Z_PK = ?")
  }

  /// The rows of one page of a batched fetch.
  ///
  /// The keys go into `_Z_intarray0`.
  func page(entity: SQLEntity, limit: Int) -> SelectQuery {
    select(
      Projection(entity: entity, extent: .entity),
      where: " t0.Z_PK IN (SELECT * FROM _Z_intarray0) ", limit: limit)
  }

  /// The keys of the objects at the other end of a to-many.
  ///
  /// One bind: the source's key.
  ///
  /// An ordered relationship's places are selected too, and the rows come in their order.
  func toMany(_ relationship: SQLToMany) -> SelectQuery {
    var projection = Projection(entity: relationship.destination, extent: .identifiers)
    switch relationship.storage {
    case .foreignKey(let column, let orderColumn):
      var order = ""
      if let orderColumn {
        projection.appendOrder(orderColumn, alias: "t0")
        order = "t0.\(SQLNames.quoted(orderColumn))"
      }
      return select(projection, where: " t0.\(SQLNames.quoted(column)) = ?", order: order)
    case .joinTable(let table, let source, let destination, let orderColumn):
      var order = ""
      if let orderColumn {
        projection.appendOrder(orderColumn, alias: "t1")
        order = " ORDER BY t1.\(SQLNames.quoted(orderColumn))"
      }
      let sql =
        "SELECT \(projection.selectList) FROM \(SQLNames.quoted(table)) t1"
        + " JOIN \(SQLNames.quoted(relationship.destination.table)) t0"
        + " ON t0.Z_PK = t1.\(SQLNames.quoted(destination))"
        + " WHERE t1.\(SQLNames.quoted(source)) = ?" + order
      return SelectQuery(sql: sql, projection: projection)
    }
  }

  /// The rows of the objects that a to-one refers to.
  ///
  /// Their keys go into `_Z_intarray0`.
  func prefetchToOne(entity: SQLEntity) -> SelectQuery {
    select(
      Projection(entity: entity, extent: .entity),
      where: " t0.Z_PK IN (SELECT * FROM _Z_intarray0) ")
  }

  /// The rows at the other end of a one-to-many, by source.
  ///
  /// The sources' keys go into `_Z_intarray0`; `projection.sourceKeyColumn` tells whose each row
  /// is.
  ///
  /// Nil for a many-to-many: that takes `prefetchJoin` for the pairs and `prefetchToOne` for the
  /// rows.
  func prefetchToMany(_ relationship: SQLToMany) -> SelectQuery? {
    guard case .foreignKey(let column, let orderColumn) = relationship.storage else { return nil }
    var projection = Projection(entity: relationship.destination, extent: .entity)
    projection.appendSourceKey(column, alias: "t0")
    var order = "t0.\(SQLNames.quoted(column))"
    if let orderColumn {
      projection.appendOrder(orderColumn, alias: "t0")
      order += ", t0.\(SQLNames.quoted(orderColumn))"
    }
    return select(
      projection,
      where: " t0.\(SQLNames.quoted(column)) IN (SELECT * FROM _Z_intarray0) ", order: order)
  }

  /// The pairs of a many-to-many, by source.
  ///
  /// The sources' keys go into `_Z_intarray0`.
  ///
  /// Nil for a one-to-many.
  func prefetchJoin(_ relationship: SQLToMany) -> JoinQuery? {
    guard
      case .joinTable(let table, let source, let destination, let order) = relationship.storage
    else { return nil }
    let names = [source, destination, order].compactMap { $0 }.map { "t0.\(SQLNames.quoted($0))" }
    let sorting = [names[0], order == nil ? nil : names[2]].compactMap { $0 }
    let sql =
      "SELECT \(names.joined(separator: ", ")) FROM \(SQLNames.quoted(table)) t0"
      + " WHERE  \(names[0]) IN (SELECT * FROM _Z_intarray0) "
      + " ORDER BY \(sorting.joined(separator: ", "))"
    return JoinQuery(sql: sql, hasOrder: order != nil)
  }

  func select(
    _ projection: Projection, where condition: String, order: String = "", limit: Int = 0
  ) -> SelectQuery {
    var text = SelectText(
      list: projection.selectList, table: projection.entity.table)
    text.condition = condition
    text.order = order
    text.limit = limit
    return SelectQuery(sql: text.sql, projection: projection)
  }
}
