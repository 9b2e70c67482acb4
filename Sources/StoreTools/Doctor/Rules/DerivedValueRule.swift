import OpenCoreData
import WorkbenchText

/// Derived attributes that are not what their formula gives.
///
/// A time of saving cannot be checked. Sums may differ by what rounding makes of another order.
struct DerivedValueRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.anatomy.derivedColumns.compactMap { derived in
      guard let value = derived.value(of: "t") else { return nil }
      let (entity, column) = (derived.entity, "t.\(SQLNames.quoted(derived.column))")
      let rows = try store.keys(
        "SELECT t.Z_PK FROM \(SQLNames.quoted(entity.table)) t WHERE t.Z_ENT IN \(entity.numberList) "
          + "AND \(differs(column, value))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .derivedValue, entity: entity.name, property: derived.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) of \(entity.name).\(derived.name) "
          + "\(PluralForm.of(rows.count, "is", "are")) not what the formula gives",
        nextStep: "save the objects it is derived from through the framework, or look whether its "
          + "triggers (Z_DA_…) are still there")
    }
  }

  private func differs(_ column: String, _ value: String) -> String {
    let numbers = "typeof(\(column)) IN ('integer', 'real', 'null') AND "
    return "CASE WHEN \(numbers)typeof(\(value)) IN ('integer', 'real') "
      + "THEN abs(ifnull(\(column), 0) - \(value)) > 1e-6 * max(1, abs(\(value))) "
      + "ELSE \(column) IS NOT \(value) END"
  }
}
