import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Rows of a join table without one of their objects.
struct OrphanedJoinRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    var seen: Set<String> = []
    return try store.toMany.compactMap { entity, toMany in
      guard
        case .joinTable(let table, let source, let destination, _) = toMany.storage,
        seen.insert(table).inserted
      else { return nil }
      let other = toMany.destination
      let select =
        "SELECT j.rowid FROM \(SQLNames.quoted(table)) j "
        + "LEFT JOIN \(SQLNames.quoted(entity.table)) a ON a.Z_PK = j.\(SQLNames.quoted(source)) "
        + "LEFT JOIN \(SQLNames.quoted(other.table)) b ON b.Z_PK = j.\(SQLNames.quoted(destination)) "
        + "WHERE a.Z_PK IS NULL OR b.Z_PK IS NULL "
        + "OR a.Z_ENT NOT IN \(entity.numberList) OR b.Z_ENT NOT IN \(other.numberList)"
      let count = try store.number("SELECT COUNT(*) FROM (\(select))")
      guard count > 0 else { return nil }
      let pairs = try store.connection.values(
        "SELECT \(SQLNames.quoted(source)), \(SQLNames.quoted(destination)) FROM \(SQLNames.quoted(table)) "
          + "WHERE rowid IN (\(select)) LIMIT 5")
      return DoctorFinding(
        .orphanedJoin, entity: entity.name, property: toMany.relationship.name, table: table,
        count: count,
        examples: pairs.map { "\(source) \($0[0]), \(destination) \($0[1])" },
        "\(NumberText.counted(count, "row")) of the join table \(table) "
          + "\(PluralForm.of(count, "names", "name")) a \(entity.name) or a \(other.name) that is not there",
        nextStep: "delete them; neither side shows them as objects")
    }
  }
}
