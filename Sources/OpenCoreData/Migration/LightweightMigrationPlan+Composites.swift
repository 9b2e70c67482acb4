import ManagedModel
import SQLiteDriver

// Required composite attributes. The columns of their elements are optional: an object has no value
// if all of them are null.

extension LightweightMigrationPlan {
  /// A required composite attribute of which rows may have no value.
  struct RequiredComposite {
    /// The destination entity that declares it.
    let entity: SQLEntity
    let attribute: NSCompositeAttributeDescription
    /// The members of the entity's family whose rows may have no value.
    let members: [SQLEntity]
    /// The columns of its elements, and of those of nested composites.
    let columns: [SQLColumn]

    /// The condition of rows without a value.
    var missingCondition: String {
      let nulls = columns.map { "\(SQLSyntax.quoted($0.name)) IS NULL" }
      return "\(nulls.joined(separator: " AND ")) "
        + "AND Z_ENT IN (\(LightweightMigrationPlan.list(members)))"
    }
  }

  /// The required composite attributes that are added, were optional, or lose elements.
  var requiredComposites: [RequiredComposite] {
    var found: [RequiredComposite] = []
    for entity in destination.entities {
      for attribute in entity.description.attributesByName.values.sortedByName()
      where attribute.entity === entity.description && !attribute.isOptional {
        guard let attribute = attribute as? NSCompositeAttributeDescription,
          !attribute.isTransient
        else { continue }
        let columns = attribute.leaves.compactMap { entity.column(named: $0.name) }
        let members = entity.family.filter { canLack(attribute, $0) }
        guard !columns.isEmpty, !members.isEmpty else { continue }
        found.append(
          RequiredComposite(
            entity: entity, attribute: attribute, members: members, columns: columns))
      }
    }
    return found
  }

  /// Returns whether migrated rows of an entity may have no value of a composite attribute.
  private func canLack(_ attribute: NSCompositeAttributeDescription, _ entity: SQLEntity) -> Bool {
    guard let former = formerEntity(of: entity) else { return false }
    guard let name = formerName(of: attribute.name, in: entity),
      let composite = former.description.attributesByName[name]
        as? NSCompositeAttributeDescription,
      !composite.isOptional, !composite.isTransient
    else { return true }
    let kept = Set(attribute.leaves.compactMap { formerName(of: $0.name, in: entity) })
    return !composite.leaves.allSatisfy { kept.contains($0.name) }
  }

  /// Returns the columns of a composite attribute's elements that have default values.
  private func defaults(
    of composite: RequiredComposite
  ) -> [(column: String, value: SQLiteValue)] {
    composite.columns.compactMap { column in
      guard let element = column.property as? NSAttributeDescription else { return nil }
      let value = defaultValue(of: element, in: composite.entity)
      return value == .null ? nil : (column: column.name, value: value)
    }
  }

  /// Returns whether rows get default values in one of some columns of a table.
  func fillsComposites(in columns: [String], of table: String) -> Bool {
    requiredComposites.contains { composite in
      composite.entity.table == table
        && defaults(of: composite).contains { columns.contains($0.column) }
    }
  }

  /// Sets the elements of composite attributes without a value to their default values.
  ///
  /// Elements without a value stay so if another one has one.
  mutating func fillComposites() {
    for composite in requiredComposites {
      guard let sql = fillStatement(of: composite) else { continue }
      add(
        .fillColumns, "\(composite.entity.name).\(composite.attribute.name): set default values",
        sql, defaults(of: composite).map(\.value), rowsOf: composite.entity.table)
    }
  }

  /// Returns the statement that sets all elements of a composite attribute without a value; `nil`
  /// if they have no default values.
  private func fillStatement(of composite: RequiredComposite) -> String? {
    let assignments = defaults(of: composite).map { "\(SQLSyntax.quoted($0.column)) = ?" }
    guard !assignments.isEmpty else { return nil }
    return "UPDATE \(SQLSyntax.quoted(composite.entity.table)) "
      + "SET \(assignments.joined(separator: ", ")) WHERE \(composite.missingCondition)"
  }

  /// Returns whether a statement sets the elements of a composite attribute of an entity.
  func isFill(
    _ statement: MigrationStatements.Statement, of attribute: String, _ entity: SQLEntity
  ) -> Bool {
    requiredComposites.contains {
      $0.entity === entity && $0.attribute.name == attribute
        && fillStatement(of: $0) == statement.sql
    }
  }

  /// Adds the checks of composite attributes that rows must have.
  mutating func addChecksOfComposites() {
    for composite in requiredComposites {
      let table = SQLSyntax.quoted(composite.entity.table)
      add(
        MigrationStatements.Check(
          sql: "SELECT COUNT(*) FROM \(table) WHERE \(composite.missingCondition)",
          entity: composite.entity.name, property: composite.attribute.name,
          problem: .missingValue))
    }
  }
}
