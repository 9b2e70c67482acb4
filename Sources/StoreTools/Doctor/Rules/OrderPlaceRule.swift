import OpenCoreData
import WorkbenchText

/// Members of ordered relationships whose place is NULL, no number, or another member's.
struct OrderPlaceRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.toMany.flatMap { entity, toMany -> [DoctorFinding] in
      switch toMany.storage {
      case .foreignKey(let owner, let place?):
        let members =
          "FROM \(SQLNames.quoted(toMany.destination.table)) m WHERE m.\(SQLNames.quoted(owner)) IS NOT NULL "
          + "AND m.Z_ENT IN \(toMany.destination.numberList)"
        return try findings(
          toMany, of: entity, members, owner: owner, place: place,
          table: toMany.destination.table, in: store)
      case .joinTable(let table, let source, _, let place?):
        return try findings(
          toMany, of: entity, "FROM \(SQLNames.quoted(table)) m WHERE 1", owner: source,
          place: place,
          table: table, in: store)
      case .foreignKey, .joinTable: return []
      }
    }
  }

  private func findings(
    _ toMany: SQLToMany, of entity: SQLEntity, _ members: String, owner: String, place: String,
    table: String, in store: ExaminedStore
  ) throws -> [DoctorFinding] {
    let (owner, column, name) = (
      "m.\(SQLNames.quoted(owner))", "m.\(SQLNames.quoted(place))", toMany.relationship.name
    )
    let without = try store.keys(
      "SELECT \(owner) \(members) AND typeof(\(column)) NOT IN ('integer', 'real')")
    let doubled = try store.keys(
      "SELECT \(owner) \(members) AND \(column) IS NOT NULL "
        + "GROUP BY \(owner), \(column) HAVING COUNT(*) > 1")
    let nextStep = "set \(name) of the objects anew through the framework, which gives new places"
    let found = [
      (
        without,
        "\(NumberText.counted(without.count, "member")) of \(entity.name).\(name) "
          + "\(PluralForm.of(without.count, "has", "have")) no place in \(place)"
      ),
      (
        doubled,
        "\(NumberText.counted(doubled.count, "place")) in \(entity.name).\(name) "
          + "\(PluralForm.of(doubled.count, "is", "are")) taken by several members"
      ),
    ]
    return found.filter { $0.0.count > 0 }.map { rows, message in
      DoctorFinding(
        .orderPlace, entity: entity.name, property: name, table: table, count: rows.count,
        examples: store.uris(rows.keys, of: entity.name), message, nextStep: nextStep)
    }
  }
}
