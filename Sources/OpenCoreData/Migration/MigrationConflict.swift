import ManagedModel
import SQLiteDriver

/// A uniqueness constraint that a statement of a migration in place violates.
struct MigrationConflict {
  let failure: MigrationFailure
  /// The unique index of the constraint in the new version.
  private let index: SchemaIndex

  fileprivate init(_ failure: MigrationFailure, _ index: SchemaIndex) {
    (self.failure, self.index) = (failure, index)
  }

  /// Drops the index from the file.
  ///
  /// - Returns: Whether there was one; otherwise, the statement that failed creates it, or it
  ///   belongs to a constraint of `CREATE TABLE`.
  func dropIndex(on connection: Connection) throws(SQLiteError) -> Bool {
    let existing = try FileObjects(reading: connection).indexes.filter {
      !$0.isConstraint && $0.table.uppercased() == index.table.uppercased()
        && $0.matches(index, renaming: [:])
    }
    for index in existing {
      try connection.execute("DROP INDEX \(SQLSyntax.quoted(index.name))")
    }
    return !existing.isEmpty
  }
}

extension LightweightMigrationPlan {
  /// Returns the uniqueness constraint for which a statement failed; `nil` if it's another error.
  func conflict(
    of statement: MigrationStatements.Statement, _ error: SQLiteError
  ) -> MigrationConflict? {
    guard error.code == .constraintUnique else { return nil }
    for entity in destination.entities {
      for names in entity.description.uniquenessConstraintNames {
        guard let index = destinationSchema.uniqueIndex(for: names, of: entity),
          index.isDefined(by: statement.sql) || index.isNamed(by: error)
        else { continue }
        return MigrationConflict(
          MigrationFailure(
            problem: hasDefaults(index) ? .notUniqueByDefault : .notUnique, entity: entity.name,
            property: names.joined(separator: ", "), rows: nil),
          index)
      }
    }
    return nil
  }

  /// Returns whether a check is of values that statements set which didn't run.
  func checks(
    _ check: MigrationStatements.Check, valuesSetBy skipped: [MigrationStatements.Statement]
  ) -> Bool {
    guard !skipped.isEmpty, let entity = destination.entity(named: check.entity) else {
      return false
    }
    return skipped.contains { statement in
      guard let column = entity.column(named: check.property) else {
        return isFill(statement, of: check.property, entity)
      }
      return statement.phase == .alterTables && statement.table == entity.table
        && tables.contains { $0.root.table == entity.table && $0.setsValues(of: column.name) }
    }
  }

  /// Returns whether rows get a default value in a column of an index.
  private func hasDefaults(_ index: SchemaIndex) -> Bool {
    let names = Set(index.parts.map(\.column))
    return tables.filter { $0.root.table == index.table }.flatMap(\.columns)
      .contains { names.contains($0.name) && $0.sources.values.contains(where: \.isDefault) }
  }
}

extension ColumnSource {
  /// Whether rows get a default value.
  fileprivate var isDefault: Bool {
    switch self {
    case .constant, .filled: true
    default: false
    }
  }
}

extension SchemaIndex {
  /// Returns whether SQLite's error names the columns of the index: `ZMOOD.ZCODE, ZMOOD.ZDATE`.
  fileprivate func isNamed(by error: SQLiteError) -> Bool {
    let columns = parts.map { "\(table).\($0.column)" }.joined(separator: ", ")
    return error.message.uppercased().hasSuffix(": " + columns.uppercased())
  }
}
