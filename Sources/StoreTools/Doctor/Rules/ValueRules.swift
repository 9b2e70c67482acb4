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
            + "\(PluralForm.of(rows.count, "exists", "exist")) more than once, and \(entity.name) requires that "
            + "each is unique",
          nextStep: "delete or change the objects that are too many, through the framework")
      }
    }
  }
}

/// Mandatory attributes and to-ones that are NULL, in rows of the entities that have them.
///
/// A subentity's columns are NULL in the rows of its siblings. What a derived attribute should be is
/// another rule's, and elements of a composite attribute are demanded only where there is one.
struct MissingValueRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    // The tables alone do not show which properties are required.
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
          + "\(PluralForm.of(rows.count, "has", "have")) no \(property.name), which is required",
        nextStep:
          "set it: until then no change of \(PluralForm.of(rows.count, "the row", "these rows")) "
          + "can be saved")
    }
  }
}

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
        nextStep: "inspect them: SELECT Z_PK, typeof(\(column.name)), \(column.name) "
          + "FROM \(entity.table)")
    }
  }

  /// Rows whose version isn't a number: a save finds another one there each time.
  private func versions(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.compactMap { root in
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLNames.quoted(root.table)) WHERE typeof(Z_OPT) <> 'integer'")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .valueType, entity: root.name, table: root.table, count: rows.count,
        examples: store.uris(rows.keys, of: root.name),
        "\(NumberText.counted(rows.count, "row")) of \(root.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a Z_OPT that isn't a number: each save of "
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
