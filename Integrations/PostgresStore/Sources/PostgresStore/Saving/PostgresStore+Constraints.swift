import OpenCoreData
import PostgresDriver

extension PostgresStore {
  /// Returns the error for a save that would violate a uniqueness constraint, with the rows that
  /// have the values.
  ///
  /// Cost: one SELECT for each constraint.
  func constraintConflicts(
    _ request: NSSaveChangesRequest, _ error: PostgresError, _ context: NSManagedObjectContext?
  ) throws -> NSError {
    let schema = try open.schema
    let written = (request.insertedObjects ?? []).union(request.updatedObjects ?? [])
    let own = Dictionary(
      written.union(request.deletedObjects ?? []).compactMap { object in
        identity(of: object, schema).map { ($0, object) }
      }, uniquingKeysWith: { first, _ in first })
    var conflicts: [NSConstraintConflict] = []
    for constraint in SchemaCreation(schema).constraints {
      let members = Set(constraint.mapping.family.map(\.name))
      for object in written.filter({ members.contains($0.entity.name ?? "") }) {
        guard let values = try values(of: object, constraint),
          let row = try row(with: values, constraint)
        else { continue }
        guard let other = own[row.identity] else {
          conflicts.append(
            NSConstraintConflict(
              constraint: constraint.properties, database: context?.object(with: row.objectID),
              databaseSnapshot: row.snapshot, conflictingObjects: [object],
              conflictingSnapshots: [snapshot(object)]))
          continue
        }
        // Two objects of the save, one of which keeps the value.
        guard other !== object, written.contains(other),
          try self.values(of: other, constraint) == values
        else { continue }
        conflicts.append(
          NSConstraintConflict(
            constraint: constraint.properties, database: nil, databaseSnapshot: nil,
            conflictingObjects: [other, object],
            conflictingSnapshots: [snapshot(other), snapshot(object)]))
      }
    }
    guard !conflicts.isEmpty else {
      return StoreError.make(error, otherwise: NSPersistentStoreSaveError)
    }
    return StoreError.make(
      NSManagedObjectConstraintMergeError, "PostgreSQL: \(error)",
      [
        NSPersistentStoreSaveConflictsErrorKey: conflicts,
        PostgresSQLStateErrorKey: error.sqlState ?? "",
      ])
  }

  private func identity(of object: NSManagedObject, _ schema: StoreSchema) -> RowIdentity? {
    guard let mapping = schema.entities[object.entity.name ?? ""],
      let key = key(of: object.objectID)
    else { return nil }
    return RowIdentity(table: mapping.table.name, key: key)
  }

  private func snapshot(_ object: NSManagedObject) -> [String: Any] {
    object.isInserted ? [:] : object.committedValues(forKeys: nil)
  }

  /// Returns an object's values of a constraint; nil if one is nil, which is equal to no other.
  private func values(
    of object: NSManagedObject, _ constraint: SchemaCreation.UniqueConstraint
  ) throws -> [PostgresValue]? {
    let values = constraint.properties.map { name -> PostgresValue? in
      if let attribute = constraint.mapping.attribute(name) {
        return attribute.parameter(PostgresStore.value(of: object, attribute.path))
      }
      return object.objectIDs(forRelationshipNamed: name).first.flatMap { key(of: $0) }
        .map { .integer($0) }
    }
    let present = values.compactMap { $0 }.filter { !$0.isNull }
    return present.count == values.count ? present : nil
  }

  private func row(
    with values: [PostgresValue], _ constraint: SchemaCreation.UniqueConstraint
  ) throws -> StoredRow? {
    try withConnection { connection, open in
      let root = open.schema.root(of: constraint.mapping)
      let count = constraint.columns.count
      let conditions =
        constraint.columns.enumerated().map { "t0.\($1) = $\($0 + 1)" }
        + ["t0.\(SystemColumn.entity) = ANY($\(count + 1))"]
      let result = try connection.query(
        "SELECT \(root.selection.list("t0")) FROM \(root.table.name) t0 "
          + "WHERE \(conditions.joined(separator: " AND ")) LIMIT 1",
        values + [.integers(constraint.mapping.numbers)])
      return try root.selection.rows(result, self).first
    }
  }
}
