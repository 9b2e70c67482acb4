import OpenCoreData

/// Values of a kind that their attribute cannot have: text among numbers, bytes among texts.
struct ValueTypeRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.columns.compactMap { entity, column in
      guard let allowed = kinds(of: column) else { return nil }
      let rows = try store.keys(
        "SELECT Z_PK FROM \(sql(entity.table)) "
          + "WHERE typeof(\(sql(column.name))) NOT IN ('null', \(allowed))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .valueType, entity: entity.name, property: column.property.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) of \(entity.name).\(column.property.name) "
          + "\(rows.count == 1 ? "is" : "are") of a kind that the attribute cannot have",
        nextStep: "look at them: SELECT Z_PK, typeof(\(column.name)), \(column.name) "
          + "FROM \(entity.table)")
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
