import OpenCoreData
import WorkbenchText

/// Mandatory attributes and to-ones that are NULL, in rows of the entities that have them.
///
/// A sub-entity's columns are NULL in the rows of its siblings. What a derived attribute should be is
/// another rule's, and elements of a composite attribute are demanded only where there is one.
struct MissingValueRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    // Off the tables alone nobody can say what is mandatory.
    guard !store.anatomy.source.isGuessed else { return [] }
    return try store.columns.compactMap { entity, column in
      let property = column.property
      guard !property.isOptional, property.entity != nil,
        (property as? NSAttributeDescription)?.isDerived != true
      else { return nil }
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLNames.quoted(entity.table)) "
          + "WHERE \(SQLNames.quoted(column.name)) IS NULL AND Z_ENT IN \(entity.numberList)")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .missingValue, entity: entity.name, property: property.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "row")) of \(entity.name) "
          + "\(PluralForm.of(rows.count, "has", "have")) no \(property.name), which is mandatory",
        nextStep:
          "set it: until then no change of \(PluralForm.of(rows.count, "the row", "these rows")) "
          + "can be saved")
    }
  }
}
