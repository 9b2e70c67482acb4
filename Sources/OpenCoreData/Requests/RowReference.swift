import ManagedModel
import ProfileEvents

/// Columns that lead to rows of an entity, and the statement that makes those of deleted rows lead
/// nowhere.
///
/// The keys of the deleted rows go into `_Z_intarray0`.
struct RowReference {
  let sql: String
  let kind: StatementKind
  /// The entity whose rows hold the columns.
  let entity: SQLEntity
  let name: String
}

extension SQLiteStore {
  /// Everything in the tables that leads to rows of an entity's hierarchy, each once.
  func references(to entity: SQLEntity) -> [RowReference] {
    let root = entity.root
    var seen: Set<String> = []
    var found: [RowReference] = []
    let keys = "IN (SELECT * FROM _Z_intarray0)"
    for source in mapping.entities {
      for column in source.ownColumns {
        guard let relationship = column.property as? NSRelationshipDescription,
          let destination = relationship.destinationEntity,
          mapping.held(destination)?.root === root
        else { continue }
        let sets = [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }
        found.append(
          RowReference(
            sql: nullify(source.table, sets, version: true) + " \(keys)", kind: .update,
            entity: source, name: relationship.name))
      }
      for mapped in source.toMany.values.sorted(by: { $0.relationship.name < $1.relationship.name })
      {
        switch mapped.storage {
        case .joinTable(let table, let from, let to, _):
          for (column, end) in [(from, source), (to, mapped.destination)]
          where end.root === root && seen.insert("\(table).\(column)").inserted {
            found.append(
              RowReference(
                sql:
                  "DELETE FROM \(SQLNames.quoted(table)) WHERE \(SQLNames.quoted(column)) \(keys)",
                kind: .delete, entity: end, name: mapped.relationship.name))
          }
        case .foreignKey(let column, let order):
          // A column that is no slot: the to-many has no inverse.
          guard mapped.relationship.inverseRelationship == nil, source.root === root,
            seen.insert("\(mapped.destination.table).\(column)").inserted
          else { continue }
          found.append(
            RowReference(
              sql: nullify(
                mapped.destination.table, [column, order].compactMap { $0 }, version: false)
                + " \(keys)", kind: .update, entity: mapped.destination,
              name: mapped.relationship.name))
        }
      }
    }
    return found
  }

  /// An UPDATE that sets columns to NULL; the condition on the first of them follows.
  private func nullify(_ table: String, _ columns: [String], version: Bool) -> String {
    var sets = columns.map { "\(SQLNames.quoted($0)) = NULL" }
    if version { sets.append("Z_OPT = (Z_OPT + 1)") }
    return "UPDATE \(SQLNames.quoted(table)) SET \(sets.joined(separator: ", "))"
      + " WHERE \(SQLNames.quoted(columns[0]))"
  }
}
