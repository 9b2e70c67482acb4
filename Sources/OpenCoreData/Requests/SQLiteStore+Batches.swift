import ManagedModel
import ProfileEvents
import SQLiteDriver

// Batch requests: one transaction each, bypassing objects and the row cache.

extension SQLiteStore {
  /// Updates the rows that match a fetch.
  func update(
    _ plan: FetchPlan, to properties: [AnyHashable: Any], returning: Bool,
    in context: NSManagedObjectContext
  ) throws -> BatchOutcome {
    let entity = entity(plan.layout)
    let query = try keys(plan)
    let assignments = try assignments(
      properties, plan.layout, after: query.intArrays.count)
    guard !assignments.names.isEmpty else {
      throw NSError.fetch(
        "A batch update of '\(entity.name)' must specify the properties to update.")
    }
    let sets = assignments.texts + ["Z_OPT = (Z_OPT + 1)"]
    let sql =
      "UPDATE \(SQLSyntax.quoted(entity.table)) SET \(sets.joined(separator: ", "))"
      + " WHERE Z_PK IN (\(query.keysText))"
    let columns = externalColumns(of: entity, assignments.names)
    return try batch(in: context, leaving: columns, of: entity, rows: query) {
      connection, history in
      // First, because the rows may no longer match afterward.
      try history?.record(
        .update, rowsOf: entity, in: query.keysText, query.binds, query.intArrays,
        properties: assignments.names)
      return try change(
        sql, assignments.binds + query.binds, query.intArrays + assignments.intArrays,
        returning: returning, kind: .update, entity, on: connection, in: context.scope)
    }
  }

  /// Runs a batch after which some columns of some rows no longer refer to external data files.
  ///
  /// Those files are removed after the batch is committed.
  private func batch(
    in context: NSManagedObjectContext, leaving columns: [String], of entity: SQLEntity,
    rows: SelectQuery, _ body: (Connection, HistoryWriter?) throws -> BatchOutcome
  ) throws -> BatchOutcome {
    var obsolete: [ExternalFile] = []
    let outcome = try batch(in: context) { connection, history in
      obsolete = try externalFiles(
        in: columns, of: entity, keys: rows.keysText, rows.binds, rows.intArrays, on: connection)
      return try body(connection, history)
    }
    removeExternalData(obsolete)
    return outcome
  }

  /// Returns the external data files that columns of some rows of an entity's table refer to.
  ///
  /// One SELECT for each column.
  func externalFiles(
    in columns: [String], of entity: SQLEntity, keys: String, _ binds: [SQLiteValue],
    _ intArrays: [ContiguousArray<Int64>], on connection: Connection
  ) throws -> [ExternalFile] {
    var files: [ExternalFile] = []
    for column in columns.map(SQLSyntax.quoted) {
      for (index, values) in intArrays.enumerated() {
        try connection.bindIntArray(index, values)
      }
      // A file name is short; values stored in the row needn't be read.
      let found = try connection.values(
        "SELECT \(column) FROM \(SQLSyntax.quoted(entity.table)) "
          + "WHERE length(\(column)) BETWEEN 37 AND 38 AND Z_PK IN (\(keys))", binds)
      for case .blob(let bytes) in found.compactMap(\.first) {
        if let file = ExternalFile(reference: Data(bytes)) { files.append(file) }
      }
    }
    return files
  }

  /// Runs the transaction of a batch request; cached to-many relationships are discarded after it.
  func batch(
    in context: NSManagedObjectContext,
    _ body: (Connection, HistoryWriter?) throws -> BatchOutcome
  ) throws -> BatchOutcome {
    try pool.withWriter { connection in
      // The row cache is unchanged; values that triggers report aren't added to it either.
      defer { _ = derived.take() }
      let outcome = try transaction(on: connection, in: context.scope) {
        let history = try historyTables(on: connection).map {
          try HistoryWriter(self, $0, connection, context.scope)
        }
        let outcome = try body(connection, history)
        try history?.finish()
        return outcome
      }
      _ = finishCommit()
      withShared { $0.toMany.removeAll() }
      return outcome
    }
  }

  /// Runs one statement of a batch request; `returning` requests the rows it changed.
  func change(
    _ sql: String, _ binds: [SQLiteValue], _ intArrays: [ContiguousArray<Int64>],
    returning: Bool, kind: StatementKind, _ entity: SQLEntity, on connection: Connection,
    in scope: ProfileScope
  ) throws -> BatchOutcome {
    var outcome = BatchOutcome(store: self)
    outcome.count = try change(
      returning ? sql + " RETURNING Z_ENT, Z_PK" : sql, binds, intArrays: intArrays, kind: kind,
      for: entity.name, on: connection, in: scope
    ) { statement in
      let number = Int(statement.int64(0))
      guard let layout = self.layouts.layout(entityNumber: number) else {
        throw NSError.damagedRow(entityNumber: number, primaryKey: statement.int64(1))
      }
      outcome.identities.append(
        FetchedIdentity(layout: layout, primaryKey: statement.int64(1)))
    }
    return outcome
  }

  /// Returns the SELECT of a fetch's primary keys.
  func keys(_ plan: FetchPlan) throws -> SelectQuery {
    do {
      return try translator.fetch(
        entity: entity(plan.layout), predicate: plan.predicate,
        sort: plan.limit > 0 || plan.offset > 0 ? plan.sort : [], limit: plan.limit,
        offset: plan.offset, includesSubentities: plan.includesSubentities, result: .identifiers)
    } catch {
      throw NSError.translation(error, entity: plan.entityName)
    }
  }

  /// Returns the attribute values of a batch request: a composite attribute's as those of its
  /// leaves.
  func leafValues(
    _ name: String, _ value: Any, _ layout: EntityLayout
  ) throws -> [(name: String, value: Any)] {
    guard case .composite(let index)? = layout.position(of: name) else { return [(name, value)] }
    var given: Any? = value
    if let expression = value as? NSExpression, expression.expressionType == .constantValue {
      given = expression.constantValue
    }
    do {
      return try layout.spread(given, over: index).map { ($0.slot.name, $0.value ?? NSNull()) }
    } catch {
      throw NSError.fetch(error.description)
    }
  }

  /// Returns the stored form of an attribute's value in a batch request.
  func storedValue(_ value: Any, _ slot: RowSlot, _ layout: EntityLayout) throws -> RowValue {
    var given: Any? = value
    if let expression = value as? NSExpression { given = try constant(expression, slot) }
    guard let stored = RowValue(given, slot, of: layout) else {
      throw NSError.fetch(
        "'\(slot.name)' of '\(layout.entityName)' can't be set to \(value).")
    }
    return stored
  }

  /// Returns the value of an expression that depends on no row.
  private func constant(_ expression: NSExpression, _ slot: RowSlot) throws -> Any? {
    if expression.expressionType == .constantValue { return expression.constantValue }
    guard expression.depth <= StoreLimits.conditionDepth, expression.isIndependentOfObject else {
      throw NSError.fetch(
        "A batch insertion can set only constants; '\(slot.name)' is set to \(expression).")
    }
    do {
      return try expression.value(for: nil).original
    } catch {
      throw NSError.fetch("'\(slot.name)' can't be set to \(expression): \(error).")
    }
  }

  /// Returns the slot of an attribute in a batch request.
  func attributeSlot(_ name: String, _ layout: EntityLayout) throws -> RowSlot {
    guard case .slot(let index)? = layout.position(of: name), !layout.slots[index].kind.isToOne
    else {
      let isRelationship = layout.entity.relationshipsByName[name] != nil
      throw NSError.fetch(
        isRelationship
          ? "A batch request can't set a relationship, such as '\(name)'."
          : "The entity '\(layout.entityName)' has no stored attribute '\(name)'.")
    }
    return layout.slots[index]
  }
}

extension SelectQuery {
  /// The SQL that selects only the keys.
  var keysText: String {
    guard let list = sql.range(of: projection.selectList) else { return sql }
    return sql.replacingCharacters(in: list, with: "t0.Z_PK")
  }
}

/// The changes of a batch request.
struct BatchOutcome {
  let store: SQLiteStore
  var count = 0
  /// The changed rows, if the request needs them.
  var identities: [FetchedIdentity] = []

  var objectIDs: [NSManagedObjectID] {
    identities.map {
      NSManagedObjectID(layout: $0.layout, primaryKey: $0.primaryKey, store: store)
    }
  }
}

/// Columns that refer to rows of an entity, and the statement that clears references to deleted
/// rows.
///
/// The keys of the deleted rows are in `_Z_intarray0`.
struct RowReference {
  let sql: String
  let kind: StatementKind
  /// The entity whose rows contain the columns.
  let entity: SQLEntity
  let name: String
  /// Whether a row that refers to a deleted one fails the deletion: the relationship is required,
  /// and its inverse has the nullify rule.
  var isRequired = false
  /// Whether the columns are a property of the rows' objects, which the statement updates.
  ///
  /// Those of a to-many relationship without an inverse belong to the object that was deleted.
  var updatesObjects = true
}

extension SQLiteStore {
  /// Returns all references to rows of an entity's hierarchy, each once.
  func references(to entity: SQLEntity) -> [RowReference] {
    let root = entity.root
    var seen: Set<String> = []
    var found: [RowReference] = []
    let keys = "IN (SELECT * FROM _Z_intarray0)"
    for source in mapping.entities {
      for column in source.ownColumns {
        guard let relationship = column.property as? NSRelationshipDescription,
          let destination = relationship.destinationEntity,
          mapping.storedEntity(for: destination)?.root === root
        else { continue }
        let sets = [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }
        found.append(
          RowReference(
            sql: nullify(source.table, sets, version: true) + " \(keys)", kind: .update,
            entity: source, name: relationship.name,
            isRequired: !relationship.isOptional
              && relationship.inverseRelationship?.deleteRule == .nullifyDeleteRule))
      }
      for mapped in source.toMany.values.sorted(by: { $0.relationship.name < $1.relationship.name })
      {
        switch mapped.storage {
        case .joinTable(let table, let from, let to, _):
          for (column, end) in [(from, source), (to, mapped.destination)]
          where end.root === root && seen.insert("\(table).\(column)").inserted {
            found.append(
              RowReference(
                sql:
                  "DELETE FROM \(SQLSyntax.quoted(table)) WHERE \(SQLSyntax.quoted(column)) \(keys)",
                kind: .delete, entity: end, name: mapped.relationship.name))
          }
        case .foreignKey(let column, let order):
          // A column that isn't a slot: the to-many has no inverse.
          guard mapped.relationship.inverseRelationship == nil, source.root === root,
            seen.insert("\(mapped.destination.table).\(column)").inserted
          else { continue }
          found.append(
            RowReference(
              sql: nullify(
                mapped.destination.table, [column, order].compactMap { $0 }, version: false)
                + " \(keys)", kind: .update, entity: mapped.destination,
              name: mapped.relationship.name, updatesObjects: false))
        }
      }
    }
    return found
  }

  /// Returns an UPDATE that sets columns to NULL; the condition on the first of them follows.
  private func nullify(_ table: String, _ columns: [String], version: Bool) -> String {
    var sets = columns.map { "\(SQLSyntax.quoted($0)) = NULL" }
    if version { sets.append("Z_OPT = (Z_OPT + 1)") }
    return "UPDATE \(SQLSyntax.quoted(table)) SET \(sets.joined(separator: ", "))"
      + " WHERE \(SQLSyntax.quoted(columns[0]))"
  }
}
