import OpenCoreData
import WorkbenchText

/// Equal values under a uniqueness constraint; rows with a nil among them are not equal.
struct DuplicateValuesRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.mapping.entities.flatMap { entity in
      try entity.description.uniquenessConstraintNames.compactMap { names in
        let columns = names.compactMap { entity.column(named: $0)?.name }
        guard columns.count == names.count, !columns.isEmpty else { return nil }
        let list = columns.map { SQLNames.quoted($0) }.joined(separator: ", ")
        let set = columns.map { "\(SQLNames.quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
        let rows = try store.keys(
          "SELECT MAX(Z_PK) FROM \(SQLNames.quoted(entity.table)) "
            + "WHERE Z_ENT IN \(entity.numberList) AND \(set) GROUP BY \(list) HAVING COUNT(*) > 1")
        guard rows.count > 0 else { return nil }
        return DoctorFinding(
          .duplicateValues, entity: entity.name, property: names.joined(separator: ", "),
          table: entity.table, count: rows.count, examples: store.uris(rows.keys, of: entity.name),
          "\(NumberText.counted(rows.count, "value")) of \(names.joined(separator: ", ")) "
            + "\(PluralForm.of(rows.count, "is", "are")) there more than once, and \(entity.name) says that "
            + "each is unique",
          nextStep: "delete or change the objects that are too many, through the framework")
      }
    }
  }
}
