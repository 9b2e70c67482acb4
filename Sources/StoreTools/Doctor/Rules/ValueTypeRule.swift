import OpenCoreData
import WorkbenchText

/// Values of a kind that their attribute cannot have: text among numbers, bytes among texts, numbers
/// that are too wide.
struct ValueTypeRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try versions(in: store) + values(in: store)
  }

  private func values(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.columns.compactMap { entity, column in
      guard let allowed = kinds(of: column) else { return nil }
      let name = SQLNames.quoted(column.name)
      let others = impossible(column).map { " OR \($0)" } ?? ""
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLNames.quoted(entity.table)) "
          + "WHERE typeof(\(name)) NOT IN ('null', \(allowed))\(others)")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .valueType, entity: entity.name, property: column.property.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) of \(entity.name).\(column.property.name) "
          + "\(PluralForm.of(rows.count, "is", "are")) of a kind that the attribute cannot have",
        nextStep: "look at them: SELECT Z_PK, typeof(\(column.name)), \(column.name) "
          + "FROM \(entity.table)")
    }
  }

  /// Rows whose version is no number: a save finds another one there each time.
  private func versions(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.compactMap { root in
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLNames.quoted(root.table)) WHERE typeof(Z_OPT) <> 'integer'")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .valueType, entity: root.name, table: root.table, count: rows.count,
        examples: store.uris(rows.keys, of: root.name),
        "\(NumberText.counted(rows.count, "row")) of \(root.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a Z_OPT that is no number: each save of "
          + "\(PluralForm.of(rows.count, "it", "them")) is a conflict",
        nextStep: "UPDATE \(root.table) SET Z_OPT = 1 WHERE typeof(Z_OPT) <> 'integer'")
    }
  }

  /// What values of the right kind must not be; nil when any may be there.
  private func impossible(_ column: SQLColumn) -> String? {
    guard let attribute = column.property as? NSAttributeDescription else { return nil }
    let name = SQLNames.quoted(column.name)
    func outside(_ least: some BinaryInteger, _ greatest: some BinaryInteger) -> String {
      "(typeof(\(name)) = 'integer' AND \(name) NOT BETWEEN \(least) AND \(greatest))"
    }
    switch attribute.attributeType {
    case .integer16AttributeType: return outside(Int16.min, Int16.max)
    case .integer32AttributeType: return outside(Int32.min, Int32.max)
    case .UUIDAttributeType: return "(typeof(\(name)) = 'blob' AND length(\(name)) <> 16)"
    case .decimalAttributeType:
      return "(typeof(\(name)) = 'text' AND \(name) GLOB '*[^0-9.eE+-]*' "
        + "AND upper(\(name)) <> 'NAN')"
    default: return nil
    }
  }

  /// SQLite's kinds of values, but for null; nil when any may be there.
  private func kinds(of column: SQLColumn) -> String? {
    guard let attribute = column.property as? NSAttributeDescription else { return "'integer'" }
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .booleanAttributeType:
      return "'integer'"
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType: return "'real', 'integer'"
    case .decimalAttributeType: return "'real', 'integer', 'text'"
    case .stringAttributeType: return "'text'"
    case .URIAttributeType: return "'text', 'blob'"
    case .UUIDAttributeType, .binaryDataAttributeType: return "'blob'"
    default: return nil
    }
  }
}
