import OpenCoreData
import WorkbenchText

/// Rows whose `Z_ENT` is no entity of their table.
struct EntityNumberRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.compactMap { root in
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLNames.quoted(root.table)) "
          + "WHERE Z_ENT IS NULL OR Z_ENT NOT IN \(root.numberList)")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .entityNumber, entity: root.name, table: root.table, count: rows.count,
        examples: store.uris(rows.keys, of: root.name),
        "\(NumberText.counted(rows.count, "row")) of \(root.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a Z_ENT that is none of the table's entities, "
          + "\(root.family.map { "\($0.number) \($0.name)" }.joined(separator: ", "))",
        nextStep:
          "find out which entity they are of, and set Z_ENT; fetches fail at them or pass them over"
      )
    }
  }
}
