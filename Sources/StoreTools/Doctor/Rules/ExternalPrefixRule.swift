import OpenCoreData
import WorkbenchText

/// Values of attributes that may be kept outside whose first byte does not say where they are.
///
/// It is 1 for a value in the row and 2 for the name of a file. Other bytes are shown as they are: they
/// may be from before the attribute was allowed to be kept outside.
struct ExternalPrefixRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    guard !store.anatomy.source.isGuessed else { return [] }
    return try store.columns.compactMap { entity, column in
      guard let attribute = column.property as? NSAttributeDescription,
        attribute.allowsExternalBinaryDataStorage
      else { return nil }
      let name = SQLNames.quoted(column.name)
      // A name is a UUID; Apple's files have a NUL behind it.
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLNames.quoted(entity.table)) WHERE typeof(\(name)) = 'blob' "
          + "AND length(\(name)) > 0 AND substr(\(name), 1, 1) <> x'01' "
          + "AND NOT (substr(\(name), 1, 1) = x'02' AND length(\(name)) IN (37, 38))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .externalPrefix, entity: entity.name, property: attribute.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) of \(entity.name).\(attribute.name) "
          + "\(PluralForm.of(rows.count, "begins", "begin")) with neither of the bytes that say where a "
          + "value is",
        nextStep: "compare them with a backup, and set them anew through the framework")
    }
  }
}
