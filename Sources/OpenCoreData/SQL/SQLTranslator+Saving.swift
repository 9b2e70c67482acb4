import ManagedModel
import SQLiteDriver

extension SQLTranslator {
  /// The statement that reads the last primary key assigned.
  ///
  /// One bound value: the ID of the root entity.
  static let selectMaximumKey = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?"

  /// The statement that reserves primary keys.
  ///
  /// Bound values: the new last key, the root entity's ID, the last key read.
  ///
  /// Changes no row if keys were reserved elsewhere in between.
  static let reserveKeys =
    "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?"

  /// Returns the INSERT of a row: key, entity, version, then to-one relationships, then attributes.
  func insert(entity: SQLEntity) -> RowStatement {
    var columns = [SQLNames.primaryKey, SQLNames.entity, SQLNames.version]
    var parameters: [RowStatement.Parameter] = [.primaryKey, .entityNumber, .version]
    for (column, parameter) in writtenColumns(of: entity) {
      columns.append(SQLSyntax.quoted(column))
      parameters.append(parameter)
    }
    let marks = repeatElement("?", count: columns.count).joined(separator: ", ")
    let sql =
      "INSERT INTO \(SQLSyntax.quoted(entity.table))(\(columns.joined(separator: ", ")))"
      + " VALUES(\(marks))"
    return RowStatement(sql: sql, parameters: parameters)
  }

  /// Returns the UPDATE of some slots of a row and its version, if it still has the expected
  /// version.
  ///
  /// - Parameters:
  ///   - slots: The slots to write, in any order. A to-one writes its concrete entity too.
  ///   - orderedSlots: To-one slots whose order key in the ordered inverse is written.
  func update(
    entity: SQLEntity, slots: some Collection<Int>, orderedSlots: some Collection<Int> = [Int]()
  ) -> RowStatement {
    let written = Set(slots)
    let ordered = Set(orderedSlots)
    var sets: [String] = []
    var parameters: [RowStatement.Parameter] = []
    for (column, parameter) in writtenColumns(of: entity) {
      switch parameter {
      case .slot(let slot) where written.contains(slot),
        .entity(ofSlot: let slot) where written.contains(slot),
        .order(ofSlot: let slot) where ordered.contains(slot):
        sets.append("\(SQLSyntax.quoted(column)) = ?")
        parameters.append(parameter)
      default: break
      }
    }
    sets.append("\(SQLNames.version) = ?")
    let sql =
      "UPDATE \(SQLSyntax.quoted(entity.table)) SET \(sets.joined(separator: ", "))"
      + " WHERE Z_PK=? AND Z_OPT=?"
    return RowStatement(
      sql: sql, parameters: parameters + [.version, .primaryKey, .lockedVersion])
  }

  /// Returns the DELETE of a row, if it still has the expected version.
  func delete(entity: SQLEntity) -> RowStatement {
    RowStatement(
      sql: "DELETE FROM \(SQLSyntax.quoted(entity.table)) WHERE Z_PK = ? AND Z_OPT = ?",
      parameters: [.primaryKey, .lockedVersion])
  }

  /// Returns the SELECT of a row's version.
  func version(_ entity: SQLEntity, _ primaryKey: Int64) -> SelectQuery {
    SelectQuery(
      sql: "SELECT Z_OPT FROM \(SQLSyntax.quoted(entity.table)) WHERE Z_PK = ?",
      binds: [.integer(primaryKey)],
      projection: Projection(entity: entity, extent: .identifiers))
  }

  /// Returns the SELECT of the rows with given values in some columns, of any entity.
  ///
  /// Bound values: the values, in the order of the columns.
  func rows(_ entity: SQLEntity, columns: [String]) -> SelectQuery {
    let conditions = columns.map { " t0.\(SQLSyntax.quoted($0)) = ?" }
    return select(
      Projection(entity: entity, extent: .hierarchy), where: conditions.joined(separator: " AND "))
  }

  /// Returns the INSERT of a join row; an existing one is kept and its order key updated.
  ///
  /// Bound values: the source's key, the destination's, and the order key if the relationship is
  /// ordered. `nil` for a one-to-many.
  func insertJoinRow(_ relationship: SQLToMany) -> String? {
    guard case .joinTable(let table, let from, let to, let orderKey) = relationship.storage
    else { return nil }
    let (source, destination) = (SQLSyntax.quoted(from), SQLSyntax.quoted(to))
    guard let order = orderKey.map(SQLSyntax.quoted) else {
      return "INSERT OR IGNORE INTO \(SQLSyntax.quoted(table))(\(source), \(destination))"
        + " VALUES(?, ?)"
    }
    return "INSERT INTO \(SQLSyntax.quoted(table))(\(source), \(destination), \(order))"
      + " VALUES(?, ?, ?) ON CONFLICT(\(source), \(destination))"
      + " DO UPDATE SET \(order) = excluded.\(order)"
  }

  /// Returns the DELETE of a join row.
  ///
  /// Bound values: the source's key, the destination's.
  ///
  /// `nil` for a one-to-many.
  func deleteJoinRow(_ relationship: SQLToMany) -> String? {
    guard case .joinTable(let table, let source, let destination, _) = relationship.storage
    else { return nil }
    return "DELETE FROM \(SQLSyntax.quoted(table)) WHERE \(SQLSyntax.quoted(source)) = ?"
      + " AND \(SQLSyntax.quoted(destination)) = ?"
  }

  /// Returns the DELETE of all join rows of one source; of a relationship that's its own inverse,
  /// also of those whose destination it is.
  ///
  /// One bound value: the source's key.
  ///
  /// `nil` for a one-to-many.
  func deleteJoinRows(_ relationship: SQLToMany) -> String? {
    guard case .joinTable(let table, let source, let destination, _) = relationship.storage
    else { return nil }
    let sql = "DELETE FROM \(SQLSyntax.quoted(table)) WHERE \(SQLSyntax.quoted(source)) = ?"
    let description = relationship.relationship
    guard description.inverseRelationship === description else { return sql }
    return sql + "1 OR \(SQLSyntax.quoted(destination)) = ?1"
  }

  /// Returns the UPDATE that sets a destination row's source, for a to-many whose column isn't a
  /// slot because it has no inverse.
  ///
  /// Bound values: the source's key, the order key if the relationship is ordered, the
  /// destination's key. `nil` for a relationship with an inverse.
  func updateHiddenInverse(_ relationship: SQLToMany) -> String? {
    hiddenInverse(relationship, setTo: "?").map { "\($0.update) WHERE Z_PK=?" }
  }

  /// Returns the UPDATE that removes a destination row's source, unless the row has another one.
  ///
  /// Bound values: the destination's key, the source's. `nil` for a relationship with an inverse.
  func clearHiddenInverse(_ relationship: SQLToMany) -> String? {
    hiddenInverse(relationship, setTo: "NULL").map {
      "\($0.update) WHERE Z_PK=? AND \($0.column) = ?"
    }
  }

  /// Returns the UPDATE that removes a source from all its destination rows.
  ///
  /// One bound value: the source's key. `nil` for a relationship with an inverse.
  func clearHiddenInverses(_ relationship: SQLToMany) -> String? {
    hiddenInverse(relationship, setTo: "NULL").map { "\($0.update) WHERE \($0.column) = ?" }
  }

  /// Returns the UPDATE of the source and order key of destination rows, without a condition, and
  /// the source's column; `nil` for a relationship with an inverse.
  private func hiddenInverse(
    _ relationship: SQLToMany, setTo value: String
  ) -> (update: String, column: String)? {
    guard relationship.relationship.inverseRelationship == nil,
      case .foreignKey(let column, let order) = relationship.storage
    else { return nil }
    let sets = [column, order].compactMap { $0 }.map { "\(SQLSyntax.quoted($0)) = \(value)" }
    let update =
      "UPDATE \(SQLSyntax.quoted(relationship.destination.table))"
      + " SET \(sets.joined(separator: ", "))"
    return (update, SQLSyntax.quoted(column))
  }

  /// Returns the columns of an entity in the order in which they are written, each with its
  /// parameter.
  private func writtenColumns(
    of entity: SQLEntity
  ) -> [(column: String, parameter: RowStatement.Parameter)] {
    var relationships: [(String, RowStatement.Parameter)] = []
    var attributes: [(String, RowStatement.Parameter)] = []
    for (slot, column) in entity.columns.enumerated() {
      guard column.property is NSRelationshipDescription else {
        attributes.append((column.name, .slot(slot)))
        continue
      }
      relationships.append((column.name, .slot(slot)))
      if let name = column.entityColumn { relationships.append((name, .entity(ofSlot: slot))) }
      if let name = column.orderColumn { relationships.append((name, .order(ofSlot: slot))) }
    }
    return relationships + attributes
  }
}

/// A derived value that a trigger has written.
struct DerivedValueChange: Hashable, Sendable {
  let table: String
  let entityNumber: Int
  let primaryKey: Int64

  /// The name of the derived attribute.
  let property: String
  let value: SQLiteValue

  /// Creates a change from the arguments of the trigger's function; `nil` if they have other types.
  init?(_ arguments: [SQLiteValue]) {
    guard arguments.count == 5, case .text(let table) = arguments[0],
      case .integer(let number) = arguments[1], case .integer(let primaryKey) = arguments[2],
      case .text(let property) = arguments[3]
    else { return nil }
    self.table = table
    entityNumber = Int(truncatingIfNeeded: number)
    self.primaryKey = primaryKey
    self.property = property
    value = arguments[4]
  }
}
