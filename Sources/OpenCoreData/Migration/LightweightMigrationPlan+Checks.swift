import ManagedModel
import SQLiteDriver

// Conditions that migrated rows must meet.

extension LightweightMigrationPlan {
  /// Adds the checks of values that became required or have a narrower type.
  ///
  /// A to-many relationship that became required isn't checked: validation does that when an object is saved.
  mutating func addChecks() {
    for entity in destination.entities {
      let members = Self.list(entity.family)
      let table = SQLNames.quoted(entity.table)
      for column in entity.ownColumns {
        let name = SQLNames.quoted(column.name)
        func check(_ condition: String, _ problem: MigrationFailure.Problem) {
          add(
            MigrationStatements.Check(
              sql: "SELECT COUNT(*) FROM \(table) WHERE \(condition) AND Z_ENT IN (\(members))",
              entity: entity.name, property: column.property.name, problem: problem))
        }
        let formers = formerProperties(of: column.property, of: entity)
        let wasRequired = formers.allSatisfy {
          $0.map { !$0.isOptional && !$0.isTransient } ?? false
        }
        if !column.property.isOptional, !wasRequired, !formers.isEmpty {
          let isAttribute = column.property is NSAttributeDescription
          let isDerived = (column.property as? NSAttributeDescription)?.isDerived ?? false
          if !isDerived {
            check("\(name) IS NULL", isAttribute ? .missingValue : .missingDestination)
          }
        }
        if let relationship = column.property as? NSRelationshipDescription,
          gainsToOneInverse(relationship, of: entity)
        {
          add(
            MigrationStatements.Check(
              sql: "SELECT COUNT(*) FROM (SELECT 1 FROM \(table) WHERE \(name) IS NOT NULL "
                + "AND Z_ENT IN (\(members)) GROUP BY \(name) HAVING COUNT(*) > 1)",
              entity: entity.name, property: relationship.name, problem: .sharedDestination))
        }
        if let relationship = column.property as? NSRelationshipDescription,
          let inverse = joinedInverse(of: relationship, of: entity)
        {
          check(
            "EXISTS (SELECT 1 FROM \(SQLNames.quoted(inverse.table)) AS cdprof_other "
              + "WHERE cdprof_other.Z_PK = \(table).\(name) "
              + "AND cdprof_other.\(SQLNames.quoted(inverse.column)) IS NOT \(table).Z_PK)",
            .mismatchedInverse)
        }
        if let attribute = column.property as? NSAttributeDescription,
          let range = attribute.attributeType.narrowIntegers,
          formers.contains(where: { $0.map { !fits($0, range) } ?? false })
        {
          check("\(name) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)", .outOfRange)
        }
      }
    }
  }

  /// Returns whether a to-one relationship, whose destination any number of objects could share, has an inverse
  /// that refers to one of them.
  private func gainsToOneInverse(
    _ relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> Bool {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { return false }
    return formerRelationships(of: relationship, of: entity).contains {
      $0.relationship.inverseRelationship?.isToMany ?? true
    }
  }

  /// Returns the table and column of a to-one inverse that existed before, but wasn't the inverse; nil for any
  /// other relationship.
  ///
  /// What Core Data does with rows that don't match isn't known; to choose one of two references would lose the
  /// other.
  private func joinedInverse(
    of relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> (table: String, column: String)? {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let owner = inverse.entity.flatMap(destination.held),
      let column = owner.column(named: inverse.name)
    else { return nil }
    let others = formerRelationships(of: inverse, of: owner).map(\.relationship)
    guard !others.isEmpty else { return nil }
    let isJoined = formerRelationships(of: relationship, of: entity).contains { former in
      let known = former.relationship.inverseRelationship
      return !former.relationship.isToMany && !others.contains { $0 === known }
    }
    return isJoined ? (owner.table, column.name) : nil
  }

  private func fits(_ former: NSPropertyDescription, _ range: ClosedRange<Int64>) -> Bool {
    guard let type = (former as? NSAttributeDescription)?.attributeType else { return true }
    if type == .booleanAttributeType { return true }
    return type.narrowIntegers.map { range.contains($0.lowerBound) } ?? false
  }

  /// Returns the source property of each source entity whose rows have a property; nil for an added one.
  private func formerProperties(
    of property: NSPropertyDescription, of entity: SQLEntity
  ) -> [NSPropertyDescription?] {
    entity.family.compactMap { member in
      guard let former = formerEntity(of: member) else { return nil }
      let name = formerName(of: property.name, in: member)
      return .some(
        name.flatMap {
          former.description.propertiesByName[$0] ?? former.column(named: $0)?.property
        })
    }
  }
}

extension NSAttributeType {
  /// The values of an integer type that's narrower than SQLite's; nil for any other type.
  fileprivate var narrowIntegers: ClosedRange<Int64>? {
    switch self {
    case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }
}
