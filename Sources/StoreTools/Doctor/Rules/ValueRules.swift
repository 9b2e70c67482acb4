import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Detects derived attributes that differ from the value of their derivation expression.
///
/// `now()` can't be checked. Sums of floating-point numbers can differ by a rounding error, which
/// depends on the order.
struct DerivedValueRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.anatomy.derivedColumns.compactMap { derived in
      guard let value = derived.value(of: "t") else { return nil }
      let (entity, column) = (derived.entity, "t.\(SQLSyntax.quoted(derived.column))")
      let rows = try store.keys(
        "SELECT t.Z_PK FROM \(SQLSyntax.quoted(entity.table)) t WHERE t.Z_ENT IN \(entity.numberList) "
          + "AND \(Self.differs(derived, column, value))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .derivedValue, entity: entity.name, property: derived.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) of \(entity.name).\(derived.name) "
          + "\(PluralForm.of(rows.count, "differs", "differ")) from the derivation expression",
        nextStep: "save the objects it's derived from through the framework, or check whether its "
          + "triggers (Z_DA_…) still exist")
    }
  }

  /// Returns the condition for a column that differs from its value; NULL is a count or sum of 0.
  static func differs(_ derived: DerivedColumn, _ column: String, _ value: String) -> String {
    guard derived.isGathered else { return "\(column) IS NOT \(value)" }
    let number = "ifnull(\(column), 0)"
    return "CASE WHEN 'real' IN (typeof(\(number)), typeof(\(value))) "
      + "AND typeof(\(number)) IN ('integer', 'real') "
      + "THEN abs(\(number) - \(value)) > 1e-6 * max(1, abs(\(value))) "
      + "ELSE \(number) IS NOT \(value) END"
  }
}

/// Detects equal values that violate a uniqueness constraint; rows with a NULL value are never
/// equal.
///
/// A constraint is one of the entity and its subentities, and of a superentity that has all of the
/// properties, whose rows the unique index contains, too.
struct DuplicateValuesRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.mapping.entities.flatMap { entity in
      try entity.description.uniquenessConstraintNames.compactMap { names in
        let columns = names.compactMap { entity.column(named: $0)?.name }
        guard columns.count == names.count, !columns.isEmpty else { return nil }
        let topmost = entity.description.topmostEntity(with: names).name ?? ""
        let scope = store.mapping.entity(named: topmost) ?? entity
        let list = columns.map { SQLSyntax.quoted($0) }.joined(separator: ", ")
        let set = columns.map { "\(SQLSyntax.quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
        let rows = try store.keys(
          "SELECT MAX(Z_PK) FROM \(SQLSyntax.quoted(entity.table)) "
            + "WHERE Z_ENT IN \(scope.numberList) AND \(set) GROUP BY \(list) HAVING COUNT(*) > 1")
        guard rows.count > 0 else { return nil }
        return DoctorFinding(
          .duplicateValues, entity: entity.name, property: names.joined(separator: ", "),
          table: entity.table, count: rows.count, examples: store.uris(rows.keys, of: scope.name),
          "\(NumberText.counted(rows.count, "value")) of \(names.joined(separator: ", ")) "
            + "\(PluralForm.of(rows.count, "occurs", "occur")) more than once, but \(entity.name) "
            + "requires unique values",
          nextStep: "delete or change the duplicate objects through the framework")
      }
    }
  }
}

/// Detects required attributes and to-one relationships that are NULL, in rows of the entities that
/// have them.
///
/// A subentity's columns are NULL in the rows of its siblings. `DerivedValueRule` checks derived
/// attributes, and the elements of a composite attribute are required only if it has a value.
struct MissingValueRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    // Without a model, it isn't known which properties are required.
    guard !store.anatomy.source.isInferred else { return [] }
    return try store.columns.compactMap { entity, column in
      let property = column.property
      guard !property.isOptional, property.entity != nil,
        (property as? NSAttributeDescription)?.isDerived != true
      else { return nil }
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLSyntax.quoted(entity.table)) "
          + "WHERE \(SQLSyntax.quoted(column.name)) IS NULL AND Z_ENT IN \(entity.numberList)")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .missingValue, entity: entity.name, property: property.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "row")) of \(entity.name) "
          + "\(PluralForm.of(rows.count, "has", "have")) no \(property.name), which is required",
        nextStep:
          "set it; until then, changes to \(PluralForm.of(rows.count, "the row", "these rows")) "
          + "can't be saved")
    }
  }
}

/// Detects values of a type that their attribute can't have: text in a numeric column, a BLOB in a
/// text column, a number that's too wide, or a Boolean other than 0 and 1.
struct ValueTypeRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try versions(in: store) + values(in: store)
  }

  private func values(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.columns.compactMap { entity, column in
      guard let allowed = kinds(of: column) else { return nil }
      let name = SQLSyntax.quoted(column.name)
      let others = impossible(column).map { " OR \($0)" } ?? ""
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLSyntax.quoted(entity.table)) "
          + "WHERE typeof(\(name)) NOT IN ('null', \(allowed))\(others)")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .valueType, entity: entity.name, property: column.property.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) of \(entity.name).\(column.property.name) "
          + "\(PluralForm.of(rows.count, "has", "have")) a type that the attribute can't have",
        nextStep: "inspect them: SELECT Z_PK, typeof(\(column.name)), \(column.name) "
          + "FROM \(entity.table)")
    }
  }

  /// Returns findings for rows whose version isn't an integer, which makes each save a conflict.
  private func versions(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.compactMap { root in
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLSyntax.quoted(root.table)) WHERE typeof(Z_OPT) <> 'integer'")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .valueType, entity: root.name, table: root.table, count: rows.count,
        examples: store.uris(rows.keys, of: root.name),
        "\(NumberText.counted(rows.count, "row")) of \(root.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a Z_OPT that isn't an integer; each save of "
          + "\(PluralForm.of(rows.count, "it", "them")) causes a conflict",
        nextStep: "UPDATE \(root.table) SET Z_OPT = 1 WHERE typeof(Z_OPT) <> 'integer'")
    }
  }

  /// Returns a condition for invalid values of the right SQLite type, or `nil` if all such values
  /// are valid.
  private func impossible(_ column: SQLColumn) -> String? {
    guard let attribute = column.property as? NSAttributeDescription else { return nil }
    let name = SQLSyntax.quoted(column.name)
    func outside(_ least: some BinaryInteger, _ greatest: some BinaryInteger) -> String {
      "(typeof(\(name)) = 'integer' AND \(name) NOT BETWEEN \(least) AND \(greatest))"
    }
    switch attribute.attributeType {
    case .integer16AttributeType: return outside(Int16.min, Int16.max)
    case .integer32AttributeType: return outside(Int32.min, Int32.max)
    case .booleanAttributeType: return outside(0, 1)
    case .UUIDAttributeType: return "(typeof(\(name)) = 'blob' AND length(\(name)) <> 16)"
    case .decimalAttributeType:
      return "(typeof(\(name)) = 'text' AND \(name) GLOB '*[^0-9.eE+-]*' "
        + "AND upper(\(name)) <> 'NAN')"
    default: return nil
    }
  }

  /// Returns the SQLite types, except NULL, that a column can have, or `nil` if it can have any.
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
