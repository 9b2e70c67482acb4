import OpenCoreData
import WorkbenchText

/// To-one keys without a row, of a row of another entity, or beside the wrong entity's number.
struct DanglingKeyRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for (entity, column) in store.columns {
      guard let relationship = column.property as? NSRelationshipDescription,
        let described = relationship.destinationEntity
      else { continue }
      let destination = store.mapping.entity(for: described)
      findings += try dangling(
        column.name, in: entity, named: relationship.name, to: destination, store)
      findings += try misnamed(column, in: entity, to: destination, store)
    }
    for (owner, toMany) in store.toMany where toMany.relationship.inverseRelationship == nil {
      guard case .foreignKey(let column, _) = toMany.storage else { continue }
      findings += try dangling(
        column, in: toMany.destination, named: "\(owner.name).\(toMany.relationship.name)",
        to: owner, store)
    }
    return findings
  }

  private func dangling(
    _ column: String, in entity: SQLEntity, named name: String, to destination: SQLEntity,
    _ store: ExaminedStore
  ) throws -> [DoctorFinding] {
    let rows = try store.keys(
      "SELECT a.Z_PK FROM \(SQLNames.quoted(entity.table)) a LEFT JOIN \(SQLNames.quoted(destination.table)) b "
        + "ON b.Z_PK = a.\(SQLNames.quoted(column)) WHERE a.\(SQLNames.quoted(column)) IS NOT NULL "
        + "AND (b.Z_PK IS NULL OR b.Z_ENT NOT IN \(destination.numberList))")
    guard rows.count > 0 else { return [] }
    return [
      DoctorFinding(
        .danglingKey, entity: entity.name, property: name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "key")) in \(entity.table).\(column) "
          + "\(PluralForm.of(rows.count, "leads", "lead")) to no \(destination.name)",
        nextStep: "bring the destination back from a backup, or set the column to NULL")
    ]
  }

  private func misnamed(
    _ column: SQLColumn, in entity: SQLEntity, to destination: SQLEntity, _ store: ExaminedStore
  ) throws -> [DoctorFinding] {
    guard let number = column.entityColumn else { return [] }
    let rows = try store.keys(
      "SELECT a.Z_PK FROM \(SQLNames.quoted(entity.table)) a JOIN \(SQLNames.quoted(destination.table)) b "
        + "ON b.Z_PK = a.\(SQLNames.quoted(column.name)) WHERE a.\(SQLNames.quoted(number)) IS NOT b.Z_ENT "
        + "AND b.Z_ENT IN \(destination.numberList)")
    guard rows.count > 0 else { return [] }
    return [
      DoctorFinding(
        .danglingKey, entity: entity.name, property: column.property.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "row")) of \(entity.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) in \(number) another entity than the row that "
          + "\(column.name) leads to",
        nextStep: "set \(number) to the Z_ENT of that row")
    ]
  }
}
